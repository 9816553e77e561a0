// Fuzzes the text of an index: one that is good is read back as it was written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/recordio/record_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  headrace::ParseRecordIndexLines(text, "a.idx").status().IgnoreError();
  const auto index = headrace::ParseRecordIndex(text, "a.idx");
  if (!index.ok()) return 0;
  const auto again = headrace::ParseRecordIndex(headrace::FormatRecordIndex(*index), "a.idx");
  headrace::Require(again.ok() && *again == *index, "an index is read back");
  return 0;
}

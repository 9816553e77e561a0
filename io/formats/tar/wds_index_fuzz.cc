// Fuzzes the indices of wds2idx: whatever they name lies within the archive, in its order.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/tar/wds_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  constexpr int64_t kArchive = 100 * 512;
  const auto samples = headrace::ParseWdsIndex({reinterpret_cast<const char*>(data), size}, "a.idx", kArchive);
  if (!samples.ok()) {
    Require(headrace::KindOf(samples.status()) == headrace::ErrorKind::kData, "damage is the file's");
    return 0;
  }
  Require(samples->begins.size() == samples->ends.size(), "a sample has one end");
  int64_t at = 0;
  for (size_t i = 0; i < samples->begins.size(); ++i) {
    Require(samples->begins[i] >= at && samples->ends[i] > samples->begins[i], "samples are in order");
    at = samples->ends[i];
  }
  Require(samples->end >= at && samples->end <= kArchive, "samples are in the archive");
  return 0;
}

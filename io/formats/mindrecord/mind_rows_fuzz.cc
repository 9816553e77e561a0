// Fuzzes whole files: whatever they hold, each item of a table is read as it is in the file.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/mindrecord/mind_rows.h"

namespace headrace {
namespace {

void FuzzMindFile(std::string_view bytes) {
  const OneFile files{std::string(bytes)};
  NamesOfMindSet(files, "a").status().IgnoreError();
  absl::StatusOr<MindTable> made = MakeMindTable(files, {"a"}, MindNaming::kSet, false, false);
  if (!made.ok()) return;
  const auto table = std::make_shared<const MindTable>(*std::move(made));
  const MindRows reader(&files, table);
  for (uint64_t item = 0; item < reader.size(); ++item) {
    RandomAccessReader::Content content;
    absl::Status wrong;
    Require(reader.Read({item}, absl::MakeSpan(&content, 1), wrong) == 1, "a row that was found is there");
    const auto begin = static_cast<size_t>(reader.LocationOf(item).offset);
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + begin, sizeof(length));
    Require(content.bytes == bytes.substr(begin + sizeof(length), length), "a row is what its length says");
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::FuzzMindFile({reinterpret_cast<const char*>(data), size});
  return 0;
}

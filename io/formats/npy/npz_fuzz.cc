// Fuzzes whole archives and arrays: whatever they hold, each row of a table has the bytes that it should have.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/fixed/fixed_rows.h"
#include "io/formats/npy/npy_table.h"

namespace headrace {
namespace {

void ReadRowsOfFuzz(const FileSystem& files, absl::StatusOr<FixedTable> made) {
  if (!made.ok()) return;
  const auto table = std::make_shared<const FixedTable>(*std::move(made));
  const FixedRows reader(&files, table);
  for (size_t part = 0; part < table->parts().size(); ++part) {
    const auto bytes = static_cast<size_t>(table->parts()[part].row_bytes);
    Require(bytes > 0, "a row has bytes");
    for (uint64_t row = 0; row < table->size(); ++row) {
      RandomAccessReader::Content content;
      absl::Status wrong;
      const size_t read = reader.Read({reader.ItemOf(part, row)}, absl::MakeSpan(&content, 1), wrong);
      Require(read == 1 && content.bytes.size() == bytes, "a row that was found is there");
    }
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const headrace::OneFile files{std::string(reinterpret_cast<const char*>(data), size)};
  headrace::ReadRowsOfFuzz(files, headrace::MakeNpyTable(files, {"a.npy"}));
  headrace::ReadRowsOfFuzz(files, headrace::MakeNpzTable(files, "a.npz", {}));
  headrace::FindNpzFields(files, "a.npz", {}).status().IgnoreError();
  return 0;
}

// Fuzzes whole files: whatever they hold, a tree ends, and its entries lie within the file.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/lmdb/lmdb_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const headrace::OneFile files{std::string(reinterpret_cast<const char*>(data), size)};
  for (const char* database : {"", "labels"}) {
    auto made = headrace::MakeLmdbTable(files, "a", database);
    if (!made.ok()) continue;
    const auto table = std::make_shared<const headrace::LmdbTable>(*std::move(made));
    const headrace::LmdbRows reader(&files, table);
    for (uint64_t row = 0; row < table->size(); ++row) {
      headrace::RandomAccessReader::Content content;
      absl::Status wrong;
      Require(reader.Read({2 * row}, absl::MakeSpan(&content, 1), wrong) == 1, "an entry that was found is there");
      const auto place = table->PlaceOf(row);
      Require(content.bytes.size() >= headrace::LmdbEntry::kHead + place.key_bytes, "an entry has its key");
      // A value's page may be another one.
      if (place.value_page != 0) reader.Read({2 * row + 1}, absl::MakeSpan(&content, 1), wrong);
    }
  }
  return 0;
}

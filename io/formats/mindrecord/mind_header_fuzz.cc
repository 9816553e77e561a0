// Fuzzes the JSON of headers: what is accepted agrees with itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/mindrecord/mind_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const auto header = headrace::ParseMindHeader({reinterpret_cast<const char*>(data), size});
  if (!header.ok()) return 0;
  Require(!header->fields.empty(), "there is a field");
  int64_t rows = 0;
  for (const headrace::MindRowGroup& group : header->groups) {
    Require(group.first == rows && group.rows > 0, "rows follow one another");
    Require(group.raw_begin >= header->header_size && group.raw_begin <= group.raw_end, "scalars lie in their page");
    Require(group.blob_begin >= header->header_size && group.blob_begin <= group.blob_end, "blobs lie in their page");
    rows += group.rows;
  }
  Require(rows == header->rows, "all rows are in groups");
  for (const size_t field : header->blob_fields) Require(header->fields.at(field).in_blob(), "a blob has its fields");
  return 0;
}

// Fuzzes the index of a folder, the offsets of a shard and arrays: what is read lies within the bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/formats/mds/mds_encoding.h"
#include "io/formats/mds/mds_index.h"
#include "io/formats/mds/mds_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto index = headrace::ParseMdsIndex(bytes);
  if (index.ok()) {
    for (const auto& shard : index->shards) Require(shard.raw.name[0] != '/', "a shard is below the folder");
    for (const auto& column : index->columns) headrace::ParseMdsEncoding(column.encoding).status().IgnoreError();
  }
  const auto offsets = headrace::ParseMdsOffsets(bytes, size % 5, static_cast<int64_t>(size));
  if (offsets.ok()) Require(offsets->back() <= size, "samples lie within the shard");
  headrace::MdsEncoding encoding;
  for (const auto kind : {headrace::MdsEncoding::Kind::kArray, headrace::MdsEncoding::Kind::kPixels}) {
    encoding.kind = kind;
    const auto array = headrace::ParseMdsArray(encoding, bytes);
    if (array.ok()) Require(array->data.size() <= size, "an array lies within the bytes");
  }
  return 0;
}

// Fuzzes the bytes of samples: whatever they are, columns have the types of their fields. Another row is the same.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "ops/source/mds/mds_columns.h"

namespace headrace {
namespace {

struct FuzzColumn {
  const char* encoding;
  int64_t bytes;
  Shape shape;
  DType dtype;
};

void FuzzMdsSample(std::string_view input) {
  constexpr int64_t kAny = ir::kUnknownDim;
  const std::vector<FuzzColumn> columns = {{"bytes", MdsColumn::kVaries, {}, DType::kBytes},
                                           {"str", MdsColumn::kVaries, {}, DType::kString},
                                           {"int32", 4, {}, DType::kInt32},
                                           {"str_int", MdsColumn::kVaries, {}, DType::kInt64},
                                           {"ndarray", MdsColumn::kVaries, {kAny, kAny}, DType::kInt16},
                                           {"pil", MdsColumn::kVaries, {kAny, kAny, 3}, DType::kUInt8}};
  std::vector<MdsColumn> listed;
  std::vector<MdsField> fields;
  for (const FuzzColumn& column : columns) {
    fields.push_back(
        {listed.size(), *ParseMdsEncoding(column.encoding), ir::ColumnType::Of(column.dtype, column.shape)});
    listed.push_back({column.encoding, column.encoding, column.bytes});
  }
  const BufferRef buffer = BufferPool::Global().Allocate(input.size());
  Require(static_cast<bool>(buffer), "there is memory");
  if (!input.empty()) std::memcpy(buffer->data(), input.data(), input.size());
  const MdsSample sample = {&buffer, {reinterpret_cast<const char*>(buffer->data()), input.size()}};
  const MdsColumns made(listed, fields);
  for (const size_t count : {size_t{1}, size_t{2}}) {
    absl::InlinedVector<BlockColumn, 2> blocks;
    absl::Status wrong;
    const size_t good = made.Make(std::vector<MdsSample>(count, sample), blocks, wrong);
    Require(good == (wrong.ok() ? count : 0), "equal samples are equally good");
    for (size_t i = 0; i < blocks.size(); ++i) {
      Require(blocks[i].rows() == static_cast<int>(count), "a column has all rows");
      const Tensor value = blocks[i].row(0);
      Require(ir::FitsType(fields[i].type, value.dtype(), value.shape()), "a value has its type");
    }
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::FuzzMdsSample({reinterpret_cast<const char*>(data), size});
  return 0;
}

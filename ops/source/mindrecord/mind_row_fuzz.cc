// Fuzzes the bytes of rows: whatever they are, columns have the types and the shapes of their fields.
// Input: the number of the schema, the length of the scalars, these, and the blob; another row is the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/formats/mindrecord/mind_table.h"
#include "ir/type.h"
#include "ops/source/mindrecord/mind_columns.h"
#include "ops/source/mindrecord/mind_fields.h"

namespace headrace {
namespace {

MindLayout LayoutOfFuzz(uint8_t number) {
  MindLayout layout;
  layout.packed = number % 2 == 0;
  const std::vector<MindField> kinds[] = {
      {{"a", DType::kInt32}, {"b", DType::kFloat32}, {"c", DType::kString}, {"d", DType::kBytes}},
      {{"a", DType::kInt32, true, {-1, 2}}, {"b", DType::kFloat64}, {"c", DType::kInt64}},
      {{"a", DType::kInt64, true, {3}}, {"b", DType::kFloat32, true, {-1}}, {"c", DType::kBytes}},
  };
  layout.fields = kinds[number / 2 % 3];
  for (size_t i = 0; i < layout.fields.size(); ++i) {
    if (layout.fields[i].in_blob()) layout.blob_fields.push_back(i);
  }
  return layout;
}

void FuzzMindRow(std::string_view input) {
  if (input.size() < 2) return;
  const MindLayout layout = LayoutOfFuzz(static_cast<uint8_t>(input[0]));
  const size_t length = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
  const std::string_view blob = input.substr(2 + length);
  const BufferRef buffer = BufferPool::Global().Allocate(blob.size());
  Require(static_cast<bool>(buffer), "there is memory");
  if (!blob.empty()) std::memcpy(buffer->data(), blob.data(), blob.size());
  const MindRowBytes row = {
      input.substr(2, length), {reinterpret_cast<const char*>(buffer->data()), blob.size()}, &buffer};
  std::vector<int> fields;
  for (size_t i = 0; i < layout.fields.size(); ++i) fields.push_back(static_cast<int>(i));
  const MindColumns columns(layout, fields);
  for (const size_t count : {size_t{1}, size_t{2}}) {
    const std::vector<MindRowBytes> rows(count, row);
    MindBlockColumns made;
    MindDamage damage;
    const size_t good = columns.Make(rows, made, damage);
    Require(damage.status.ok() ? good == count : good == 0, "equal rows are equally good");
    for (size_t i = 0; i < made.size(); ++i) {
      Require(made[i].rows() == static_cast<int>(count), "a column has all rows");
      const Tensor value = made[i].row(0);
      Require(ir::FitsType(TypeOfMindField(layout.fields[i]), value.dtype(), value.shape()), "a value has its type");
    }
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::FuzzMindRow({reinterpret_cast<const char*>(data), size});
  return 0;
}

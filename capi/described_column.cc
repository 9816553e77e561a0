#include "capi/described_column.h"

#include <algorithm>

#include "capi/call_status.h"
#include "core/error.h"
#include "engine/serve/column_error.h"

namespace headrace::capi {

absl::Status DescribeColumn(const ir::Column& described, hr_column* column) {
  if (column == nullptr) return ArgumentError("column is NULL");
  if (column->size != sizeof(hr_column)) {
    return ArgumentError("size must be sizeof(hr_column), which is ", sizeof(hr_column), " here; got ", column->size);
  }
  const ir::ColumnType& type = described.type;
  *column = {sizeof(hr_column), static_cast<int32_t>(type.dtype), -1, 0, {}, described.name.c_str()};
  if (!type.shape) return absl::OkStatus();
  if (type.shape->size() > HR_MOST_AXES) {
    return OfColumn(
        UnsupportedError("a column may have ", HR_MOST_AXES, " axes; ", described.name, " has ", type.shape->size()),
        described.name);
  }
  column->axes = static_cast<int32_t>(type.shape->size());
  std::copy(type.shape->begin(), type.shape->end(), column->shape);
  return absl::OkStatus();
}

}  // namespace headrace::capi

#include "python/binding/values/row_list.h"

#include <cstdint>

#include "ir/ragged_columns.h"
#include "python/binding/values/status_error.h"

namespace headrace::python {

namespace py = pybind11;

py::list ListOf(const Tensor& values, const Tensor& splits, const std::function<py::object(const Tensor& row)>& make) {
  RaiseIfError(ir::CheckSplits(splits, values));
  const int64_t* const ends = splits.data<int64_t>();
  py::list rows;
  for (int64_t i = 0; i + 1 < splits.dim(0); ++i) rows.append(make(values.Slice(0, ends[i], ends[i + 1] - ends[i])));
  return rows;
}

}  // namespace headrace::python

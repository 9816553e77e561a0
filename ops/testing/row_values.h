// `AddRowValues` adds the source of an array with a value for each row, and `WithRowValues` gives a run that array. Use
// them in tests of operators that take the labels, weights or lengths of rows from their second input.
// Threads: used by the test's thread.
#ifndef HEADRACE_OPS_TESTING_ROW_VALUES_H_
#define HEADRACE_OPS_TESTING_ROW_VALUES_H_

#include <cstdint>
#include <string>

#include "core/dtype.h"
#include "core/tensor.h"
#include "ops/testing/graph_builder.h"
#include "ops/testing/run_operator.h"

namespace headrace {

// In the column `value`. Returns the node's id.
uint32_t AddRowValues(GraphBuilder& builder, DType dtype = DType::kInt64, const std::string& array = "values");
RunSpec WithRowValues(Tensor values, uint64_t epochs = 2);

}  // namespace headrace

#endif  // HEADRACE_OPS_TESTING_ROW_VALUES_H_

// `kInputOp` names the source `Input`: columns that are given with each request, so that what prepares a request is a
// graph like any other.
// Threads: constants.
#ifndef HEADRACE_IR_ROW_OPS_INPUT_H_
#define HEADRACE_IR_ROW_OPS_INPUT_H_

#include <string_view>

namespace headrace::ir {

inline constexpr std::string_view kInputOp = "Input";
// Its attribute: the columns with their types.
inline constexpr std::string_view kInputColumns = "columns";

}  // namespace headrace::ir

#endif  // HEADRACE_IR_ROW_OPS_INPUT_H_

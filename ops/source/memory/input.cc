#include "ir/row_ops/input.h"

#include <memory>

#include "core/error.h"
#include "engine/operator/operator.h"

namespace headrace {
namespace {

absl::StatusOr<std::unique_ptr<StreamSource>> RefuseRun(const OpArguments& /*arguments*/) {
  return GraphError(
      "an inference graph has no rows of its own to iterate over: its columns are given with each request; open its "
      "file with hr.inference_of(path), and call what that gives");
}

const FactoriesRegistration input_factories(ir::kInputOp, {.stream_source = RefuseRun});

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/branches.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/node_traits.h"
#include "ir/ragged_columns.h"
#include "ir/salts.h"
#include "kernels/kernel.h"
#include "ops/map/cached_map.h"
#include "ops/map/map_cache_points.h"
#include "ops/map/map_operator.h"
#include "ops/map/map_program.h"

namespace headrace {
namespace {

absl::Status RefuseListsInSteps(const OpArguments& arguments) {
  for (const ir::proto::Step& step : arguments.node->steps()) {
    std::vector<std::string> used(step.inputs().begin(), step.inputs().end());
    used.insert(used.end(), step.outputs().begin(), step.outputs().end());
    HEADRACE_RETURN_IF_ERROR(ir::RefuseLists(arguments.inputs[0], used, "mapped"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RowOperator>> MakeMap(const OpArguments& arguments) {
  HEADRACE_RETURN_IF_ERROR(RefuseListsInSteps(arguments));
  HEADRACE_ASSIGN_OR_RETURN(MapProgram program, MapProgram::Bind(arguments));
  if (arguments.node->cache_points() > 0) return std::make_unique<CachedMap>(arguments, std::move(program));
  return std::make_unique<MapOperator>(arguments.name, std::move(program));
}

int ProcessesOf(const std::string& function, const OpArguments& arguments) {
  const auto& functions = arguments.run->bindings->functions;
  const auto found = functions.find(function);
  return found == functions.end() ? 0 : found->second->processes();
}

void Describe(const OpArguments& arguments, OperatorProperties& properties) {
  properties.writes_batch_slots = true;
  properties.cache_points = CachePointsOf(arguments);
  ir::Traits& traits = properties.traits;
  for (const ir::proto::Step& step : arguments.node->steps()) {
    traits.file_io |= ir::AnyStepOf(step, [](const auto& each) { return ir::TraitsOf(each).file_io; });
    if (step.kernel() != kPythonFunction) continue;
    const ir::Attributes attributes = ir::Attributes::Of(step);
    const int processes = ProcessesOf(attributes.ReferenceName("function"), arguments);
    properties.processes = std::max(properties.processes, processes);
    traits.python = true;
    traits.ordered |= processes == 0 && attributes.Bool("ordered");
  }
}

absl::StatusOr<std::vector<ir::ColumnType>> InferFunction(const ir::Attributes& attributes,
                                                          absl::Span<const ir::ColumnType> /*inputs*/) {
  const size_t outputs = static_cast<size_t>(attributes.Int("outputs"));
  if (attributes.IsNone("types")) return std::vector<ir::ColumnType>(outputs, ir::ColumnType::Unknown());
  std::vector<ir::ColumnType> types;
  for (const ir::Column& column : attributes.Columns("types").columns) types.push_back(column.type);
  if (types.size() != outputs) return GraphError("types has ", types.size(), " columns for ", outputs, " outputs");
  return types;
}

class UnboundFunction : public Kernel {
 public:
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor>, KernelContext&) const override {
    return InternalError("a Python function runs inside map alone");
  }
};

const KernelRegistration python_function(
    {
        .name = "PythonFunction",
        .summary = "Calls the user's Python function with the columns of one row.",
        .doc = "Takes any number of columns as NumPy arrays (byte strings as bytes, strings as str) and returns one "
               "array, or a tuple of as many as there are output columns. Runs on a thread of its stage's own. What it "
               "raises reaches the training loop as FunctionError, with the user's own traceback.",
        .min_inputs = 1,
        .max_inputs = -1,
        .attributes = {{.name = "function", .type = ir::AttributeType::kReference, .doc = "The function, by name."},
                       {.name = "ordered",
                        .type = ir::AttributeType::kBool,
                        .doc = "Call it in row order, one row at a time; else in any order.",
                        .default_value = "True"},
                       {.name = "random",
                        .type = ir::AttributeType::kBool,
                        .doc = "Pass a NumPy generator of the row's own as `rng`.",
                        .default_value = "False"},
                       {.name = std::string(ir::kOccurrenceAttribute),
                        .doc = "Its number among the uses of functions of its name; None: not given yet.",
                        .default_value = "None",
                        .nullable = true,
                        .minimum = 0},
                       {.name = "outputs", .doc = "Columns it gives.", .default_value = "1", .minimum = 1},
                       {.name = "types",
                        .type = ir::AttributeType::kColumns,
                        .doc = "Types of its outputs, where known.",
                        .default_value = "None",
                        .nullable = true}},
        .traits = {.python = true},
        .python_module = "internal",
        .example = "ds.map(lambda image: image + 1, \"image\")",
        .infer_kernel = InferFunction,
    },
    [](const ir::Attributes&) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return std::make_unique<UnboundFunction>();
    });

const FactoriesRegistration map_factories(ir::kMapOp, {.row = MakeMap, .properties = Describe});

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"
#include "ir/node_traits.h"
#include "ir/salts.h"
#include "kernels/kernel.h"
#include "ops/map/cached_map.h"
#include "ops/map/map_cache_points.h"
#include "ops/map/map_operator.h"
#include "ops/map/map_program.h"
#include "ops/rows/ragged_columns.h"

namespace headrace {
namespace {

absl::Status RefuseListsInSteps(const OpArguments& arguments) {
  for (const ir::proto::Step& step : arguments.node->steps()) {
    std::vector<std::string> used(step.inputs().begin(), step.inputs().end());
    used.insert(used.end(), step.outputs().begin(), step.outputs().end());
    HEADRACE_RETURN_IF_ERROR(RefuseLists(arguments.inputs[0], used, "mapped"));
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

const OpRegistration map_registration(
    {
        .name = "map",
        .role = ir::Role::kRow,
        .summary = "Applies kernels, or Python functions, to columns of every row.",
        .doc = "Kernels run in the order given. A kernel of one input is applied to each of several columns with the "
               "same random draws, so that an image and its mask agree; a kernel or function of several inputs gets "
               "them all. Results replace the columns, or go to the output columns. Errors name the row.",
        .traits = {.one_to_one = true},
        .python_module = "dataset",
        .python =
            {.parameters =
                 "kernels: Kernels, columns: str | Target | Sequence[str | Target], output: str | "
                 "Sequence[str] | None = "
                 "None, *, ordered: bool | None = None, types: Columns | None = None, processes: "
                 "int = 0, worker_init: Callable[[int], Any] | None = None, seed_globals: bool | None "
                 "= None, workers: int | None = None, window: int | None = None, device: Literal[\"cuda\"] | None "
                 "= None",
             .docs = {{"kernels",
                       "A kernel or a Python function, or a list of them, applied one after the other. A "
                       "function gets the columns as arrays (byte strings as bytes, texts as str) and returns "
                       "one array, or a tuple of as many as there are output columns; if it has a parameter "
                       "`rng`, it gets a numpy.random.Generator for the row."},
                      {"columns",
                       "The column, or columns, that the first kernel reads. Masks, boxes and keypoints that "
                       "follow the image named before them are hr.mask(…), hr.boxes(…) and hr.keypoints(…)."},
                      {"output", "The columns for the results; None: they replace `columns`."},
                      {"ordered",
                       "Whether Python functions are called in row order; otherwise in any order. None: in "
                       "order, except in processes."},
                      {"types",
                       "What the Python function among the kernels gives, where known: a dict from column to "
                       "dtype, or to (dtype, shape): {\"x\": (\"float32\", (3, None))}. It becomes part of the "
                       "schema, rows are checked against it, and rows of a known shape are written straight into "
                       "their batch."},
                      {"processes",
                       "Worker processes that call the Python functions; 0: threads of this process call them. "
                       "Rows are the same. A function and what it refers to is sent to them once, when they "
                       "start; they never import the script."},
                      {"worker_init", "Called once in each process, with its number from 0."},
                      {"seed_globals",
                       "Whether the generators of random, NumPy and torch are seeded for each row in the "
                       "processes; None: unless the function takes `rng`."},
                      {"workers",
                       "The most tasks of this map at once; None: the engine chooses, as all stages share the "
                       "cores. For functions with ordered=False, the threads that call them. Like `window` and "
                       "`processes` it is an option of the run: no row, state or saved graph depends on it. "
                       "Where the optimizer fuses maps, the smaller number holds."},
                      {"window",
                       "The results of this map that may wait for the next stage, one message each; None: the "
                       "engine chooses."},
                      {"device",
                       "\"cuda\": where batches end on a GPU, all steps of this map are done there, after the "
                       "copy, or it is an error that says which cannot. Elsewhere the host does them, with the same "
                       "bytes. None: those that can be are. An option of the run, as `workers` is."}}},
        .example = "ds.map([V.Decode(), V.Resize((8, 8))], \"image\")",
    },
    {.row = MakeMap, .properties = Describe});

}  // namespace
}  // namespace headrace

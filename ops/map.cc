#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/output_place.h"
#include "core/philox.h"
#include "core/text.h"
#include "engine/batch_memory.h"
#include "engine/operator.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused_image.h"

namespace headrace {
namespace {

constexpr std::string_view kPythonFunction = "PythonFunction";

// One step made ready: a kernel or a function of the user's, and the places of its columns.
struct BoundStep {
  std::unique_ptr<Kernel> kernel;
  std::shared_ptr<HostFunction> function;
  bool function_draws = false;
  std::vector<int> inputs;
  std::vector<int> outputs;
  uint64_t seed = 0;
  uint64_t salt = 0;
  std::string name;      // "map[1] Resize"
  std::string location;  // of the step, where it has its own
};

// Steps that run as one, by their numbers; more than one where the optimizer fused them.
struct Action {
  std::vector<size_t> steps;
  std::optional<FusedImage> fused = {};
  int last_of = -1;  // the column that it is the last to write; -1: none, or several
};

class MapOperator : public RowOperator {
 public:
  MapOperator(std::vector<BoundStep> steps, std::vector<Action> actions, size_t columns)
      : steps_(std::move(steps)), actions_(std::move(actions)), columns_(columns) {
    for_stacks_ = std::all_of(steps_.begin(), steps_.end(),
                              [](const BoundStep& step) { return step.kernel && step.kernel->applies_to_stacks(); });
  }

  bool writes_places() const override { return true; }
  void Apply(Block& block) const override {
    if (block.rows() == 0) {
      // Leaves no columns of the input's, for those above go by the output's.
      block.columns.clear();
      return;
    }
    if (block.rows() > 1 && for_stacks_ && ApplyToStacks(block)) return;
    std::vector<Tensor> row(columns_);
    std::vector<Tensor> inputs;
    std::vector<Column> results(columns_);
    for (int i = 0; i < block.rows(); ++i) {
      for (size_t c = 0; c < block.columns.size(); ++c) row[c] = block.columns[c].TakeRow(i);
      for (const Action& action : actions_) {
        const bool placed = block.memory != nullptr && action.last_of >= 0;
        const OutputPlace place(placed ? block.memory->PlaceOf(action.last_of, block.place) : Tensor());
        absl::Status status = Run(action, block.ids[i], row, inputs);
        if (status.ok()) continue;
        block.Fail(i, std::move(status));
        block.columns.assign(results.begin(), results.end());
        return;
      }
      for (size_t c = 0; c < columns_; ++c) results[c].Append(std::move(row[c]));
    }
    block.columns.assign(std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
  }

 private:
  // All rows in one call of each kernel. False, and nothing done, where they do not lie in one piece, or one fails:
  // which one, they say one by one.
  bool ApplyToStacks(Block& block) const {
    std::vector<Tensor> stacks(columns_);
    for (size_t c = 0; c < block.columns.size(); ++c) {
      if (!block.columns[c].stacked()) return false;
      stacks[c] = block.columns[c].stack();
    }
    std::vector<Tensor> inputs;
    for (const BoundStep& step : steps_) {
      if (!RunStep(step, block.ids[0], stacks, inputs).ok()) return false;
    }
    block.columns.clear();
    for (Tensor& stack : stacks) block.columns.push_back(Column::Stacked(std::move(stack)));
    return true;
  }

  absl::Status Run(const Action& action, const RowId& id, std::vector<Tensor>& row, std::vector<Tensor>& inputs) const {
    if (action.fused.has_value()) {
      Tensor& column = row[steps_[action.steps[0]].inputs[0]];
      absl::StatusOr<Tensor> result = action.fused->Apply(column, id);
      if (result.ok()) {
        column = *std::move(result);
        return absl::OkStatus();
      }
      // Lets the plain steps say what is wrong, and where.
    }
    for (const size_t at : action.steps) {
      absl::Status status = RunStep(steps_[at], id, row, inputs);
      if (status.ok()) continue;
      AddErrorField(status, ErrorField::kOperator, steps_[at].name);
      AddErrorField(status, ErrorField::kLocation, steps_[at].location);
      return status;
    }
    return absl::OkStatus();
  }

  static absl::Status RunStep(const BoundStep& bound, const RowId& id, std::vector<Tensor>& row,
                              std::vector<Tensor>& inputs) {
    inputs.clear();
    for (int column : bound.inputs) inputs.push_back(row[column]);
    RowRandom random(bound.seed, bound.salt, id);
    absl::StatusOr<std::vector<Tensor>> outputs =
        bound.kernel ? bound.kernel->Apply(inputs, random)
                     : bound.function->Call(inputs, bound.function_draws ? &random : nullptr);
    if (!outputs.ok()) return std::move(outputs).status();
    if (outputs->size() != bound.outputs.size()) {
      return GraphError("gave ", outputs->size(), " values for ", bound.outputs.size(), " columns");
    }
    for (size_t i = 0; i < outputs->size(); ++i) row[bound.outputs[i]] = std::move((*outputs)[i]);
    return absl::OkStatus();
  }

  const std::vector<BoundStep> steps_;
  const std::vector<Action> actions_;
  const size_t columns_;
  bool for_stacks_ = false;
};

std::optional<FusedImage> Fuse(const std::vector<BoundStep>& steps, const std::vector<size_t>& run) {
  std::vector<FusedImage::Part> parts;
  for (const size_t at : run) parts.push_back({steps[at].kernel.get(), steps[at].seed, steps[at].salt});
  return FusedImage::Make(parts);
}

// The steps in the order in which they run: those fused together in the place of their first.
std::vector<Action> ActionsOf(const ir::proto::Node& map, const std::vector<BoundStep>& steps) {
  std::vector<Action> actions;
  std::map<uint32_t, size_t> action_of;
  for (size_t i = 0; i < steps.size(); ++i) {
    const uint32_t fused = map.steps(static_cast<int>(i)).fused();
    const auto found = action_of.find(fused);
    if (fused != 0 && found != action_of.end()) {
      actions[found->second].steps.push_back(i);
      continue;
    }
    if (fused != 0) action_of.emplace(fused, actions.size());
    actions.push_back({.steps = {i}});
  }
  for (Action& action : actions) {
    if (action.steps.size() > 1) action.fused = Fuse(steps, action.steps);
  }
  std::map<int, Action*> last;
  for (Action& action : actions) {
    for (const int column : steps[action.steps.back()].outputs) last[column] = &action;
  }
  for (const auto& [column, action] : last) {
    if (steps[action->steps.back()].outputs.size() == 1) action->last_of = column;
  }
  return actions;
}

absl::Status BindFunction(const ir::Attributes& attributes, const OpArguments& arguments, BoundStep& bound) {
  const std::string& name = attributes.ReferenceName("function");
  const auto& functions = arguments.run->bindings->functions;
  const auto found = functions.find(name);
  if (found == functions.end()) {
    return GraphError("the Python function ", name,
                      " is not here: a graph that holds one runs only where it was built");
  }
  bound.function = found->second;
  bound.function_draws = attributes.Bool("random");
  return absl::OkStatus();
}

// The map that the user wrote the step in, where passes have made one of several.
std::string NameOfMap(const ir::proto::Step& step, const OpArguments& arguments) {
  return step.origin() > 0 ? Cat(arguments.node->op(), "[", step.origin() - 1, "]") : arguments.name;
}

absl::StatusOr<BoundStep> BindStep(const ir::proto::Step& step, const OpArguments& arguments) {
  BoundStep bound;
  const ir::Attributes attributes = ir::Attributes::Of(step);
  bound.name = Cat(NameOfMap(step, arguments), " ", step.kernel());
  if (step.has_location()) bound.location = ir::LocationText(step.location());
  for (const std::string& input : step.inputs()) bound.inputs.push_back(arguments.output.IndexOf(input));
  for (const std::string& output : step.outputs()) bound.outputs.push_back(arguments.output.IndexOf(output));
  bound.salt = step.salt();
  bound.seed = arguments.seed;
  const bool own_seed = attributes.Find("seed") != nullptr && !attributes.IsNone("seed");
  if (own_seed) bound.seed = static_cast<uint64_t>(attributes.Int("seed"));
  absl::Status made;
  if (step.kernel() == kPythonFunction) {
    made = BindFunction(attributes, arguments, bound);
  } else {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = MakeKernel(step.kernel(), attributes);
    made = kernel.status();
    if (kernel.ok()) bound.kernel = *std::move(kernel);
  }
  if (made.ok()) return bound;
  AddErrorField(made, ErrorField::kOperator, bound.name);
  AddErrorField(made, ErrorField::kLocation, bound.location);
  return made;
}

absl::StatusOr<std::unique_ptr<RowOperator>> MakeMap(const OpArguments& arguments) {
  std::vector<BoundStep> steps;
  for (const ir::proto::Step& step : arguments.node->steps()) {
    HEADRACE_ASSIGN_OR_RETURN(BoundStep bound, BindStep(step, arguments));
    steps.push_back(std::move(bound));
  }
  std::vector<Action> actions = ActionsOf(*arguments.node, steps);
  return std::make_unique<MapOperator>(std::move(steps), std::move(actions), arguments.output.columns.size());
}

ir::Traits TraitsOf(const OpArguments& arguments) {
  ir::Traits traits = ir::Registry::Global().Find("map")->traits;
  for (const ir::proto::Step& step : arguments.node->steps()) {
    if (step.kernel() != kPythonFunction) continue;
    traits.python = true;
    traits.ordered |= ir::Attributes::Of(step).Bool("ordered");
  }
  return traits;
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
  absl::StatusOr<std::vector<Tensor>> Apply(absl::Span<const Tensor>, RowRandom&) const override {
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

const OpRegistration registration(
    {
        .name = "map",
        .role = ir::Role::kRow,
        .summary = "Applies kernels, or Python functions, to columns of every row.",
        .doc = "Kernels run in the order given. A kernel of one input is applied to each of several columns with the "
               "same random draws, so that an image and its mask agree; a kernel or function of several inputs gets "
               "them all. Results replace the columns, or go to those named as output. Errors name the row.",
        .traits = {.one_to_one = true},
        .python_module = "dataset",
        .example = "ds.map([V.Decode(), V.Resize((8, 8))], \"image\")",
    },
    {.row = MakeMap, .traits = TraitsOf});

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/philox.h"
#include "core/row_warning.h"
#include "core/text.h"
#include "engine/cache/automatic_cache.h"
#include "engine/cache/row_record.h"
#include "engine/operator/batch_memory.h"
#include "engine/operator/operator.h"
#include "engine/operator/row_warnings.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused_image.h"

namespace headrace {
namespace {

constexpr std::string_view kPythonFunction = "PythonFunction";

// The tensors of one row, by column.
using Row = absl::InlinedVector<Tensor, 2>;

// One step made ready: a kernel or a Python function, and the indices of its columns.
struct BoundStep {
  std::unique_ptr<Kernel> kernel;
  std::shared_ptr<HostFunction> function;
  bool function_draws = false;
  std::vector<int> inputs;
  std::vector<int> outputs;
  uint64_t seed = 0;
  uint64_t salt = 0;
  uint64_t stream = 0;   // of both
  std::string name;      // "map[1] Resize"
  std::string location;  // of the step, if it has its own
};

// Steps that run as one, by their indices; several if the optimizer fused them.
struct Action {
  std::vector<size_t> steps;
  std::optional<FusedImage> fused = {};
  int last_of = -1;  // the column for which it is the last writer; -1: none, or several
};

// The work before a cache point, and after it.
struct Halves {
  std::vector<Action> first;
  std::vector<Action> rest;
  std::vector<int> columns;  // of the row at the cache point, as far as they are read
};

class MapOperator : public RowOperator {
 public:
  // `halves`: one for each cache point of `cache`, which may be null.
  MapOperator(std::vector<BoundStep> steps, std::vector<Action> actions, std::vector<Halves> halves,
              std::shared_ptr<AutomaticCache> cache, std::shared_ptr<RowWarnings> warnings, size_t columns)
      : steps_(std::move(steps)),
        actions_(std::move(actions)),
        halves_(std::move(halves)),
        cache_(std::move(cache)),
        warnings_(std::move(warnings)),
        columns_(columns) {
    for_stacks_ = std::all_of(steps_.begin(), steps_.end(),
                              [](const BoundStep& step) { return step.kernel && step.kernel->applies_to_stacks(); });
  }

  std::shared_ptr<RowCache> row_cache() const override { return cache_ == nullptr ? nullptr : cache_->rows(); }
  std::shared_ptr<AutomaticCache> automatic_cache() const override { return cache_; }
  std::shared_ptr<const RowWarnings> warnings() const override { return warnings_; }

  void Apply(Block& block) const override {
    if (block.rows() == 0) {
      // Leaves no columns of the input, because operators above use the output's.
      block.columns.clear();
      block.cached = nullptr;
      return;
    }
    if (block.rows() > 1 && for_stacks_ && !keeps() && ApplyToStacks(block)) return;
    const bool found = block.cached != nullptr;
    block.cached = nullptr;
    Row row;
    Row inputs;
    absl::InlinedVector<BlockColumn, 2> results(columns_);
    for (int i = 0; i < block.rows(); ++i) {
      row.clear();
      for (BlockColumn& column : block.columns) row.push_back(column.TakeRow(i));
      absl::Status status = found ? Resume(block, i, row, inputs) : MakeWarned(block, i, row, inputs);
      if (!status.ok()) {
        block.Fail(i, std::move(status));
        block.columns = std::move(results);
        return;
      }
      for (size_t c = 0; c < columns_; ++c) results[c].Append(std::move(row[c]));
    }
    block.columns = std::move(results);
  }

 private:
  bool keeps() const { return cache_ != nullptr && cache_->rows() != nullptr; }

  // Applies each kernel to all rows in one call. Returns false without effect if they are not contiguous, or if one
  // fails: row by row the failing one is found.
  bool ApplyToStacks(Block& block) const {
    Row stacks(columns_);
    for (size_t c = 0; c < block.columns.size(); ++c) {
      if (!block.columns[c].stacked()) return false;
      stacks[c] = block.columns[c].stack();
    }
    Row inputs;
    OutputAllocator output;
    for (const BoundStep& step : steps_) {
      if (!RunStep(step, block.ids[0], output, stacks, inputs).ok()) return false;
    }
    block.columns.clear();
    for (Tensor& stack : stacks) block.columns.push_back(BlockColumn::Stacked(std::move(stack)));
    return true;
  }

  absl::Status MakeWarned(const Block& block, int i, Row& row, Row& inputs) const {
    if (warnings_ == nullptr) return Make(block, i, row, inputs);
    const RowWarning warning;
    absl::Status status = Make(block, i, row, inputs);
    if (status.ok() && !warning.text().empty()) warnings_->Add(block.ids[i], block.provenances[i], warning.text());
    return status;
  }

  absl::Status Make(const Block& block, int i, Row& row, Row& inputs) const {
    row.resize(columns_);
    AutomaticCache::Turn turn;
    if (keeps()) turn = cache_->TurnOf(block.KeyAtSource(i));
    if (turn.point != AutomaticCache::kNoPoint) return MakeInHalves(turn, block, i, row, inputs);
    return RunAll(actions_, block, i, true, row, inputs);
  }

  // Stops at the cache point to keep the row, or to measure.
  absl::Status MakeInHalves(const AutomaticCache::Turn& turn, const Block& block, int i, Row& row, Row& inputs) const {
    const Halves& halves = halves_[turn.point];
    const Row start = row;
    const uint64_t below_ns = block.made_ns / static_cast<uint64_t>(block.rows());
    const uint64_t started = NowNs();
    if (!RunAll(halves.first, block, i, false, row, inputs).ok()) {
      // A failure here need not be one if only a part of the picture is decoded.
      row = start;
      if (turn.measured) cache_->Add(turn.point, std::nullopt);
      return RunAll(actions_, block, i, true, row, inputs);
    }
    const uint64_t halfway = NowNs();
    std::vector<Tensor> held;
    for (const int column : halves.columns) held.push_back(row[column]);
    const size_t bytes = turn.measured ? RecordBytes(held) : 0;
    if (turn.kept && !block.ids[i].changed) {
      cache_->Offer(block.KeyAtSource(i), turn.point, std::move(held), below_ns + halfway - started);
    }
    const uint64_t restarted = NowNs();
    absl::Status status = RunAll(halves.rest, block, i, true, row, inputs);
    if (!turn.measured) return status;
    const AutomaticCache::Sample sample{below_ns, NowNs() - restarted, bytes};
    cache_->Add(turn.point, status.ok() ? std::make_optional(sample) : std::nullopt);
    return status;
  }

  // Continues with a cached row.
  absl::Status Resume(const Block& block, int i, Row& row, Row& inputs) const {
    std::vector<Tensor> found(std::make_move_iterator(row.begin()), std::make_move_iterator(row.end()));
    const int point = cache_->PointOfFound(found);
    if (point == AutomaticCache::kNoPoint || found.size() != halves_[point].columns.size()) {
      return InternalError("a row was kept for another map");
    }
    row.assign(columns_, Tensor());
    for (size_t c = 0; c < found.size(); ++c) row[halves_[point].columns[c]] = found[c];
    HEADRACE_RETURN_IF_ERROR(RunAll(halves_[point].rest, block, i, true, row, inputs));
    return CopyShared(found, block, row);
  }

  // Copies a row whose memory belongs to the cache, because a cached row must not be written to.
  static absl::Status CopyShared(absl::Span<const Tensor> found, const Block& block, Row& row) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (IsVariableLength(row[c].dtype())) continue;
      const bool shared = std::any_of(found.begin(), found.end(), [&](const Tensor& tensor) {
        return tensor.buffer().get() == row[c].buffer().get();
      });
      if (!shared) continue;
      OutputAllocator output(SlotOf(block, static_cast<int>(c)));
      HEADRACE_ASSIGN_OR_RETURN(Tensor own, output.Allocate(row[c].dtype(), row[c].shape()));
      row[c].CopyTo(own.mutable_raw());
      row[c] = std::move(own);
    }
    return absl::OkStatus();
  }

  // The batch slot of the column in the block's row; an invalid tensor if there is none.
  static Tensor SlotOf(const Block& block, int column) {
    return block.batch_memory != nullptr && column >= 0 ? block.batch_memory->SlotOf(column, block.batch_slot)
                                                        : Tensor();
  }

  absl::Status RunAll(const std::vector<Action>& actions, const Block& block, int i, bool placed, Row& row,
                      Row& inputs) const {
    for (const Action& action : actions) {
      OutputAllocator output(placed ? SlotOf(block, action.last_of) : Tensor());
      HEADRACE_RETURN_IF_ERROR(Run(action, block.ids[i], output, row, inputs));
    }
    return absl::OkStatus();
  }

  absl::Status Run(const Action& action, const RowId& id, OutputAllocator& output, Row& row, Row& inputs) const {
    if (action.fused.has_value()) {
      Tensor& column = row[steps_[action.steps[0]].inputs[0]];
      absl::StatusOr<Tensor> result = action.fused->Apply(column, id, output);
      if (result.ok()) {
        column = *std::move(result);
        return absl::OkStatus();
      }
      // Runs the plain steps to report the error and the failing step.
    }
    OutputAllocator intermediate;
    for (const size_t at : action.steps) {
      const bool last = at == action.steps.back();
      absl::Status status = RunStep(steps_[at], id, last ? output : intermediate, row, inputs);
      if (status.ok()) continue;
      AddErrorField(status, ErrorField::kOperator, steps_[at].name);
      AddErrorField(status, ErrorField::kLocation, steps_[at].location);
      return status;
    }
    return absl::OkStatus();
  }

  static absl::Status RunStep(const BoundStep& bound, const RowId& id, OutputAllocator& output, Row& row, Row& inputs) {
    absl::Span<const Tensor> given;
    if (bound.inputs.size() == 1) {
      given = absl::MakeConstSpan(&row[bound.inputs[0]], 1);
    } else {
      inputs.clear();
      for (int column : bound.inputs) inputs.push_back(row[column]);
      given = inputs;
    }
    KernelContext context(RowRandom(RowRandom::KeyOf(bound.stream, id.epoch), id.key), output);
    if (bound.kernel) return TakeOutputs(bound, bound.kernel->Apply(given, context), row);
    RowRandom* const random = bound.function_draws ? &context.random() : nullptr;
    return TakeOutputs(bound, bound.function->Call(given, random, output), row);
  }

  template <typename Outputs>
  static absl::Status TakeOutputs(const BoundStep& bound, absl::StatusOr<Outputs> outputs, Row& row) {
    if (!outputs.ok()) return std::move(outputs).status();
    if (outputs->size() != bound.outputs.size()) {
      return GraphError("gave ", outputs->size(), " values for ", bound.outputs.size(), " columns");
    }
    for (size_t i = 0; i < outputs->size(); ++i) row[bound.outputs[i]] = std::move((*outputs)[i]);
    return absl::OkStatus();
  }

  const std::vector<BoundStep> steps_;
  const std::vector<Action> actions_;
  const std::vector<Halves> halves_;
  const std::shared_ptr<AutomaticCache> cache_;
  const std::shared_ptr<RowWarnings> warnings_;  // null: no step gives warnings
  const size_t columns_;
  bool for_stacks_ = false;
};

std::optional<FusedImage> Fuse(const std::vector<BoundStep>& steps, const std::vector<size_t>& run) {
  std::vector<FusedImage::Part> parts;
  for (const size_t at : run) parts.push_back({steps[at].kernel.get(), steps[at].seed, steps[at].salt});
  return FusedImage::Make(parts);
}

// Sets for each action the column for which it is the last writer.
void NoteLast(const std::vector<BoundStep>& steps, std::vector<Action>& actions) {
  std::map<int, Action*> last;
  for (Action& action : actions) {
    for (const int column : steps[action.steps.back()].outputs) last[column] = &action;
  }
  for (const auto& [column, action] : last) {
    if (steps[action->steps.back()].outputs.size() == 1) action->last_of = column;
  }
}

// The steps in the order in which they run; fused steps run at the index of their first.
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
  NoteLast(steps, actions);
  return actions;
}

// The parts of the actions from step `begin` to before step `end`, in order.
std::vector<Action> Between(const std::vector<BoundStep>& steps, const std::vector<Action>& actions, size_t begin,
                            size_t end) {
  std::vector<Action> part;
  for (const Action& action : actions) {
    Action left;
    for (const size_t at : action.steps) {
      if (at >= begin && at < end) left.steps.push_back(at);
    }
    if (left.steps.empty()) continue;
    if (left.steps.size() == action.steps.size()) left.fused = action.fused;
    if (left.steps.size() != action.steps.size() && left.steps.size() > 1) left.fused = Fuse(steps, left.steps);
    part.push_back(std::move(left));
  }
  NoteLast(steps, part);
  return part;
}

// The columns of a row at the point that a later step reads, or that the result contains.
std::vector<int> ColumnsAt(const std::vector<BoundStep>& steps, size_t point, size_t inputs, size_t columns) {
  std::vector<bool> made(columns, false);
  std::fill_n(made.begin(), std::min(inputs, columns), true);
  for (size_t at = 0; at < point; ++at) {
    for (const int column : steps[at].outputs) made[column] = true;
  }
  std::vector<bool> read(columns, true);
  for (size_t at = steps.size(); at-- > point;) {
    for (const int column : steps[at].outputs) read[column] = false;
    for (const int column : steps[at].inputs) read[column] = true;
  }
  std::vector<int> held;
  for (size_t c = 0; c < columns; ++c) {
    if (made[c] && read[c]) held.push_back(static_cast<int>(c));
  }
  return held;
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

// The map in which the user wrote the step, if passes have merged several.
std::string NameOfMap(const ir::proto::Step& step, const OpArguments& arguments) {
  return step.user_node() > 0 ? Cat(arguments.node->op(), "[", step.user_node() - 1, "]") : arguments.name;
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
  bound.stream = RowRandom::StreamOf(bound.seed, bound.salt);
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

// `schema` is that of the row after the steps before the point. The columns of the result that it contains are already
// final.
AutomaticCache::Point PointAt(const OpArguments& arguments, size_t point, const std::vector<int>& columns,
                              const ir::Schema& schema) {
  AutomaticCache::Point described;
  for (const int column : columns) described.types.columns.push_back(schema.columns[static_cast<size_t>(column)]);
  described.after = point == 0 ? "the source" : arguments.node->steps(static_cast<int>(point) - 1).kernel();
  for (const int column : columns) Append(described.columns, column, " ", arguments.output.columns[column].name, ", ");
  return described;
}

absl::StatusOr<std::unique_ptr<RowOperator>> MakeMap(const OpArguments& arguments) {
  std::vector<BoundStep> steps;
  for (const ir::proto::Step& step : arguments.node->steps()) {
    HEADRACE_ASSIGN_OR_RETURN(BoundStep bound, BindStep(step, arguments));
    steps.push_back(std::move(bound));
  }
  std::vector<Action> actions = ActionsOf(*arguments.node, steps);
  std::vector<Halves> halves;
  std::vector<AutomaticCache::Point> points;
  ir::Schema schema = arguments.inputs[0];
  for (size_t point = 0; point < arguments.node->cache_points(); ++point) {
    if (point > 0) {
      HEADRACE_RETURN_IF_ERROR(ir::ApplyStep(arguments.node->steps(static_cast<int>(point) - 1), schema));
    }
    halves.push_back({Between(steps, actions, 0, point), Between(steps, actions, point, steps.size()),
                      ColumnsAt(steps, point, arguments.inputs[0].columns.size(), arguments.output.columns.size())});
    points.push_back(PointAt(arguments, point, halves.back().columns, schema));
  }
  std::shared_ptr<AutomaticCache> cache;
  if (!points.empty()) cache = std::make_shared<AutomaticCache>(arguments.name, std::move(points));
  std::shared_ptr<RowWarnings> warnings;
  const auto may_warn = [](const BoundStep& step) { return step.kernel != nullptr && step.kernel->may_warn(); };
  if (std::any_of(steps.begin(), steps.end(), may_warn)) warnings = std::make_shared<RowWarnings>(arguments.name);
  return std::make_unique<MapOperator>(std::move(steps), std::move(actions), std::move(halves), std::move(cache),
                                       std::move(warnings), arguments.output.columns.size());
}

void Describe(const OpArguments& arguments, OperatorProperties& properties) {
  properties.writes_batch_slots = true;
  ir::Traits& traits = properties.traits;
  for (const ir::proto::Step& step : arguments.node->steps()) {
    if (step.kernel() != kPythonFunction) continue;
    traits.python = true;
    traits.ordered |= ir::Attributes::Of(step).Bool("ordered");
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
               "them all. Results replace the columns, or go to the output columns. Errors name the row.",
        .traits = {.one_to_one = true},
        .python_module = "dataset",
        .python = {.parameters = "kernels: Kernels, columns: str | Sequence[str], output: str | Sequence[str] | None = "
                                 "None, *, ordered: bool = True",
                   .docs = {{"kernels",
                             "A kernel or a Python function, or a list of them, applied one after the other. A "
                             "function gets the columns as arrays (byte strings as bytes, texts as str) and returns "
                             "one array, or a tuple of as many as there are output columns; if it has a parameter "
                             "`rng`, it gets a numpy.random.Generator for the row."},
                            {"columns", "The column, or columns, that the first kernel reads."},
                            {"output", "The columns for the results; None: they replace `columns`."},
                            {"ordered", "Whether Python functions are called in row order; otherwise in any order."}},
                   .body = "return hosted.mapped(self, kernels, columns, output, ordered)"},
        .example = "ds.map([V.Decode(), V.Resize((8, 8))], \"image\")",
    },
    {.row = MakeMap, .properties = Describe});

}  // namespace
}  // namespace headrace

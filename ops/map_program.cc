#include "ops/map_program.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/philox.h"
#include "core/text.h"
#include "engine/operator/batch_memory.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "ir/mark_padding.h"
#include "ir/suggestion.h"
#include "ir/type.h"
#include "ops/bound_function.h"
#include "ops/declared_types.h"

namespace headrace {

struct MapProgram::BoundStep {
  std::unique_ptr<Kernel> kernel;
  std::shared_ptr<HostFunction> function;
  bool function_draws = false;
  ir::Columns declared;       // results of the function, or of a plugin's kernel before the run; none: not declared
  std::string plugin_kernel;  // "myops.Blur"; none: it is no plugin's
  std::vector<int> inputs;
  std::vector<int> outputs;
  int fillers = -1;  // for a kernel of whole batches: the column that marks rows which repeat others; -1: none does
  uint64_t seed = 0;
  uint64_t salt = 0;
  uint64_t stream = 0;   // of seed and salt
  std::string name;      // "map[1] Resize"
  std::string location;  // of the step, if it has its own
};

// Steps that run as one, by their numbers; more than one if the optimizer fused them.
struct MapProgram::Action {
  std::vector<size_t> steps;
  std::optional<FusedImage> fused = {};
  int last_of = -1;  // the column that it is the last to write; -1: none, or several
};

class MapProgram::Part {
 public:
  explicit Part(std::vector<Action> actions) : actions_(std::move(actions)) {}
  const std::vector<Action>& actions() const { return actions_; }

 private:
  const std::vector<Action> actions_;
};

namespace {

// The map in which the user wrote the step, even if passes have merged several maps.
std::string NameOfMap(const ir::proto::Step& step, const OpArguments& arguments) {
  return step.user_node() > 0 ? Cat(arguments.node->op(), "[", step.user_node() - 1, "]") : arguments.name;
}

template <typename Outputs>
absl::Status TakeOutputs(const std::vector<int>& columns, absl::StatusOr<Outputs> outputs, absl::Span<Tensor> row) {
  if (!outputs.ok()) return std::move(outputs).status();
  if (outputs->size() != columns.size()) {
    return GraphError("gave ", outputs->size(), " values for ", columns.size(), " columns");
  }
  for (size_t i = 0; i < outputs->size(); ++i) row[static_cast<size_t>(columns[i])] = std::move((*outputs)[i]);
  return absl::OkStatus();
}

// Whether the results of a plugin's kernel for a row are what it inferred before there were rows.
absl::Status CheckInferred(std::string_view kernel, const ir::Columns& before, absl::Span<const int> outputs,
                           absl::Span<const Tensor> row) {
  for (size_t i = 0; i < before.size(); ++i) {
    const Tensor& made = row[static_cast<size_t>(outputs[i])];
    if (ir::FitsType(before[i].type, made.dtype(), made.shape())) continue;
    return BeyondRow(MakeError(
        ErrorKind::kFunction,
        Cat("infer() of ", kernel, " said ", ir::TypeName(before[i].type), " before the run and ", made.TypeName(),
            " for this row (a fault of the plugin ", ir::PluginOf(kernel), ", not of the pipeline)")));
  }
  return absl::OkStatus();
}

// The same for rows that are stacked.
bool FitInferred(const ir::Columns& before, absl::Span<const int> outputs, absl::Span<const Tensor> stacks) {
  for (size_t i = 0; i < before.size(); ++i) {
    const Tensor& made = stacks[static_cast<size_t>(outputs[i])];
    const absl::Span<const int64_t> row = absl::MakeSpan(made.shape()).subspan(1);
    if (!ir::FitsType(before[i].type, made.dtype(), row)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<MapProgram::BoundStep> MapProgram::BindStep(const ir::proto::Step& step, const OpArguments& arguments) {
  BoundStep bound;
  const ir::Attributes attributes = ir::Attributes::Of(step);
  bound.name = Cat(NameOfMap(step, arguments), " ", step.kernel());
  if (step.has_location()) bound.location = ir::LocationText(step.location());
  for (const std::string& input : step.inputs()) bound.inputs.push_back(arguments.output.IndexOf(input));
  for (const std::string& output : step.outputs()) bound.outputs.push_back(arguments.output.IndexOf(output));
  const ir::Declaration* const declaration = ir::Registry::Global().Find(step.kernel());
  if (declaration != nullptr && declaration->traits.by_batch) {
    bound.fillers = arguments.inputs[0].IndexOf(ir::kPaddingColumn);
  }
  bound.salt = step.salt();
  bound.seed = arguments.seed;
  const bool own_seed = attributes.Find("seed") != nullptr && !attributes.IsNone("seed");
  if (own_seed) bound.seed = static_cast<uint64_t>(attributes.Int("seed"));
  bound.stream = RowRandom::StreamOf(bound.seed, bound.salt);
  absl::Status made;
  if (step.kernel() == kPythonFunction) {
    absl::StatusOr<std::shared_ptr<HostFunction>> function =
        BoundFunction(*arguments.run->bindings, attributes.ReferenceName("function"));
    made = function.status();
    if (function.ok()) bound.function = *std::move(function);
    // Other processes draw from Python's global generators, too, which are seeded for each row.
    bound.function_draws = attributes.Bool("random") || (bound.function && bound.function->processes() > 0);
    if (!attributes.IsNone("types")) bound.declared = attributes.Columns("types").columns;
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

absl::StatusOr<MapProgram> MapProgram::Bind(const OpArguments& arguments) {
  auto steps = std::make_shared<std::vector<BoundStep>>();
  ir::Schema schema = arguments.inputs[0];
  for (const ir::proto::Step& step : arguments.node->steps()) {
    HEADRACE_ASSIGN_OR_RETURN(BoundStep bound, BindStep(step, arguments));
    HEADRACE_RETURN_IF_ERROR(ir::ApplyStep(step, schema));
    if (!ir::PluginOf(step.kernel()).empty()) {
      bound.plugin_kernel = step.kernel();
      for (const std::string& output : step.outputs()) bound.declared.push_back(*schema.Find(output));
    }
    steps->push_back(std::move(bound));
  }
  MapProgram program;
  program.columns_ = arguments.output.columns.size();
  program.for_stacks_ = std::all_of(steps->begin(), steps->end(), [](const BoundStep& step) {
    return step.kernel && step.kernel->applies_to_stacks();
  });
  program.steps_ = std::move(steps);
  program.all_ = std::make_shared<const Part>(program.ActionsOf(*arguments.node));
  return program;
}

size_t MapProgram::steps() const { return steps_->size(); }

bool MapProgram::may_warn() const {
  return std::any_of(steps_->begin(), steps_->end(),
                     [](const BoundStep& step) { return step.kernel != nullptr && step.kernel->may_warn(); });
}

// Adds steps that the optimizer marked to run as one: as few actions as passes over the pixels can be made of them.
void MapProgram::AddActions(absl::Span<const size_t> steps, std::vector<Action>& actions) const {
  while (!steps.empty()) {
    std::vector<FusedImage::Part> parts;
    for (const size_t at : steps) {
      const BoundStep& step = (*steps_)[at];
      parts.push_back({step.kernel.get(), step.seed, step.salt});
    }
    FusedImage fused = FusedImage::Make(parts);
    const size_t count = std::max<size_t>(fused.parts(), 1);
    Action action = {.steps = {steps.begin(), steps.begin() + count}};
    if (count > 1) action.fused = std::move(fused);
    actions.push_back(std::move(action));
    steps.remove_prefix(count);
  }
}

// Finds the actions that are the last to write a column.
void MapProgram::NoteLastWriters(std::vector<Action>& actions) const {
  std::map<int, Action*> last;
  for (Action& action : actions) {
    for (const int column : (*steps_)[action.steps.back()].outputs) last[column] = &action;
  }
  for (const auto& [column, action] : last) {
    if ((*steps_)[action->steps.back()].outputs.size() == 1) action->last_of = column;
  }
}

// The steps in the order in which they run; fused steps run at the position of the first.
std::vector<MapProgram::Action> MapProgram::ActionsOf(const ir::proto::Node& map) const {
  std::vector<std::vector<size_t>> runs;
  std::map<uint32_t, size_t> run_of;
  for (size_t i = 0; i < steps_->size(); ++i) {
    const uint32_t fused = map.steps(static_cast<int>(i)).fused();
    const auto found = run_of.find(fused);
    if (fused != 0 && found != run_of.end()) {
      runs[found->second].push_back(i);
      continue;
    }
    if (fused != 0) run_of.emplace(fused, runs.size());
    runs.push_back({i});
  }
  std::vector<Action> actions;
  for (const std::vector<size_t>& run : runs) AddActions(run, actions);
  NoteLastWriters(actions);
  return actions;
}

std::shared_ptr<const MapProgram::Part> MapProgram::PartOf(size_t begin, size_t end) const {
  std::vector<Action> part;
  for (const Action& action : all_->actions()) {
    std::vector<size_t> left;
    for (const size_t at : action.steps) {
      if (at >= begin && at < end) left.push_back(at);
    }
    if (left.size() == action.steps.size()) {
      part.push_back(action);
    } else {
      AddActions(left, part);
    }
  }
  NoteLastWriters(part);
  return std::make_shared<const Part>(std::move(part));
}

Tensor MapProgram::SlotOf(const Block& block, int column) {
  return block.batch_memory != nullptr && column >= 0 ? block.batch_memory->SlotOf(column, block.batch_slot) : Tensor();
}

absl::Status MapProgram::Run(const Part& part, const Block& block, int i, bool into_slots, MapRow& row) const {
  for (const Action& action : part.actions()) {
    OutputAllocator output(into_slots ? SlotOf(block, action.last_of) : Tensor());
    HEADRACE_RETURN_IF_ERROR(RunAction(action, block.ids[i], output, row));
  }
  return absl::OkStatus();
}

absl::Status MapProgram::RunAction(const Action& action, const RowId& id, OutputAllocator& output, MapRow& row) const {
  if (action.fused.has_value()) {
    Tensor& column = row.columns[static_cast<size_t>((*steps_)[action.steps[0]].inputs[0])];
    absl::StatusOr<Tensor> result = action.fused->Apply(column, id, output);
    if (result.ok()) {
      column = *std::move(result);
      return absl::OkStatus();
    }
    // Falls through: the separate steps report what is wrong, and where.
  }
  OutputAllocator intermediate;
  for (const size_t at : action.steps) {
    const BoundStep& step = (*steps_)[at];
    const bool last = at == action.steps.back();
    absl::Status status = RunStep(step, id, last ? output : intermediate, absl::MakeSpan(row.columns), row);
    if (status.ok() && !step.plugin_kernel.empty()) {
      status = CheckInferred(step.plugin_kernel, step.declared, step.outputs, row.columns);
    }
    if (status.ok()) continue;
    AddErrorField(status, ErrorField::kOperator, step.name);
    AddErrorField(status, ErrorField::kLocation, step.location);
    return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const bool>> MapProgram::FillersOf(const BoundStep& bound, absl::Span<const Tensor> columns) {
  if (bound.fillers < 0) return absl::Span<const bool>();
  const Tensor& marks = columns[static_cast<size_t>(bound.fillers)];
  // A function of the user's may have made more rows, or fewer, of those that are marked.
  const Tensor& rows = columns[static_cast<size_t>(bound.inputs[0])];
  const bool fits = rows.rank() == 0 || rows.dim(0) == marks.elements();
  if (marks.dtype() == DType::kBool && marks.rank() == 1 && marks.contiguous() && fits) {
    return absl::MakeSpan(marks.data<bool>(), static_cast<size_t>(marks.elements()));
  }
  return GraphError("needs one mark a row in column \"", ir::kPaddingColumn, "\"; got ", marks.TypeName(), " for ",
                    rows.TypeName());
}

absl::Status MapProgram::RunStep(const BoundStep& bound, const RowId& id, OutputAllocator& output,
                                 absl::Span<Tensor> columns, MapRow& row) {
  absl::Span<const Tensor> given;
  if (bound.inputs.size() == 1) {
    given = columns.subspan(static_cast<size_t>(bound.inputs[0]), 1);
  } else {
    row.inputs.clear();
    for (const int column : bound.inputs) row.inputs.push_back(columns[static_cast<size_t>(column)]);
    given = row.inputs;
  }
  HEADRACE_ASSIGN_OR_RETURN(const absl::Span<const bool> fillers, FillersOf(bound, columns));
  KernelContext context(RowRandom(RowRandom::KeyOf(bound.stream, id.epoch), id.key), output, fillers);
  if (bound.kernel) return TakeOutputs(bound.outputs, bound.kernel->Apply(given, context), columns);
  RowRandom* const random = bound.function_draws ? &context.random() : nullptr;
  absl::StatusOr<std::vector<Tensor>> results = bound.function->Call(given, random, output);
  if (results.ok()) HEADRACE_RETURN_IF_ERROR(CheckDeclared(bound.declared, *results));
  return TakeOutputs(bound.outputs, std::move(results), columns);
}

bool MapProgram::RunStacked(Block& block) const {
  if (!for_stacks_) return false;
  MapRow stacks;
  stacks.columns.resize(columns_);
  for (size_t c = 0; c < block.columns.size(); ++c) {
    if (!block.columns[c].stacked()) return false;
    stacks.columns[c] = block.columns[c].stack();
  }
  OutputAllocator output;
  for (const BoundStep& step : *steps_) {
    if (!RunStep(step, block.ids[0], output, absl::MakeSpan(stacks.columns), stacks).ok()) return false;
    if (!step.plugin_kernel.empty() && !FitInferred(step.declared, step.outputs, stacks.columns)) return false;
  }
  block.columns.clear();
  for (Tensor& stack : stacks.columns) block.columns.push_back(BlockColumn::Stacked(std::move(stack)));
  return true;
}

}  // namespace headrace

#include "ops/map/map_program.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/philox.h"
#include "core/row_notes.h"
#include "core/text.h"
#include "engine/operator/batch_memory.h"
#include "engine/operator/failed_row.h"
#include "engine/operator/host_parameter.h"
#include "engine/operator/host_runs.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ir/infer.h"
#include "ir/mark_padding.h"
#include "ir/parameters.h"
#include "ir/salts.h"
#include "ir/suggestion.h"
#include "ir/type.h"
#include "ir/value_text.h"
#include "kernels/by_frame.h"
#include "kernels/chooser.h"
#include "ops/map/read_file.h"
#include "ops/rows/bound_function.h"
#include "ops/rows/declared_types.h"

namespace headrace {

struct MapProgram::BoundStep {
  std::unique_ptr<Kernel> kernel;
  const Chooser* chooser = nullptr;  // the kernel, if it is one
  std::vector<std::vector<BoundStep>> branches;
  std::shared_ptr<HostFunction> function;
  RunFunction* runs = nullptr;  // the function, if it takes runs
  bool function_draws = false;
  ir::Columns declared;       // results of the function, or of a plugin's kernel before the run; none: not declared
  std::string plugin_kernel;  // "myops.Blur"; none: it is no plugin's
  std::vector<int> inputs;
  std::vector<int> outputs;
  // Of a kernel of rows: the types of its columns are not all known before the run, so a row decides whether it fits.
  bool fits_by_row = false;
  bool by_frame = false;  // of a kernel of images: it is given a clip frame by frame
  int fillers = -1;  // for a kernel of whole batches: the column that marks rows which repeat others; -1: none does
  uint64_t seed = 0;
  uint64_t salt = 0;
  uint64_t stream = 0;     // of seed and salt
  uint64_t notes_key = 0;  // names the step in the notes of a row
  uint32_t fused = 0;      // as in the graph
  std::string name;        // "map[1] Resize"
  std::string location;    // of the step, if it has its own
  std::string parameters;  // that it reads, with their values in the epoch; none: it reads none

  // Of its kernel, or of one in a branch.
  bool HasKernel(bool (Kernel::*is)() const) const {
    const auto has = [is](const BoundStep& step) { return step.HasKernel(is); };
    return (kernel != nullptr && (kernel.get()->*is)()) ||
           std::any_of(branches.begin(), branches.end(),
                       [&](const auto& branch) { return std::any_of(branch.begin(), branch.end(), has); });
  }
  bool may_warn() const { return HasKernel(&Kernel::may_warn); }
};

class MapProgram::Part {
 public:
  Part(size_t begin, size_t end, std::optional<Actions> actions)
      : begin_(begin), end_(end), actions_(std::move(actions)) {}
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }
  // nullopt: what runs is drawn for each row.
  const std::optional<Actions>& actions() const { return actions_; }

 private:
  const size_t begin_;
  const size_t end_;
  const std::optional<Actions> actions_;
};

namespace {

// Of what a function draws from generators that its worker process seeds.
uint64_t SaltOfFunction(const ir::proto::Step& step, const ir::Attributes& attributes) {
  const int64_t occurrence = attributes.IsNone(ir::kOccurrenceAttribute) ? 0 : attributes.Int(ir::kOccurrenceAttribute);
  return ir::SaltOf(kPythonFunction, ir::FunctionNameOf(step), static_cast<uint64_t>(occurrence));
}

// What a kernel notes of a row is for steps that do the same with the same columns.
uint64_t NotesKeyOf(const ir::proto::Step& written) {
  const ir::proto::Step step = ir::BareStep(written);
  uint64_t key = HashBytes(step.kernel(), step.version());
  for (const std::string& input : step.inputs()) key = HashBytes(input, key);
  for (const ir::proto::Attribute& attribute : step.attributes()) key = HashBytes(attribute.SerializeAsString(), key);
  return key;
}

// The map in which the user wrote the step, even if passes have merged several maps.
std::string NameOfMap(const ir::proto::Step& step, const OpArguments& arguments) {
  return step.user_node() > 0 ? Cat(arguments.node->op(), "[", step.user_node() - 1, "]") : arguments.name;
}

template <typename Outputs>
absl::Status TakeOutputs(const std::vector<int>& columns, absl::StatusOr<Outputs> outputs, absl::Span<Tensor> row) {
  if (!outputs.ok()) return std::move(outputs).status();
  if (outputs->size() != columns.size()) {
    return GraphError("gave ", outputs->size(), " values for ", columns.size(),
                      " columns; map(…, output=[…]) names a column for each value");
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

bool KnownWhole(const ir::ColumnType& type) {
  if (type.dtype == DType::kUnknown || !type.shape.has_value()) return false;
  return std::count(type.shape->begin(), type.shape->end(), ir::kUnknownDim) == 0;
}

bool KnowsInputs(const ir::proto::Step& step, const ir::Schema& schema) {
  return std::all_of(step.inputs().begin(), step.inputs().end(), [&](const std::string& name) {
    const ir::Column* const column = schema.Find(name);
    return column != nullptr && KnownWhole(column->type);
  });
}

// Whether what is known of the one is true of the other.
bool Agree(const ir::ColumnType& declared, const ir::ColumnType& now) {
  if (declared.dtype != DType::kUnknown && now.dtype != DType::kUnknown && declared.dtype != now.dtype) return false;
  if (!declared.shape || !now.shape) return true;
  if (declared.shape->size() != now.shape->size()) return false;
  for (size_t i = 0; i < now.shape->size(); ++i) {
    const int64_t dims[] = {(*declared.shape)[i], (*now.shape)[i]};
    if (dims[0] != dims[1] && dims[0] != ir::kUnknownDim && dims[1] != ir::kUnknownDim) return false;
  }
  return true;
}

// Says what the parameters are that a step reads, as it fails with their values.
absl::Status InEpoch(absl::Status wrong, uint64_t epoch, std::string_view parameters) {
  if (parameters.empty()) return wrong;
  return Reworded(wrong, Cat(wrong.message(), " (in epoch ", epoch, " ", parameters, ")"));
}

// Notes at each bound step the parameters that it reads, and what they are in `made`.
template <typename BoundStep>
void NoteParameters(const ir::Steps& given, const ir::Steps& made, std::vector<BoundStep>& bound) {
  for (int i = 0; i < given.size(); ++i) {
    BoundStep& step = bound[static_cast<size_t>(i)];
    // A chooser's own would be named with those of its branches; no row fails in it.
    if (step.chooser == nullptr) step.parameters = ir::ParametersText(given[i], made[i]);
    for (int b = 0; b < given[i].branches_size(); ++b) {
      NoteParameters(given[i].branches(b).steps(), made[i].branches(b).steps(), step.branches[static_cast<size_t>(b)]);
    }
  }
}

// The steps with the values that parameters have in the epoch. kGraph: these give other columns than the graph says.
absl::StatusOr<ir::Steps> StepsInEpoch(const OpArguments& arguments, uint64_t epoch) {
  ir::Steps steps = arguments.node->steps();
  const auto reads = [](const ir::proto::Step& step) { return ir::AnyStepOf(step, ir::ReadsParameter); };
  if (std::none_of(steps.begin(), steps.end(), reads)) return steps;
  const HostBindings* const bindings = arguments.run->bindings;
  const auto value = [&](const std::string& name) -> absl::StatusOr<ir::proto::Value> {
    if (bindings != nullptr) {
      const auto found = bindings->functions.find(name);
      auto* const parameter =
          found == bindings->functions.end() ? nullptr : dynamic_cast<HostParameter*>(found->second.get());
      if (parameter != nullptr) return parameter->ValueIn(epoch);
    }
    return GraphError("the parameter ", name, " is not here: a graph that reads one runs only where it was built");
  };
  HEADRACE_RETURN_IF_ERROR(ir::PutValues(value, epoch, &steps));
  ir::Schema schema = arguments.inputs[0];
  for (int i = 0; i < steps.size(); ++i) {
    absl::Status status = ir::ApplyStep(steps[i], schema);
    if (status.ok()) continue;
    const ir::proto::Step& step = arguments.node->steps(i);
    status = InEpoch(std::move(status), epoch, ir::ParametersText(step, steps[i]));
    AddErrorField(status, ErrorField::kOperator, Cat(NameOfMap(step, arguments), " ", ir::KernelName(step)));
    if (step.has_location()) AddErrorField(status, ErrorField::kLocation, ir::LocationText(step.location()));
    return status;
  }
  for (const ir::Column& column : arguments.output.columns) {
    const ir::ColumnType& now = schema.Find(column.name)->type;
    if (Agree(column.type, now)) continue;
    return GraphError("column \"", column.name, "\" is ", ir::TypeName(now), " in epoch ", epoch,
                      " by a parameter, and ", ir::TypeName(column.type), " in others");
  }
  return steps;
}

}  // namespace

absl::StatusOr<MapProgram::BoundStep> MapProgram::BindStep(const ir::proto::Step& step, const OpArguments& arguments,
                                                           uint64_t epoch, const BoundStep* enclosing) {
  BoundStep bound;
  const ir::Attributes attributes = ir::Attributes::Of(step);
  bound.name = Cat(NameOfMap(step, arguments), " ", ir::KernelName(step));
  if (enclosing != nullptr) bound.location = enclosing->location;
  if (step.has_location()) bound.location = ir::LocationText(step.location());
  for (const std::string& input : step.inputs()) bound.inputs.push_back(arguments.output.IndexOf(input));
  for (const std::string& output : step.outputs()) bound.outputs.push_back(arguments.output.IndexOf(output));
  const ir::Declaration* const declaration = ir::Registry::Global().Find(step.kernel());
  if (declaration != nullptr && declaration->traits.by_batch) {
    bound.fillers = arguments.inputs[0].IndexOf(ir::kPaddingColumn);
  }
  bound.fused = step.fused();
  bound.salt = step.salt();
  bound.seed = arguments.seed;
  const bool own_seed = attributes.Find("seed") != nullptr && !attributes.IsNone("seed");
  if (own_seed) bound.seed = static_cast<uint64_t>(attributes.Int("seed"));
  if (step.kernel() == kPythonFunction && bound.salt == 0) bound.salt = SaltOfFunction(step, attributes);
  bound.stream = RowRandom::StreamOf(bound.seed, bound.salt);
  bound.notes_key = NotesKeyOf(step);
  absl::Status made;
  if (step.kernel() == kPythonFunction) {
    absl::StatusOr<std::shared_ptr<HostFunction>> function =
        BoundFunction(*arguments.run->bindings, attributes.ReferenceName("function"));
    if (function.ok()) function = FunctionInEpoch(*std::move(function), epoch);
    made = function.status();
    if (function.ok()) bound.function = *std::move(function);
    bound.runs = dynamic_cast<RunFunction*>(bound.function.get());
    // Other processes draw from Python's global generators, too, which are seeded for each row.
    bound.function_draws = attributes.Bool("random") || (bound.function && bound.function->processes() > 0);
    if (!attributes.IsNone("types")) bound.declared = attributes.Columns("types").columns;
  } else if (step.kernel() == kReadFile) {
    bound.kernel = MakeReadFile(arguments.run->files, attributes);
  } else {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = MakeKernel(step.kernel(), attributes);
    made = kernel.status();
    if (kernel.ok()) bound.kernel = *std::move(kernel);
  }
  bound.chooser = dynamic_cast<const Chooser*>(bound.kernel.get());
  if (made.ok()) return bound;
  AddErrorField(made, ErrorField::kOperator, bound.name);
  AddErrorField(made, ErrorField::kLocation, bound.location);
  return made;
}

absl::Status MapProgram::BindBranches(const ir::proto::Step& step, const OpArguments& arguments, uint64_t epoch,
                                      const ir::Schema& schema, const ir::ColumnHistories& histories,
                                      BoundStep& bound) {
  const ir::Declaration* const declaration = ir::ChooserOf(step);
  if (declaration == nullptr) return InternalError(step.kernel(), " is a chooser, and its declaration is not");
  ir::Schema begin = schema;
  ir::ColumnHistories known = histories;
  HEADRACE_RETURN_IF_ERROR(ir::EnterBranches(*declaration, step, begin, known));
  for (const ir::proto::Branch& branch : step.branches()) {
    HEADRACE_ASSIGN_OR_RETURN(std::vector<BoundStep> steps,
                              BindSteps(branch.steps(), arguments, epoch, &bound, begin, known));
    bound.branches.push_back(std::move(steps));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MapProgram::BoundStep>> MapProgram::BindSteps(const ir::Steps& steps,
                                                                         const OpArguments& arguments, uint64_t epoch,
                                                                         const BoundStep* enclosing, ir::Schema schema,
                                                                         ir::ColumnHistories histories) {
  std::vector<BoundStep> result;
  for (const ir::proto::Step& step : steps) {
    HEADRACE_ASSIGN_OR_RETURN(BoundStep bound, BindStep(step, arguments, epoch, enclosing));
    if (bound.chooser != nullptr) {
      HEADRACE_RETURN_IF_ERROR(BindBranches(step, arguments, epoch, schema, histories, bound));
    }
    const ir::Declaration* const declaration = ir::Registry::Global().Find(step.kernel());
    const bool of_rows = bound.kernel != nullptr && declaration != nullptr && !declaration->traits.by_batch;
    bound.fits_by_row = of_rows && !KnowsInputs(step, schema);
    bound.by_frame = of_rows && declaration->OfClips() == ir::Clips::kByFrame && !step.inputs().empty() &&
                     !ir::HoldsBatches(histories, step.inputs(0));
    HEADRACE_RETURN_IF_ERROR(ir::FollowStep(step, schema, histories));
    if (!ir::PluginOf(step.kernel()).empty()) {
      bound.plugin_kernel = step.kernel();
      for (const std::string& output : step.outputs()) bound.declared.push_back(*schema.Find(output));
    }
    result.push_back(std::move(bound));
  }
  return result;
}

// The programs of the epochs of one map. They are made without a lock, as parameters call the user's code; values that
// come again have one program.
// Threads: any thread.
class MapProgram::OfEpochs {
 public:
  // `first`: the program of the epoch with which the run begins.
  OfEpochs(const OpArguments& arguments, const MapProgram& first)
      : node_(*arguments.node), bindings_(BindingsRead(arguments)), arguments_(arguments) {
    run_ = *arguments.run;
    run_.bindings = &bindings_;
    arguments_.run = &run_;
    arguments_.node = &node_;
    for (const auto& [_, parameter] : ParametersRead(arguments_)) parameters_.push_back(parameter);
    first_ = std::make_shared<const MapProgram>(first);
  }

  // Errors: those of user code, and of values that do not fit their kernels.
  absl::StatusOr<std::shared_ptr<const MapProgram>> Of(uint64_t epoch) {
    if (std::shared_ptr<const MapProgram> made = Find(epoch)) return made;
    HEADRACE_ASSIGN_OR_RETURN(std::string values, ValuesIn(epoch));
    std::shared_ptr<const MapProgram> program = epoch == arguments_.first_epoch ? first_ : FindValues(values);
    if (program == nullptr) {
      HEADRACE_ASSIGN_OR_RETURN(MapProgram bound, BindAt(arguments_, epoch));
      program = std::make_shared<const MapProgram>(std::move(bound));
    }
    return Keep(epoch, {std::move(values), std::move(program)});
  }

 private:
  struct Made {
    std::string values;
    std::shared_ptr<const MapProgram> program;
  };
  // Rows of more epochs are seldom on their way at once.
  static constexpr size_t kKept = 8;

  // What the steps refer to; not the sources' arrays and iterators.
  static HostBindings BindingsRead(const OpArguments& arguments) {
    HostBindings read;
    read.functions = arguments.run->bindings->functions;
    return read;
  }

  absl::StatusOr<std::string> ValuesIn(uint64_t epoch) const {
    std::string values;
    for (const auto& parameter : parameters_) {
      HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Value value, parameter->ValueIn(epoch));
      Append(values, ir::ValueText(value), "; ");
    }
    return values;
  }

  std::shared_ptr<const MapProgram> Find(uint64_t epoch) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = made_.find(epoch);
    return found == made_.end() ? nullptr : found->second.program;
  }

  std::shared_ptr<const MapProgram> FindValues(const std::string& values) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found =
        std::find_if(made_.begin(), made_.end(), [&](const auto& each) { return each.second.values == values; });
    return found == made_.end() ? nullptr : found->second.program;
  }

  std::shared_ptr<const MapProgram> Keep(uint64_t epoch, Made made) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<const MapProgram> program = made_.try_emplace(epoch, std::move(made)).first->second.program;
    if (made_.size() > kKept) made_.erase(made_.begin()->first == epoch ? std::prev(made_.end()) : made_.begin());
    return program;
  }

  const ir::proto::Node node_;
  const HostBindings bindings_;
  RunOptions run_;
  OpArguments arguments_;
  std::vector<std::shared_ptr<HostParameter>> parameters_;
  std::shared_ptr<const MapProgram> first_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Made> made_;  // guarded by mutex_
};

absl::StatusOr<MapProgram> MapProgram::Bind(const OpArguments& arguments) {
  HEADRACE_ASSIGN_OR_RETURN(MapProgram program, BindAt(arguments, arguments.first_epoch));
  if (ParametersRead(arguments).empty()) return program;
  program.for_stacks_ = false;
  program.run_action_ = std::nullopt;
  program.of_epochs_ = std::make_shared<OfEpochs>(arguments, program);
  return program;
}

absl::StatusOr<MapProgram> MapProgram::BindAt(const OpArguments& arguments, uint64_t epoch) {
  HEADRACE_ASSIGN_OR_RETURN(const ir::Steps resolved, StepsInEpoch(arguments, epoch));
  HEADRACE_ASSIGN_OR_RETURN(std::vector<BoundStep> steps,
                            BindSteps(resolved, arguments, epoch, nullptr, arguments.inputs[0], arguments.histories));
  NoteParameters(arguments.node->steps(), resolved, steps);
  MapProgram program;
  program.columns_ = arguments.output.columns.size();
  program.for_stacks_ = std::all_of(steps.begin(), steps.end(), [](const BoundStep& step) {
    return step.kernel && step.kernel->applies_to_stacks();
  });
  program.steps_ = std::make_shared<const std::vector<BoundStep>>(std::move(steps));
  program.all_ = program.PartOf(0, program.steps());
  if (program.all_->actions().has_value() && !program.may_warn())
    program.run_action_ = RunActionOf(*program.all_->actions());
  return program;
}

// With two functions a row would wait for the second one's turn, and the rows before it might have to be seen first.
std::optional<size_t> MapProgram::RunActionOf(const Actions& actions) {
  std::optional<size_t> found;
  for (size_t i = 0; i < actions.size(); ++i) {
    const BoundStep& step = *actions[i].steps[0];
    if (step.function == nullptr) continue;
    if (found.has_value() || step.runs == nullptr) return std::nullopt;
    found = i;
  }
  return found;
}

size_t MapProgram::steps() const { return steps_->size(); }

bool MapProgram::may_warn() const {
  return std::any_of(steps_->begin(), steps_->end(), [](const BoundStep& step) { return step.may_warn(); });
}

bool MapProgram::counts_work() const {
  return std::any_of(steps_->begin(), steps_->end(),
                     [](const BoundStep& step) { return step.HasKernel(&Kernel::counts_work); });
}

MapProgram::Actions MapProgram::ActionsOf(const FlatSteps& steps) {
  return ActionsOfColumns(absl::MakeConstSpan(steps), [](const BoundStep& step) { return step.seed; });
}

RowRandom MapProgram::RandomOf(const BoundStep& bound, const RowId& id) {
  return RowRandom(RowRandom::KeyOf(bound.stream, id.epoch), id.key);
}

std::optional<RowNotes> MapProgram::NotesOf(const BoundStep& bound, const MapRow& row) {
  if (row.notes == nullptr) return std::nullopt;
  return RowNotes(*row.notes, MixKey(row.notes_key, bound.notes_key));
}

MapProgram::FlatSteps MapProgram::StepsOf(const Part& part, const RowId& id) const {
  const absl::Span<const BoundStep> steps = absl::MakeSpan(*steps_).subspan(part.begin(), part.end() - part.begin());
  FlatSteps drawn;
  VisitDrawn(
      steps, [&](const BoundStep& step) { return RandomOf(step, id); },
      [&](const BoundStep& step) {
        // A chooser by itself only gives its columns their names.
        if (step.chooser == nullptr || step.inputs != step.outputs) drawn.push_back(&step);
      });
  return drawn;
}

std::shared_ptr<const MapProgram::Part> MapProgram::PartOf(size_t begin, size_t end) const {
  Part drawn(begin, end, std::nullopt);
  const auto first = steps_->begin();
  const bool draws = std::any_of(first + begin, first + end, [](const BoundStep& step) { return step.chooser; });
  if (draws) return std::make_shared<const Part>(std::move(drawn));
  return std::make_shared<const Part>(begin, end, ActionsOf(StepsOf(drawn, RowId())));
}

Tensor MapProgram::SlotOf(const Block& block, std::optional<size_t> column) {
  if (block.batch_memory == nullptr || !column.has_value()) return Tensor();
  return block.batch_memory->SlotOf(static_cast<int>(*column), block.batch_slot);
}

absl::Status MapProgram::Run(const Part& part, const Block& block, int i, bool into_slots, MapRow& row) const {
  if (of_epochs_ == nullptr) return RunHere(part, block, i, into_slots, row);
  absl::StatusOr<std::shared_ptr<const MapProgram>> program = of_epochs_->Of(block.ids[i].epoch);
  // Of every row of the epoch.
  if (!program.ok()) return BeyondRow(std::move(program).status());
  const bool whole = part.begin() == 0 && part.end() == steps();
  if (whole) return (*program)->RunHere(*(*program)->all_, block, i, into_slots, row);
  return (*program)->RunHere(Part(part.begin(), part.end(), std::nullopt), block, i, into_slots, row);
}

absl::Status MapProgram::RunHere(const Part& part, const Block& block, int i, bool into_slots, MapRow& row) const {
  if (part.actions().has_value()) return RunActions(*part.actions(), block, i, into_slots, row);
  return RunActions(ActionsOf(StepsOf(part, block.ids[i])), block, i, into_slots, row);
}

absl::Status MapProgram::RunActions(absl::Span<const Action> actions, const Block& block, int i, bool into_slots,
                                    MapRow& row) {
  for (const Action& action : actions) {
    OutputAllocator output(into_slots ? SlotOf(block, action.last_of) : Tensor());
    HEADRACE_RETURN_IF_ERROR(RunOf(action, block.ids[i], output, row));
  }
  return absl::OkStatus();
}

void MapProgram::RunRows(absl::Span<Block* const> blocks, absl::Span<MapRow> rows, TakeMade take) const {
  const absl::Span<const Action> actions = *all_->actions();
  const Action& called = actions[*run_action_];
  const BoundStep& function = *called.steps[0];
  const absl::Span<const Action> before = actions.subspan(0, *run_action_);
  const absl::Span<const Action> after = actions.subspan(*run_action_ + 1);
  std::vector<absl::Status> made(blocks.size());
  // Of the calls: rows that fail before have none.
  std::vector<size_t> places;
  std::vector<RowRandom> randoms;
  std::vector<OutputAllocator> outputs;
  places.reserve(blocks.size());
  randoms.reserve(blocks.size());
  outputs.reserve(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    made[i] = RunActions(before, *blocks[i], 0, true, rows[i]);
    if (!made[i].ok()) continue;
    places.push_back(i);
    randoms.push_back(RandomOf(function, blocks[i]->ids[0]));
    outputs.emplace_back(SlotOf(*blocks[i], called.last_of));
  }
  std::vector<HostCall> calls;
  for (size_t call = 0; call < places.size(); ++call) {
    MapRow& row = rows[places[call]];
    calls.push_back(
        {InputsOf(function, row.columns, row), function.function_draws ? &randoms[call] : nullptr, &outputs[call]});
  }
  size_t given = 0;
  const auto give = [&](size_t end) {
    if (end > given) take(given, absl::MakeSpan(made).subspan(given, end - given));
    given = end;
  };
  // A row without a call waits for no later one.
  const auto before_call = [&](size_t call) { return call < places.size() ? places[call] : blocks.size(); };
  give(before_call(0));
  function.runs->CallRun(calls, [&](size_t first, absl::Span<RunFunction::Results> results) {
    for (size_t r = 0; r < results.size(); ++r) {
      const size_t i = places[first + r];
      made[i] = TakeCalled(function, std::move(results[r]), absl::MakeSpan(rows[i].columns));
      if (!made[i].ok()) AddStep(function, made[i]);
      if (made[i].ok()) made[i] = RunActions(after, *blocks[i], 0, true, rows[i]);
    }
    give(before_call(first + results.size()));
  });
}

void MapProgram::AddStep(const BoundStep& step, absl::Status& status) {
  AddErrorField(status, ErrorField::kOperator, step.name);
  AddErrorField(status, ErrorField::kLocation, step.location);
}

absl::Status MapProgram::RunOf(const Action& action, const RowId& id, OutputAllocator& output, MapRow& row) {
  return RunAction(
      action, output, [&](const Action& fused, OutputAllocator& into) { return RunFused(fused, id, into, row); },
      [&](const BoundStep& step, OutputAllocator& into) { return RunNamed(step, id, into, row); });
}

bool MapProgram::RunFused(const Action& action, const RowId& id, OutputAllocator& output, MapRow& row) {
  Tensor& column = row.columns[static_cast<size_t>(action.steps[0]->inputs[0])];
  std::optional<RowNotes> notes = NotesOf(*action.steps[0], row);
  absl::StatusOr<Tensor> result = ApplyFused(action, column, id, output, notes.has_value() ? &*notes : nullptr);
  if (result.ok()) column = *std::move(result);
  return result.ok();
}

absl::Status MapProgram::RunNamed(const BoundStep& bound, const RowId& id, OutputAllocator& output, MapRow& row) {
  absl::Status status = RunStep(bound, id, output, absl::MakeSpan(row.columns), row);
  if (status.ok() && !bound.plugin_kernel.empty()) {
    status = CheckInferred(bound.plugin_kernel, bound.declared, bound.outputs, row.columns);
  }
  if (status.ok()) return status;
  if (bound.fits_by_row) status = DecidedByRow(status);
  status = InEpoch(std::move(status), id.epoch, bound.parameters);
  AddStep(bound, status);
  return status;
}

absl::StatusOr<absl::Span<const bool>> MapProgram::FillersOf(const BoundStep& bound, absl::Span<const Tensor> columns) {
  if (bound.fillers < 0) return absl::Span<const bool>();
  const Tensor& marks = columns[static_cast<size_t>(bound.fillers)];
  // A user function may have made more rows, or fewer, of those that are marked.
  const Tensor& rows = columns[static_cast<size_t>(bound.inputs[0])];
  const bool fits = rows.rank() == 0 || rows.dim(0) == marks.elements();
  if (marks.dtype() == DType::kBool && marks.rank() == 1 && marks.contiguous() && fits) {
    return absl::MakeSpan(marks.data<bool>(), static_cast<size_t>(marks.elements()));
  }
  return GraphError("needs one mark a row in column \"", ir::kPaddingColumn, "\"; got ", marks.TypeName(), " for ",
                    rows.TypeName());
}

absl::Span<const Tensor> MapProgram::InputsOf(const BoundStep& bound, absl::Span<const Tensor> columns, MapRow& row) {
  if (bound.inputs.size() == 1) return columns.subspan(static_cast<size_t>(bound.inputs[0]), 1);
  row.inputs.clear();
  for (const int column : bound.inputs) row.inputs.push_back(columns[static_cast<size_t>(column)]);
  return row.inputs;
}

absl::Status MapProgram::TakeCalled(const BoundStep& bound, absl::StatusOr<std::vector<Tensor>> results,
                                    absl::Span<Tensor> columns) {
  if (results.ok()) HEADRACE_RETURN_IF_ERROR(CheckDeclared(bound.declared, *results));
  return TakeOutputs(bound.outputs, std::move(results), columns);
}

absl::Status MapProgram::RunStep(const BoundStep& bound, const RowId& id, OutputAllocator& output,
                                 absl::Span<Tensor> columns, MapRow& row) {
  const absl::Span<const Tensor> given = InputsOf(bound, columns, row);
  if (bound.chooser != nullptr)
    return TakeOutputs(bound.outputs, absl::StatusOr<Tensors>(Tensors(given.begin(), given.end())), columns);
  HEADRACE_ASSIGN_OR_RETURN(const absl::Span<const bool> fillers, FillersOf(bound, columns));
  std::optional<RowNotes> notes = NotesOf(bound, row);
  KernelContext context(RandomOf(bound, id), output, fillers, notes.has_value() ? &*notes : nullptr);
  if (bound.by_frame) return TakeOutputs(bound.outputs, ApplyByFrame(*bound.kernel, given, context), columns);
  if (bound.kernel) return TakeOutputs(bound.outputs, bound.kernel->Apply(given, context), columns);
  RowRandom* const random = bound.function_draws ? &context.random() : nullptr;
  return TakeCalled(bound, bound.function->Call(given, random, output), columns);
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

#include "engine/serve/kernel_chain.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/infer.h"
#include "ir/suggestion.h"
#include "kernels/by_frame.h"

namespace headrace {
namespace {

// "map[1] Resize"; "Resize" for a step of no numbered map.
std::string NameOf(const ir::proto::Step& step) {
  const std::string kernel = ir::KernelName(step);
  return step.user_node() > 0 ? Cat(ir::kMapOp, "[", step.user_node() - 1, "] ", kernel) : kernel;
}

absl::Status At(absl::Status status, const std::string& name, const std::string& location) {
  AddErrorField(status, ErrorField::kOperator, name);
  AddErrorField(status, ErrorField::kLocation, location);
  return status;
}

std::optional<uint64_t> SeedOf(const ir::Attributes& attributes) {
  if (attributes.Find("seed") == nullptr || attributes.IsNone("seed")) return std::nullopt;
  return static_cast<uint64_t>(attributes.Int("seed"));
}

}  // namespace

KernelChain::KernelChain(absl::Span<const std::string> columns) : places_(columns.size()), of_columns_(true) {
  for (size_t i = 0; i < columns.size(); ++i) columns_.emplace_back(columns[i], i);
}

absl::Status KernelChain::Add(const ir::proto::Step& step) {
  HEADRACE_ASSIGN_OR_RETURN(Step made, Made(step, nullptr, 0));
  steps_.push_back(std::move(made));
  return absl::OkStatus();
}

absl::StatusOr<KernelChain::Step> KernelChain::Made(const ir::proto::Step& step, const Step* enclosing, int depth) {
  Step made;
  made.number = numbers_++;
  made.salt = step.salt();
  made.fused = step.fused();
  if (step.kernel().empty()) return made;
  made.name = NameOf(step);
  if (enclosing != nullptr) made.location = enclosing->location;
  if (!step.location().file().empty()) made.location = ir::LocationText(step.location());
  const auto failed = [&made](absl::Status status) { return At(std::move(status), made.name, made.location); };
  const ir::Declaration* const declaration = ir::Registry::Global().Find(step.kernel());
  if (declaration == nullptr) return failed(GraphError("there is no kernel ", step.kernel()));
  made.unary = declaration->max_inputs == 1;
  made.by_frame = declaration->OfClips() == ir::Clips::kByFrame;
  of_batches_ |= declaration->traits.by_batch;
  const ir::Attributes attributes = ir::Attributes::Of(step);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = MakeKernel(step.kernel(), attributes);
  if (!kernel.ok()) return failed(std::move(kernel).status());
  made.kernel = *std::move(kernel);
  made.seed = SeedOf(attributes);
  made.chooser = dynamic_cast<const Chooser*>(made.kernel.get());
  if (absl::Status found = FindColumns(step, made); !found.ok()) return failed(std::move(found));
  if (made.chooser == nullptr) return made;
  if (depth == ir::kDeepestChoosers) return ir::TooDeepChoosers(step.kernel());
  absl::Status branching = declaration->branching(attributes, static_cast<size_t>(step.branches_size())).status();
  if (!branching.ok()) return failed(std::move(branching));
  for (const ir::proto::Branch& branch : step.branches()) {
    std::vector<Step> steps;
    for (const ir::proto::Step& nested : branch.steps()) {
      HEADRACE_ASSIGN_OR_RETURN(Step of_branch, Made(nested, &made, depth + 1));
      steps.push_back(std::move(of_branch));
    }
    made.branches.push_back(std::move(steps));
  }
  return made;
}

absl::Status KernelChain::FindColumns(const ir::proto::Step& step, Step& made) {
  made.named = !step.inputs().empty();
  if (made.named != of_columns_) {
    return GraphError(of_columns_ ? "names no columns" : "names columns, and the values have no names");
  }
  for (const std::string& input : step.inputs()) {
    HEADRACE_ASSIGN_OR_RETURN(const size_t place, PlaceOf(input));
    made.inputs.push_back(place);
  }
  for (const std::string& output : step.outputs()) {
    const std::optional<size_t> place = FindPlace(output);
    if (!place.has_value()) columns_.emplace_back(output, places_++);
    made.outputs.push_back(place.value_or(places_ - 1));
    made.columns.push_back(output);
  }
  return absl::OkStatus();
}

std::optional<size_t> KernelChain::FindPlace(const std::string& column) const {
  for (const auto& [name, place] : columns_) {
    if (name == column) return place;
  }
  return std::nullopt;
}

absl::StatusOr<size_t> KernelChain::PlaceOf(const std::string& column) const {
  if (const std::optional<size_t> place = FindPlace(column); place.has_value()) return *place;
  return GraphError("no column \"", column, "\"", ir::DidYouMean(column, columns()));
}

absl::Status KernelChain::Keep(absl::Span<const std::string> columns) {
  std::vector<std::pair<std::string, size_t>> kept;
  for (const std::string& column : columns) {
    HEADRACE_ASSIGN_OR_RETURN(const size_t place, PlaceOf(column));
    kept.emplace_back(column, place);
  }
  columns_ = std::move(kept);
  return absl::OkStatus();
}

absl::Status KernelChain::Rename(const std::map<std::string, std::string>& names) {
  for (const auto& [from, _] : names) HEADRACE_RETURN_IF_ERROR(PlaceOf(from).status());
  for (auto& [column, _] : columns_) {
    if (const auto renamed = names.find(column); renamed != names.end()) column = renamed->second;
  }
  return absl::OkStatus();
}

void KernelChain::Fix(uint64_t seed) {
  const auto draws = [](const Step& step) { return step.chooser != nullptr; };
  if (std::any_of(steps_.begin(), steps_.end(), draws)) return;
  actions_ = ActionsOf(StepsOf(seed, RowId()), seed);
}

std::vector<std::string> KernelChain::columns() const {
  std::vector<std::string> names;
  for (const auto& [name, _] : columns_) names.push_back(name);
  return names;
}

RowRandom KernelChain::RandomOf(const Step& step, uint64_t seed, const RowId& id) {
  return RowRandom(step.seed.value_or(seed), step.salt, id);
}

KernelChain::Steps KernelChain::StepsOf(uint64_t seed, const RowId& id) const {
  Steps drawn;
  headrace::VisitDrawn(
      steps_, [&](const Step& step) { return RandomOf(step, seed, id); },
      [&](const Step& step) {
        // A chooser by itself only gives its columns their names.
        const bool does = step.chooser == nullptr ? step.kernel != nullptr : step.inputs != step.outputs;
        if (does) drawn.push_back(&step);
      });
  return drawn;
}

void KernelChain::VisitDrawn(uint64_t seed, const RowId& id, absl::FunctionRef<void(size_t step)> visit) const {
  headrace::VisitDrawn(
      steps_, [&](const Step& step) { return RandomOf(step, seed, id); },
      [&](const Step& step) { visit(step.number); });
}

KernelChain::Actions KernelChain::ActionsOf(const Steps& steps, uint64_t seed) const {
  if (!of_columns_) return ActionsOfAll(steps, seed);
  return ActionsOfColumns(absl::MakeConstSpan(steps), [seed](const Step& step) { return step.seed.value_or(seed); });
}

// Kernels of one value that follow each other may run as one.
KernelChain::Actions KernelChain::ActionsOfAll(const Steps& steps, uint64_t seed) {
  const auto seed_of = [seed](const Step& step) { return step.seed.value_or(seed); };
  Actions actions;
  for (absl::Span<const Step* const> left = steps; !left.empty();) {
    const auto joint = std::find_if(left.begin(), left.end(), [](const Step* step) { return !step->unary; });
    const auto unary = static_cast<size_t>(joint - left.begin());
    const size_t count = std::max<size_t>(unary, 1);
    AddActions(left.subspan(0, count), seed_of, actions);
    left.remove_prefix(count);
  }
  return actions;
}

Tensor KernelChain::SlotOf(const Action& action, absl::Span<const Tensor> slots) const {
  if (slots.empty() || !action.last_of.has_value()) return Tensor();
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].second == *action.last_of) return slots[i];
  }
  return Tensor();
}

absl::Status KernelChain::Run(uint64_t seed, const RowId& id, Row& row, absl::Span<const Tensor> slots) const {
  if (actions_.has_value()) return RunActions(*actions_, seed, id, row, slots);
  return RunActions(ActionsOf(StepsOf(seed, id), seed), seed, id, row, slots);
}

absl::Status KernelChain::RunActions(const Actions& actions, uint64_t seed, const RowId& id, Row& row,
                                     absl::Span<const Tensor> slots) const {
  if (of_columns_) row.resize(places_);
  for (const Action& action : actions) {
    OutputAllocator output(SlotOf(action, slots));
    HEADRACE_RETURN_IF_ERROR(RunOf(action, seed, id, output, row));
  }
  if (of_columns_) TakeColumns(row);
  return absl::OkStatus();
}

absl::Status KernelChain::RunOf(const Action& action, uint64_t seed, const RowId& id, OutputAllocator& output,
                                Row& row) const {
  bool fused = false;
  HEADRACE_RETURN_IF_ERROR(RunAction(
      action, output,
      [&](const Action& of_steps, OutputAllocator& into) { return fused = RunFused(of_steps, id, into, row); },
      [&](const Step& step, OutputAllocator& into) { return RunNamed(step, seed, id, into, row); }));
  return fused && StopSignal::Raised() ? StopSignal::Error() : absl::OkStatus();
}

absl::Status KernelChain::RunNamed(const Step& step, uint64_t seed, const RowId& id, OutputAllocator& output,
                                   Row& row) const {
  if (StopSignal::Raised()) return StopSignal::Error();
  absl::Status status = RunStep(step, seed, id, output, row);
  return status.ok() ? status : At(std::move(status), step.name, step.location);
}

bool KernelChain::RunFused(const Action& action, const RowId& id, OutputAllocator& output, Row& row) const {
  const auto apply = [&](const Tensor& value, OutputAllocator& into) {
    return of_batches_ ? action.fused->Apply(value, id, into, nullptr) : ApplyFused(action, value, id, into, nullptr);
  };
  if (of_columns_) {
    Tensor& column = row[action.steps[0]->inputs[0]];
    absl::StatusOr<Tensor> result = apply(column, output);
    if (result.ok()) column = *std::move(result);
    return result.ok();
  }
  Row results;
  for (const Tensor& value : row) {
    OutputAllocator own;
    absl::StatusOr<Tensor> result = apply(value, own);
    if (!result.ok()) return false;
    results.push_back(*std::move(result));
  }
  row = std::move(results);
  return true;
}

absl::StatusOr<Tensors> KernelChain::Apply(const Step& step, absl::Span<const Tensor> inputs, uint64_t seed,
                                           const RowId& id, OutputAllocator& output) const {
  KernelContext context(RandomOf(step, seed, id), output);
  const bool by_frame = step.by_frame && !of_batches_;
  return by_frame ? ApplyByFrame(*step.kernel, inputs, context) : step.kernel->Apply(inputs, context);
}

absl::Status KernelChain::RunOnAll(const Step& step, uint64_t seed, const RowId& id, Row& row) const {
  if (!step.unary) {
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(const Tensors outputs, Apply(step, row, seed, id, output));
    row.assign(outputs.begin(), outputs.end());
    return absl::OkStatus();
  }
  for (Tensor& value : row) {
    OutputAllocator output;
    HEADRACE_ASSIGN_OR_RETURN(Tensors outputs, Apply(step, {&value, 1}, seed, id, output));
    value = std::move(outputs[0]);
  }
  return absl::OkStatus();
}

absl::Status KernelChain::RunStep(const Step& step, uint64_t seed, const RowId& id, OutputAllocator& output,
                                  Row& row) const {
  if (!of_columns_) return RunOnAll(step, seed, id, row);
  Row inputs;
  for (const size_t place : step.inputs) inputs.push_back(row[place]);
  Tensors outputs;
  if (step.chooser != nullptr) {
    outputs.assign(inputs.begin(), inputs.end());
  } else {
    HEADRACE_ASSIGN_OR_RETURN(outputs, Apply(step, inputs, seed, id, output));
  }
  if (outputs.size() != step.outputs.size()) {
    return GraphError("gave ", outputs.size(), " values for ", step.outputs.size(), " columns");
  }
  for (size_t i = 0; i < outputs.size(); ++i) row[step.outputs[i]] = std::move(outputs[i]);
  return absl::OkStatus();
}

void KernelChain::TakeColumns(Row& row) const {
  Row taken;
  for (const auto& [_, place] : columns_) taken.push_back(std::move(row[place]));
  row = std::move(taken);
}

absl::Status KernelChain::Trace(uint64_t seed, const RowId& id, Row& row, Wrote wrote) const {
  row.resize(places_);
  for (const Step* step : StepsOf(seed, id)) {
    OutputAllocator output;
    HEADRACE_RETURN_IF_ERROR(RunNamed(*step, seed, id, output, row));
    for (size_t i = 0; i < step->outputs.size(); ++i) wrote(step->name, step->columns[i], row[step->outputs[i]]);
  }
  TakeColumns(row);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Own(Tensor tensor) {
  if (IsVariableLength(tensor.dtype()) || tensor.buffer().unique()) return tensor;
  OutputAllocator output;
  HEADRACE_ASSIGN_OR_RETURN(Tensor copy, output.Allocate(tensor.dtype(), tensor.shape()));
  if (tensor.elements() > 0) tensor.CopyTo(copy.mutable_raw());
  return copy;
}

}  // namespace headrace

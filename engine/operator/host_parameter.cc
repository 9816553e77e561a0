#include "engine/operator/host_parameter.h"

#include "core/error.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"

namespace headrace {

EpochRange ReaderEpochs::In(uint64_t epoch) const {
  EpochRange epochs{epoch, epoch};
  for (const EpochMapping& mapping : path_) {
    epochs = {mapping.FirstInput(epochs.first), mapping.LastInput(epochs.last)};
  }
  if (cycle_ == 0) return epochs;
  const EpochRange all{0, cycle_ - 1};
  if (epochs.last - epochs.first >= all.last) return all;
  const EpochRange within{epochs.first % cycle_, epochs.last % cycle_};
  return within.first <= within.last ? within : all;
}

absl::StatusOr<std::vector<Tensor>> HostParameter::Call(absl::Span<const Tensor>, RowRandom*, OutputAllocator&) {
  return InternalError("a parameter is no function of rows");
}

ParameterSet ParametersRead(const OpArguments& arguments) {
  ParameterSet read;
  if (arguments.run->bindings == nullptr) return read;
  const auto& functions = arguments.run->bindings->functions;
  const auto add = [&](const std::string& reference) {
    const auto found = functions.find(reference);
    if (found == functions.end()) return;
    if (auto parameter = std::dynamic_pointer_cast<HostParameter>(found->second)) read[parameter->name()] = parameter;
    const auto* reader = dynamic_cast<const ParameterReader*>(found->second.get());
    if (reader == nullptr) return;
    for (const auto& each : reader->parameters()) read[each->name()] = each;
  };
  const auto add_all = [&](const auto& attributes) {
    for (const ir::proto::Attribute& attribute : attributes) {
      if (attribute.value().has_reference()) add(attribute.value().reference().name());
    }
  };
  add_all(arguments.node->attributes());
  ir::VisitSteps(arguments.node->steps(), [&](const ir::proto::Step& step) { add_all(step.attributes()); });
  return read;
}

absl::StatusOr<std::shared_ptr<HostFunction>> FunctionInEpoch(std::shared_ptr<HostFunction> function, uint64_t epoch) {
  const auto* const reader = dynamic_cast<const ParameterReader*>(function.get());
  if (reader == nullptr || reader->parameters().empty()) return function;
  return reader->InEpoch(epoch);
}

}  // namespace headrace

#include "engine/plan/parameter_uses.h"

#include <vector>

#include "absl/functional/function_ref.h"
#include "core/error.h"
#include "core/text.h"
#include "engine/operator/host_parameter.h"
#include "ir/graph.pb.h"
#include "ir/parameters.h"
#include "ir/value_text.h"

namespace headrace {
namespace {

using VisitReader = absl::FunctionRef<void(HostParameter& parameter, const ReaderEpochs& epochs)>;

void VisitReaders(const PlanNode& node, std::vector<EpochMapping>& path, VisitReader visit) {
  for (const auto& [_, parameter] : ParametersRead(node.arguments)) {
    visit(*parameter, ReaderEpochs(path, node.arguments.epoch_cycle));
  }
  path.push_back(node.properties.epochs);
  for (const auto& input : node.inputs) VisitReaders(*input, path, visit);
  path.pop_back();
}

void VisitReaders(const PlanNode& root, VisitReader visit) {
  std::vector<EpochMapping> path;
  VisitReaders(root, path, visit);
}

absl::Status AppendValues(HostParameter& parameter, EpochRange epochs, std::string& text) {
  // An endless repeat has more passes than can be listed.
  constexpr uint64_t kMostPasses = 1 << 16;
  if (epochs.last - epochs.first >= kMostPasses) {
    return GraphError("a cache cannot keep what an endless repeat gives with values of ",
                      ir::ParameterText(parameter.name()), ": put the repeat above the cache");
  }
  std::string before;
  for (uint64_t epoch = epochs.first; epoch <= epochs.last; ++epoch) {
    HEADRACE_ASSIGN_OR_RETURN(const ir::proto::Value value, parameter.ValueIn(epoch));
    std::string now = ir::ValueText(value);
    if (now != before) Append(text, " parameter ", parameter.name(), " from ", epoch, " ", now);
    before = std::move(now);
  }
  return absl::OkStatus();
}

}  // namespace

void TellReaders(const PlanNode& root) {
  VisitReaders(root, [](HostParameter& parameter, const ReaderEpochs& epochs) { parameter.AddReader(epochs); });
}

bool ReadsParameters(const PlanNode& node) {
  bool reads = false;
  VisitReaders(node, [&reads](HostParameter&, const ReaderEpochs&) { reads = true; });
  return reads;
}

absl::StatusOr<std::string> ValuesInFirstEpoch(const PlanNode& node) {
  std::string text;
  absl::Status status;
  VisitReaders(node, [&](HostParameter& parameter, const ReaderEpochs& epochs) {
    if (status.ok()) status = AppendValues(parameter, epochs.In(0), text);
  });
  if (!status.ok()) return status;
  return text;
}

}  // namespace headrace

#include "kernels/fused_run.h"

#include <utility>
#include <vector>

namespace headrace {
namespace {

std::vector<FusedRunMaker>& Makers() {
  static std::vector<FusedRunMaker> makers;
  return makers;
}

}  // namespace

FusedRunRegistration::FusedRunRegistration(FusedRunMaker maker) { Makers().push_back(maker); }

std::shared_ptr<const FusedRun> FuseRun(absl::Span<const FusedRun::Part> parts) {
  std::shared_ptr<const FusedRun> longest;
  for (const FusedRunMaker make : Makers()) {
    std::shared_ptr<const FusedRun> run = make(parts);
    if (run != nullptr && (longest == nullptr || run->parts() > longest->parts())) longest = std::move(run);
  }
  return longest;
}

}  // namespace headrace

#include "python/binding/process/kept_processes.h"

#include <iterator>
#include <utility>

namespace headrace::python {
namespace {

// Further ones end, the one that has waited longest first.
constexpr size_t kMostKept = 64;

}  // namespace

KeptProcesses& KeptProcesses::OfProgram() {
  // Never destroyed, because pools may end late.
  static auto* const kept = new KeptProcesses;
  return *kept;
}

std::unique_ptr<WorkerProcess> KeptProcesses::Take(const std::string& name) {
  if (Forked()) return nullptr;
  std::list<Kept> dead;
  const std::lock_guard lock(mutex_);
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const auto here = kept++;
    if (here->name != name) continue;
    if (!here->process->Ended()) {
      std::unique_ptr<WorkerProcess> process = std::move(here->process);
      kept_.erase(here);
      return process;
    }
    dead.splice(dead.end(), kept_, here);
  }
  return nullptr;
}

void KeptProcesses::Keep(std::string name, std::unique_ptr<WorkerProcess> process) {
  if (Forked()) {
    process.release();
    return;
  }
  process->LeaveTask();
  std::list<Kept> ended;
  const std::lock_guard lock(mutex_);
  kept_.push_front({std::move(name), std::move(process)});
  if (kept_.size() > kMostKept) ended.splice(ended.end(), kept_, std::prev(kept_.end()));
}

void KeptProcesses::EndAll() {
  if (Forked()) return;
  std::list<Kept> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(kept_);
}

}  // namespace headrace::python

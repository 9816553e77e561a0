#include "python/binding/process/kept_processes.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace headrace::python {
namespace {

// Further ones end, the one that has waited longest first. A kind of its own for each environment or folder, and each
// edit of a module, would otherwise leave more and more behind.
size_t MostKept() { return std::max<size_t>(16, 2 * std::thread::hardware_concurrency()); }

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
  // A fork keeps nothing for the program that it came of.
  if (Forked()) return;
  process->LeaveTask();
  std::list<Kept> ended;
  const std::lock_guard lock(mutex_);
  kept_.push_front({std::move(name), std::move(process)});
  if (kept_.size() > MostKept()) ended.splice(ended.end(), kept_, std::prev(kept_.end()));
}

void KeptProcesses::EndAll() {
  if (Forked()) return;
  std::list<Kept> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(kept_);
}

}  // namespace headrace::python

#include "python/headrace/orphans.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace headrace::python {
namespace {

struct Ending {
  std::mutex mutex;
  std::condition_variable all_ended;
  int count = 0;
};

// Never destroyed: threads may end late.
Ending& TheEnding() {
  static auto* const ending = new Ending;
  return *ending;
}

void Destroy(Iteration* iteration) {
  delete iteration;
  Ending& ending = TheEnding();
  const std::lock_guard<std::mutex> lock(ending.mutex);
  --ending.count;
  ending.all_ended.notify_all();
}

}  // namespace

void EndOrphan(std::unique_ptr<Iteration> iteration) {
  iteration->Close();
  Ending& ending = TheEnding();
  const std::lock_guard<std::mutex> lock(ending.mutex);
  Iteration* const orphan = iteration.release();
  try {
    std::thread(Destroy, orphan).detach();
    ++ending.count;
  } catch (const std::system_error&) {
    // The machine has no more threads: it stays, stopped.
  }
}

void WaitForOrphans() {
  Ending& ending = TheEnding();
  std::unique_lock<std::mutex> lock(ending.mutex);
  ending.all_ended.wait(lock, [&ending] { return ending.count == 0; });
}

}  // namespace headrace::python

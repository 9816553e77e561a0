#include "python/binding/host/orphans.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace headrace::python {
namespace {

struct Ending {
  std::mutex mutex;
  std::condition_variable all_ended;
  int count = 0;
};

// Never destroyed, because threads may end late.
Ending& TheEnding() {
  static auto* const ending = new Ending;
  return *ending;
}

void Destroy(Session* session) {
  pthread_setname_np(pthread_self(), "headrace-end");
  delete session;
}

void DestroyAndSaySo(Session* session) {
  Destroy(session);
  Ending& ending = TheEnding();
  const std::lock_guard<std::mutex> lock(ending.mutex);
  --ending.count;
  ending.all_ended.notify_all();
}

// Blocks signals, so that the program's threads receive them: a thread started within its life inherits that.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// False: the machine has no more threads, or no memory. Then the session is leaked, stopped.
bool DestroyOnAThread(std::unique_ptr<Session> session, void (*destroy)(Session*)) {
  const BlockedSignals blocked;
  Session* const orphan = session.release();
  try {
    std::thread(destroy, orphan).detach();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void EndOrphan(std::unique_ptr<Session> session) {
  Ending& ending = TheEnding();
  const std::lock_guard<std::mutex> lock(ending.mutex);
  if (DestroyOnAThread(std::move(session), DestroyAndSaySo)) ++ending.count;
}

void LeaveBehind(std::unique_ptr<Session> session) { DestroyOnAThread(std::move(session), Destroy); }

void WaitForOrphans(std::chrono::steady_clock::time_point until) {
  Ending& ending = TheEnding();
  std::unique_lock<std::mutex> lock(ending.mutex);
  ending.all_ended.wait_until(lock, until, [&ending] { return ending.count == 0; });
}

}  // namespace headrace::python

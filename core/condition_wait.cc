// `std::condition_variable::wait` in the engine's own code. GCC 12's libstdc++ gives the function a new version,
// GLIBCXX_3.4.30, which is the one symbol that the libstdc++ of RHEL 9 and the like lacks: linking finds this one
// first. Threads: any; the caller holds the lock, as for the original.

#include <pthread.h>

#include <condition_variable>
#include <exception>
#include <mutex>

void std::condition_variable::wait(std::unique_lock<std::mutex>& lock) {
  // Fails only for a lock that is not held, as the original does.
  if (pthread_cond_wait(native_handle(), lock.mutex()->native_handle()) != 0) std::terminate();
}

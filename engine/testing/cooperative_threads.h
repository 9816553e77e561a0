// `CooperativeThreads` runs threads of which one runs at a time; a random number decides which one runs next. A
// schedule is a function of its seed, and a schedule in which all threads wait is recognized as a hang at once. The
// threads are fibers, contexts of the thread that calls Run: between system threads a turn costs a wake-up, which takes
// most of a schedule's time, and far more if other programs run.
// Threads: Run is called by the test; the rest by the fibers, while they have the turn. No system lock may be held at a
// point where the turn may pass on.
#ifndef HEADRACE_ENGINE_TESTING_COOPERATIVE_THREADS_H_
#define HEADRACE_ENGINE_TESTING_COOPERATIVE_THREADS_H_

#include <ucontext.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/row_id.h"

namespace headrace {

// Random numbers for schedules, never for results.
class ScheduleRandom {
 public:
  explicit ScheduleRandom(uint64_t seed) : state_(Scramble(seed)) {}
  uint64_t Below(uint64_t bound) { return (state_ = Scramble(state_)) % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

class CooperativeThreads {
 public:
  explicit CooperativeThreads(uint64_t seed) : random_(seed) {}
  void Add(std::function<void()> body);
  // False: it hung, and the threads that waited were ended.
  bool Run();

  // The schedule that the calling thread takes part in.
  static CooperativeThreads* Current();
  // A point at which another thread may get the turn.
  void Yield();
  // Gives up the turn until `point` is notified.
  void Wait(const void* point);
  void Notify(const void* point);

 private:
  struct Fiber {
    ucontext_t context = {};
    // For the sanitizers. The stack of the thread that calls Run becomes known at the first switch from it.
    const void* stack = nullptr;
    size_t stack_bytes = 0;
    void* sanitizer_stack = nullptr;
    void* sanitizer_fiber = nullptr;
  };
  struct Thread {
    std::function<void()> body;
    std::unique_ptr<char[]> stack;
    Fiber fiber;
    const void* waits_on = nullptr;
    bool ended = false;
  };
  struct Hung {};

  static void Enter();
  void Work(Thread& thread);
  Thread* Choose();
  void PassTurn(Thread& self);
  // What runs after a thread has ended: the next one, one that waits for good, or the caller of Run.
  Fiber& After();
  // Returns when `from` gets the turn again; never if it ends.
  static void Switch(Fiber& from, Fiber& to, bool ends);

  ScheduleRandom random_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> able_;
  Fiber home_;
  Thread* running_ = nullptr;  // has the turn
  bool hung_ = false;
};

// What a connector waits on in such a schedule. A site is a kind of wake-up: the action that notifies, and the wake
// that is notified.
class CooperativeWake {
 public:
  CooperativeWake();

  template <typename Predicate>
  void Wait(std::unique_lock<std::mutex>& lock, Predicate done) {
    while (!done()) {
      lock.unlock();
      CooperativeThreads::Current()->Wait(this);
      lock.lock();
    }
  }
  template <typename Predicate>
  bool WaitFor(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds /*limit*/, Predicate done) {
    Wait(lock, done);
    return true;
  }
  void Notify();

  // Sets what the thread that has the turn does now; nullptr: nothing.
  static void Doing(const char* what);
  // Loses the wake-ups of one site: all, or the `only`-th (from 0). `wake` counts the wakes that are made from now on:
  // 0 is the first. Also resets Seen().
  struct Loss {
    const char* doing = nullptr;
    int wake = -1;
    int only = -1;
  };
  static void Lose(Loss loss);
  // Wake-ups at that site since Lose().
  static int Seen();

 private:
  int number_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_COOPERATIVE_THREADS_H_

// `Interrupt` ends long work early, as for Ctrl-C: while one exists on a thread, whatever takes long on that thread
// asks it, and ends with kClosed once it is wanted. Use it around work that a user waits for; listings ask `Check`, all
// other work `StopSignal::Raised` (core/stop_signal.h), which asks it too.
// Threads: made, asked and destroyed on one thread; other threads may follow it during its life.
#ifndef HEADRACE_CORE_INTERRUPT_H_
#define HEADRACE_CORE_INTERRUPT_H_

#include <atomic>
#include <chrono>
#include <functional>

#include "absl/status/status.h"

namespace headrace {

class Interrupt {
 public:
  static constexpr std::chrono::milliseconds kInterval{50};

  // `wanted` is called on this thread only, at most once per interval, first after `first`, and not again after it
  // returned true.
  explicit Interrupt(std::function<bool()> wanted, std::chrono::milliseconds first = kInterval);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // Whether the interrupt of the calling thread was wanted; false if there is none.
  static bool Wanted();
  // kClosed once it was wanted.
  static absl::Status Check();
  // Returns the interrupt of the calling thread; null: none.
  static Interrupt* Current();

  // For a thread that works for the thread of `interrupt`; null: no interrupt.
  class Follow {
   public:
    explicit Follow(Interrupt* interrupt);
    ~Follow();
    Follow(const Follow&) = delete;
  };

 private:
  bool Came();

  const std::function<bool()> wanted_;
  Interrupt* const outer_;
  std::chrono::steady_clock::time_point next_;  // of the thread that made it
  std::atomic<bool> came_{false};
};

}  // namespace headrace

#endif  // HEADRACE_CORE_INTERRUPT_H_

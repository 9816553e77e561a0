// `Interrupt` ends a listing early, as for Ctrl-C: while one exists on a thread, file-system calls of the thread that
// list and stat files ask it, and return kClosed once it is wanted.
// Threads: made, asked and destroyed on one thread; other threads may follow it during its life.
#ifndef HEADRACE_IO_FILES_INTERRUPT_H_
#define HEADRACE_IO_FILES_INTERRUPT_H_

#include <atomic>
#include <chrono>
#include <functional>

#include "absl/status/status.h"

namespace headrace {

class Interrupt {
 public:
  static constexpr std::chrono::milliseconds kInterval{50};

  // `wanted` is called on this thread only, at most once per interval, and not again after it returned true.
  explicit Interrupt(std::function<bool()> wanted);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // kClosed once the interrupt of the calling thread was wanted; OK if there is none.
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

#endif  // HEADRACE_IO_FILES_INTERRUPT_H_

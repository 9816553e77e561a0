// Lets whoever waits for a listing give it up, as Ctrl-C does: while an Interrupt stands on a thread, the file system's
// calls there that list and look at files ask it, and end with kClosed once it says so.
// Thread contract: made, asked and destroyed on one thread; others may follow it while it stands.
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

  // `wanted` is called on this thread alone, at most once an interval, and not again once it was true.
  explicit Interrupt(std::function<bool()> wanted);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;

  // kClosed once the interrupt of the calling thread was wanted; OK where none stands.
  static absl::Status Check();
  // Of the calling thread; null: none.
  static Interrupt* Current();

  // For a thread that works for the one on which `interrupt` stands; null: none does.
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

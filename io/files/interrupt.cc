#include "io/files/interrupt.h"

#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

thread_local Interrupt* current = nullptr;
// The thread only follows the interrupt and never calls `wanted`.
thread_local bool follows = false;

}  // namespace

Interrupt::Interrupt(std::function<bool()> wanted)
    : wanted_(std::move(wanted)),
      outer_(std::exchange(current, this)),
      next_(std::chrono::steady_clock::now() + kInterval) {}

Interrupt::~Interrupt() { current = outer_; }

Interrupt* Interrupt::Current() { return current; }

absl::Status Interrupt::Check() {
  if (current == nullptr || !current->Came()) return absl::OkStatus();
  return MakeError(ErrorKind::kClosed, "the listing was interrupted");
}

bool Interrupt::Came() {
  if (came_.load(std::memory_order_relaxed) || follows) return came_.load(std::memory_order_relaxed);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kInterval;
  if (wanted_()) came_.store(true, std::memory_order_relaxed);
  return came_.load(std::memory_order_relaxed);
}

Interrupt::Follow::Follow(Interrupt* interrupt) {
  current = interrupt;
  follows = true;
}

Interrupt::Follow::~Follow() {
  current = nullptr;
  follows = false;
}

}  // namespace headrace

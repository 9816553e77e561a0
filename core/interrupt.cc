#include "core/interrupt.h"

#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

thread_local Interrupt* current = nullptr;
// The thread only follows the interrupt and never calls `wanted`.
thread_local bool follows = false;

}  // namespace

Interrupt::Interrupt(std::function<bool()> wanted, std::chrono::milliseconds first)
    : wanted_(std::move(wanted)),
      outer_(std::exchange(current, this)),
      next_(std::chrono::steady_clock::now() + first) {}

Interrupt::~Interrupt() { current = outer_; }

Interrupt* Interrupt::Current() { return current; }

bool Interrupt::Wanted() { return current != nullptr && current->Came(); }

absl::Status Interrupt::Check() {
  return Wanted() ? MakeError(ErrorKind::kClosed, "the listing was interrupted") : absl::OkStatus();
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

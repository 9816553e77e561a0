#include "io/files/http/late_calls.h"

#include <utility>

namespace headrace::http {

LateCalls::Place LateCalls::Add(int64_t ns, std::function<void()> call) {
  const Place place = waiting_.emplace(transport_->Now() + ns, std::move(call));
  SetTimer();
  return place;
}

// One that comes too early, as what it was for was removed, sets the next.
void LateCalls::SetTimer() {
  if (waiting_.empty()) return;
  const int64_t due_ns = waiting_.begin()->first;
  if (timer_ns_ >= 0 && timer_ns_ <= due_ns) return;
  timer_ns_ = due_ns;
  ++timers_;
  transport_->After(due_ns - transport_->Now(), [weak = weak_from_this(), due_ns] {
    const std::shared_ptr<LateCalls> self = weak.lock();
    if (self == nullptr) return;
    if (self->timer_ns_ == due_ns) self->timer_ns_ = -1;
    self->CallDue();
  });
}

void LateCalls::CallDue() {
  const int64_t now_ns = transport_->Now();
  while (!waiting_.empty() && waiting_.begin()->first <= now_ns) {
    const auto due = waiting_.extract(waiting_.begin());
    due.mapped()();
  }
  SetTimer();
}

}  // namespace headrace::http

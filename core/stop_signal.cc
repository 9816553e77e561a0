#include "core/stop_signal.h"

#include <utility>

#include "core/error.h"
#include "core/interrupt.h"

namespace headrace {
namespace {

thread_local const std::atomic<bool>* current_stop = nullptr;

}  // namespace

StopSignal::StopSignal(const std::atomic<bool>* stop) : outer_(std::exchange(current_stop, stop)) {}

StopSignal::~StopSignal() { current_stop = outer_; }

bool StopSignal::Raised() {
  return (current_stop != nullptr && current_stop->load(std::memory_order_relaxed)) || Interrupt::Wanted();
}

absl::Status StopSignal::Error() { return MakeError(ErrorKind::kClosed, "the iterator was closed in the midst of it"); }

}  // namespace headrace

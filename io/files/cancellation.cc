#include "io/files/cancellation.h"

#include <new>
#include <utility>

namespace headrace {
namespace {

thread_local Cancellation::Scope* cancellation_here = nullptr;

// Destructors cancel, and ends take memory: a function for the thread of a network.
void EndIfPossible(const std::function<void()>& end) noexcept {
  try {
    end();
  } catch (const std::bad_alloc&) {
    // The call completes by itself.
  }
}

}  // namespace

Cancellation::Scope::Scope(std::shared_ptr<Cancellation> cancellation)
    : cancellation_(std::move(cancellation)), outer_(std::exchange(cancellation_here, this)) {}

Cancellation::Scope::~Scope() { cancellation_here = outer_; }

std::shared_ptr<Cancellation> Cancellation::Current() {
  return cancellation_here == nullptr ? nullptr : cancellation_here->cancellation_;
}

void Cancellation::Add(std::function<void()> end) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!cancelled_) {
      ends_.push_back(std::move(end));
      return;
    }
  }
  end();
}

void Cancellation::Cancel() noexcept {
  std::vector<std::function<void()>> ends;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancelled_ = true;
    ends.swap(ends_);
  }
  for (const std::function<void()>& end : ends) EndIfPossible(end);
}

bool Cancellation::cancelled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cancelled_;
}

}  // namespace headrace

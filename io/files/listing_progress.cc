#include "io/files/listing_progress.h"

#include <utility>

namespace headrace {
namespace {

thread_local const ListingProgress::Scope* thread_progress = nullptr;

std::chrono::nanoseconds SteadyNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

ListingProgress::Scope::Scope(Show show, Clock clock)
    : show_(std::move(show)),
      clock_(clock ? std::move(clock) : SteadyNow),
      outer_(std::exchange(thread_progress, this)) {}

ListingProgress::Scope::~Scope() { thread_progress = outer_; }

ListingProgress::ListingProgress(std::string folder) : scope_(thread_progress) {
  seen_.folder = std::move(folder);
  if (scope_ == nullptr) return;
  begun_ = scope_->clock_();
  next_ = begun_ + kFirst;
}

void ListingProgress::End() {
  if (shown_) ShowSeen(true);
}

void ListingProgress::Add(int64_t entries) {
  seen_.entries += entries;
  if (scope_ == nullptr || scope_->clock_() < next_) return;
  ShowSeen(false);
  next_ = begun_ + seen_.since_start + kInterval;
}

void ListingProgress::ShowSeen(bool ended) {
  seen_.since_start = scope_->clock_() - begun_;
  seen_.ended = ended;
  shown_ = true;
  scope_->show_(seen_);
}

}  // namespace headrace

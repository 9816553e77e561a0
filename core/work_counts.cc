#include "core/work_counts.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

thread_local WorkCounts* current_counts = nullptr;

bool IsBefore(const WorkCounts::Count& count, std::string_view name) { return count.name < name; }

}  // namespace

WorkCounts::Scope::Scope(WorkCounts* counts) : outer_(std::exchange(current_counts, counts)) {}

WorkCounts::Scope::~Scope() { current_counts = outer_; }

void WorkCounts::Add(std::string_view name) {
  if (current_counts != nullptr) current_counts->AddOne(name);
}

void WorkCounts::AddOne(std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::lower_bound(counts_.begin(), counts_.end(), name, IsBefore);
  if (found != counts_.end() && found->name == name) {
    ++found->number;
  } else {
    counts_.insert(found, {name, 1});
  }
}

std::vector<WorkCounts::Count> WorkCounts::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

}  // namespace headrace

// `ArrowClasses` numbers the names of a column's classes, in their order.
// Threads: const; any thread.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_CLASSES_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/seeded_hash.h"

namespace headrace {

class ArrowClasses {
 public:
  // A name that stands twice has its first number.
  explicit ArrowClasses(std::vector<std::string> names) : names_(std::move(names)) {
    for (size_t i = 0; i < names_.size(); ++i) numbers_.try_emplace(names_[i], static_cast<int64_t>(i));
  }

  const std::vector<std::string>& names() const { return names_; }
  // -1: there is no such class.
  int64_t NumberOf(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t, SeededHash, std::equal_to<>> numbers_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_CLASSES_H_

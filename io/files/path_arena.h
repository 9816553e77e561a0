// `PathArena` holds many paths in one block of memory: a million of them are two allocations, not a million strings.
// Threads: filled by one thread; const afterwards and readable from any. Views are valid until the next Add, and as
// long as the arena exists.
#ifndef HEADRACE_IO_FILES_PATH_ARENA_H_
#define HEADRACE_IO_FILES_PATH_ARENA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace headrace {

class PathArena {
 public:
  PathArena() = default;
  // Restores an arena from ends() and text(); nullopt if they do not match.
  static std::optional<PathArena> FromParts(std::vector<uint64_t> ends, std::string text);

  void Reserve(int64_t paths, int64_t bytes);
  void Add(std::string_view path);
  void Append(const PathArena& other);
  // Sorts the paths in byte order and drops duplicates.
  void SortUnique();

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](int64_t i) const {
    const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  absl::Span<const uint64_t> ends() const { return ends_; }
  std::string_view text() const { return text_; }

 private:
  std::vector<uint64_t> ends_;
  std::string text_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_PATH_ARENA_H_

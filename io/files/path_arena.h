// Many paths in one run of memory: a million of them are two allocations, not a million strings.
// Thread contract: filled by one thread; const afterwards and readable from any. Views live as long as the arena and
// only until the next Add.
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
  // Of parts as ends() and text() gave them; nothing where they do not fit together.
  static std::optional<PathArena> FromParts(std::vector<uint64_t> ends, std::string text);

  void Reserve(int64_t paths, int64_t bytes);
  void Add(std::string_view path);
  void Append(const PathArena& other);
  // Puts the paths into byte order and drops repeated ones.
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

#include "io/files/path_arena.h"

#include <algorithm>
#include <utility>

namespace headrace {

std::optional<PathArena> PathArena::FromParts(std::vector<uint64_t> ends, std::string text) {
  uint64_t last = 0;
  for (const uint64_t end : ends) {
    if (end <= last) return std::nullopt;  // an empty path names no file
    last = end;
  }
  if (last != text.size()) return std::nullopt;
  PathArena arena;
  arena.ends_ = std::move(ends);
  arena.text_ = std::move(text);
  return arena;
}

void PathArena::Reserve(int64_t paths, int64_t bytes) {
  ends_.reserve(paths);
  text_.reserve(bytes);
}

void PathArena::Add(std::string_view path) {
  text_.append(path);
  ends_.push_back(text_.size());
}

void PathArena::Append(const PathArena& other) {
  const uint64_t begin = text_.size();
  text_.append(other.text_);
  for (const uint64_t end : other.ends_) ends_.push_back(begin + end);
}

void PathArena::SortUnique() {
  std::vector<std::string_view> paths;
  paths.reserve(ends_.size());
  for (int64_t i = 0; i < size(); ++i) paths.push_back((*this)[i]);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  PathArena sorted;
  sorted.Reserve(size(), static_cast<int64_t>(text_.size()));
  for (const std::string_view path : paths) sorted.Add(path);
  *this = std::move(sorted);
}

}  // namespace headrace

#include "io/files/plain_path.h"

#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "core/seeded_hash.h"

namespace headrace {
namespace {

constexpr std::string_view kFileScheme = "file://";

// Whether the path may be another's in other words: of paths that are alike in form, different ones name different
// files.
bool IsInOtherWords(std::string_view path, bool absolute) {
  return (path.substr(0, 1) == "/") != absolute || path.substr(0, 2) == "./" ||
         path.find("/./") != std::string_view::npos || path.find("//") != std::string_view::npos;
}

}  // namespace

std::string PlainPath(std::string_view path) {
  if (path.substr(0, kFileScheme.size()) == kFileScheme) path.remove_prefix(kFileScheme.size());
  if (path.find("://") != std::string_view::npos) return std::string(path);
  std::string plain;
  if (path.substr(0, 1) != "/") {
    std::error_code failed;
    plain = std::filesystem::current_path(failed).string();
    if (plain == "/") plain.clear();
  }
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size() < path.size() ? part.size() + 1 : part.size());
    if (part.empty() || part == ".") continue;
    plain += '/';
    plain += part;
  }
  return plain;
}

void DropNamedTwice(PathArena& paths) {
  bool in_other_words = false;
  for (int64_t i = 0; i < paths.size() && !in_other_words; ++i) {
    in_other_words = IsInOtherWords(paths[i], paths[0].substr(0, 1) == "/");
  }
  if (!in_other_words) return;
  std::unordered_set<std::string, SeededHash> seen;
  PathArena kept;
  for (int64_t i = 0; i < paths.size(); ++i) {
    if (seen.insert(PlainPath(paths[i])).second) kept.Add(paths[i]);
  }
  paths = std::move(kept);
}

}  // namespace headrace

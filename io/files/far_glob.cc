#include "io/files/far_glob.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/far_files.h"
#include "io/files/glob.h"
#include "io/files/plainly_missing.h"

namespace headrace {
namespace {

constexpr std::string_view kAnyFolders = "**";
constexpr std::string_view kBracketed = "*?[;";  // that a name may be written with
constexpr size_t kLongestFarPart = 4096;         // as Glob's

// Where the first sign that matches several names is; npos: there is none. `literal`: the text before, without brackets
// around single signs. A dot in brackets is not one: the first of a name must be written out.
size_t FirstWildcard(std::string_view pattern, std::string& literal) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at];
    if (letter == '*' || letter == '?') return at;
    const bool bracket = letter == '[' && pattern.find(']', at + 2) != std::string_view::npos;
    const bool single = bracket && pattern[at + 2] == ']' && kBracketed.find(pattern[at + 1]) != kBracketed.npos;
    if (bracket && !single) return at;
    if (bracket) {
      literal += pattern[at + 1];
      at += 2;
    } else {
      literal += letter;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> PartsBelow(std::string_view pattern) {
  std::vector<std::string_view> parts;
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
    const bool again = part == kAnyFolders && !parts.empty() && parts.back() == kAnyFolders;
    if (!part.empty() && !again) parts.push_back(part);
  }
  return parts;
}

// Matches names relative to a folder against the parts of a pattern: goes through the parts of the name, with all
// parts of the pattern that may come next.
class PartMatcher {
 public:
  explicit PartMatcher(std::vector<std::string_view> parts)
      : parts_(std::move(parts)),
        least_slashes_(static_cast<std::ptrdiff_t>(parts_.size()) - 1 -
                       std::count(parts_.begin(), parts_.end(), kAnyFolders)) {}

  size_t parts() const { return parts_.size(); }
  bool AnyFolders() const {
    for (const std::string_view part : parts_) {
      if (part == kAnyFolders) return true;
    }
    return false;
  }

  bool Matches(std::string_view name) {
    // So that a pattern of very many parts costs nothing for most names.
    if (std::count(name.begin(), name.end(), '/') < least_slashes_) return false;
    next_.assign(parts_.size() + 1, false);
    Reach(0, next_);
    while (true) {
      const size_t slash = name.find('/');
      Advance(name.substr(0, slash));
      if (slash == std::string_view::npos) return next_[parts_.size()];
      name.remove_prefix(slash + 1);
    }
  }

 private:
  // A ** that is not the last part may stand for no folder.
  void Reach(size_t part, std::vector<bool>& next) const {
    next[part] = true;
    if (part + 1 < parts_.size() && parts_[part] == kAnyFolders) next[part + 1] = true;
  }

  void Advance(std::string_view name) {
    after_.assign(parts_.size() + 1, false);
    for (size_t part = 0; part < parts_.size(); ++part) {
      if (!next_[part]) continue;
      if (parts_[part] != kAnyFolders) {
        if (MatchesPattern(parts_[part], name)) Reach(part + 1, after_);
      } else if (!name.starts_with('.')) {
        Reach(part, after_);
        if (part + 1 == parts_.size()) after_[part + 1] = true;
      }
    }
    next_.swap(after_);
  }

  const std::vector<std::string_view> parts_;
  const std::ptrdiff_t least_slashes_;
  std::vector<bool> next_;
  std::vector<bool> after_;
};

absl::Status TakeFarFile(const FileSystem& store, const std::string& path, PathArena& found) {
  const absl::StatusOr<FileStat> stat = store.Stat(path);
  if (!stat.ok()) return IsPlainlyMissing(stat.status()) ? MissingPathError(store, path) : stat.status();
  if (stat->type == EntryType::kFolder) {
    return NotFoundError(path, " is a folder, not a file: write ", JoinPath(path, "*"), " for the files in it, or ",
                         JoinPath(path, "**"), " for those in its folders, too");
  }
  found.Add(path);
  return absl::OkStatus();
}

absl::Status CheckFarParts(std::string_view pattern, const PartMatcher& matcher,
                           const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    if (part.size() <= kLongestFarPart) continue;
    return GraphError("a part of the pattern has ", part.size(), " bytes; a part with *, ? or [ has at most ",
                      kLongestFarPart);
  }
  if (matcher.parts() > 0) return absl::OkStatus();
  return GraphError(pattern, " ends in a folder; write the name of a file after it, or *");
}

struct FarMatches {
  PathArena paths;
  bool itself = false;  // a file has the very name of the pattern
  int64_t listed = 0;
};

// Looks no deeper than the pattern does.
absl::Status MatchListed(const FileSystem& store, const std::string& folder, std::string_view below,
                         PartMatcher& matcher, FarMatches& matches) {
  const bool one_level = matcher.parts() == 1 && !matcher.AnyFolders();
  // The root of the host that is meant where none is named: "hdfs:///".
  const std::string named = folder.size() == RootOf(folder).size() ? Cat(folder, "/") : folder;
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FolderPages> pages,
                            one_level ? store.ListPages(named, true) : store.far()->ListTree(named));
  while (true) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<FolderEntry> page, pages->Next());
    if (page.empty()) return absl::OkStatus();
    matches.listed += static_cast<int64_t>(page.size());
    for (const FolderEntry& entry : page) {
      if (entry.type != EntryType::kFile || entry.name.empty() || entry.name.back() == '/') continue;
      matches.itself = matches.itself || entry.name == below;
      if (matcher.Matches(entry.name)) matches.paths.Add(Cat(folder, "/", entry.name));
    }
  }
}

}  // namespace

bool HasWildcards(std::string_view pattern) {
  std::string literal;
  return FirstWildcard(pattern, literal) != std::string_view::npos;
}

absl::Status FarGlob(const FileSystem& store, const std::string& pattern, PathArena& found) {
  std::string literal;
  if (FirstWildcard(pattern, literal) == std::string_view::npos) return TakeFarFile(store, literal, found);
  const size_t slash = literal.rfind('/');
  const size_t root = RootOf(pattern).size();
  if (slash == std::string::npos || slash < root) {
    return GraphError(pattern, ": a pattern cannot match hosts and buckets; write the name after ", RootOf(pattern));
  }
  const std::string folder = literal.substr(0, slash);
  // The pattern's slash of that number: brackets may stand before it.
  const auto slashes = std::count(folder.begin(), folder.end(), '/');
  size_t rest = 0;
  for (int64_t i = 0; i <= slashes; ++i) rest = pattern.find('/', rest) + 1;
  const std::string_view below = std::string_view(pattern).substr(rest);
  const std::vector<std::string_view> parts = PartsBelow(below);
  PartMatcher matcher(parts);
  HEADRACE_RETURN_IF_ERROR(CheckFarParts(pattern, matcher, parts));
  FarMatches matches;
  const absl::Status listed = MatchListed(store, folder, below, matcher, matches);
  const bool missing = matches.listed == 0 && (listed.ok() || IsPlainlyMissing(listed));
  if (missing) return MissingPathError(store, folder);
  HEADRACE_RETURN_IF_ERROR(listed);
  if (matches.itself) {
    found.Add(Cat(folder, "/", below));
    return absl::OkStatus();
  }
  found.Append(matches.paths);
  if (!matches.paths.empty()) return absl::OkStatus();
  return NotFoundError(pattern, " matches no file; the folder ", folder, " is there: check the rest of the pattern");
}

}  // namespace headrace

#include "io/files/glob.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/followed_links.h"
#include "io/files/plain_path.h"

namespace headrace {
namespace {

using Entries = std::shared_ptr<const std::vector<FolderEntry>>;

bool IsPlain(std::string_view part) { return part.find_first_of("*?[") == std::string_view::npos; }

std::vector<std::string> PartsOf(std::string_view pattern) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
    // A second ** means the same as one, and would find everything twice.
    const bool again = part == "**" && !parts.empty() && parts.back() == "**";
    if (!part.empty() && !again) parts.emplace_back(part);
  }
  return parts;
}

class Walk {
 public:
  Walk(const FileSystem& files, std::string pattern, PathArena& found)
      : files_(files),
        pattern_(std::move(pattern)),
        root_(RootOf(pattern_)),
        parts_(PartsOf(std::string_view(pattern_).substr(root_.size()))),
        found_(found),
        links_(files) {}

  absl::Status Run() {
    const int64_t before = found_.size();
    HEADRACE_RETURN_IF_ERROR(Expand(root_, 0, std::nullopt));
    return found_.size() > before ? absl::OkStatus() : NothingFound();
  }

 private:
  // The folder where a ** began, to detect a link below that leads back.
  using StarRoot = std::optional<std::string>;

  absl::Status Expand(const std::string& folder, size_t i, const StarRoot& star_root) {
    if (i == parts_.size()) return absl::OkStatus();
    const std::string& part = parts_[i];
    if (IsPlain(part)) return ExpandPlain(folder, i, star_root);
    HEADRACE_ASSIGN_OR_RETURN(const Entries entries, List(folder));
    if (entries == nullptr) return absl::OkStatus();
    if (part == "**") return ExpandFolders(folder, *entries, i, star_root.value_or(folder));
    for (const FolderEntry& entry : *entries) {
      if (MatchesPattern(part, entry.name)) HEADRACE_RETURN_IF_ERROR(Step(folder, entry, i, star_root));
    }
    return absl::OkStatus();
  }

  absl::Status ExpandPlain(const std::string& folder, size_t i, const StarRoot& star_root) {
    const std::string path = JoinPath(folder, parts_[i]);
    if (i + 1 < parts_.size()) return Expand(path, i + 1, star_root);
    const auto stat = files_.Stat(path);
    if (!stat.ok()) return KindOf(stat.status()) == ErrorKind::kNotFound ? absl::OkStatus() : stat.status();
    return Take(path, stat->type);
  }

  absl::Status ExpandFolders(const std::string& folder, const std::vector<FolderEntry>& entries, size_t i,
                             const std::string& star_root) {
    const bool last = i + 1 == parts_.size();
    if (!last) HEADRACE_RETURN_IF_ERROR(Expand(folder, i + 1, star_root));
    for (const FolderEntry& entry : entries) {
      if (entry.name[0] == '.') continue;
      const std::string path = JoinPath(folder, entry.name);
      if (last) HEADRACE_RETURN_IF_ERROR(Take(path, entry.type));
      if (entry.type != EntryType::kFolder) continue;
      if (entry.link) HEADRACE_RETURN_IF_ERROR(links_.Enter(star_root, Below(star_root, path)));
      HEADRACE_RETURN_IF_ERROR(Expand(path, i, star_root));
    }
    return absl::OkStatus();
  }

  absl::Status Step(const std::string& folder, const FolderEntry& entry, size_t i, const StarRoot& star_root) {
    const std::string path = JoinPath(folder, entry.name);
    if (i + 1 < parts_.size()) {
      return entry.type == EntryType::kFolder ? Expand(path, i + 1, star_root) : absl::OkStatus();
    }
    return Take(path, entry.type);
  }

  static std::string_view Below(std::string_view root, std::string_view path) {
    std::string_view below = path.substr(root.size());
    if (!below.empty() && below[0] == '/') below.remove_prefix(1);
    return below;
  }

  absl::Status Take(const std::string& path, EntryType type) {
    if (type == EntryType::kBrokenLink) {
      return NotFoundError(
          path, ", which ", pattern_,
          " matches, is a symbolic link to something that is not there; restore it or remove the link");
    }
    if (type == EntryType::kFile) found_.Add(path);
    if (type == EntryType::kFolder) ++folders_;
    return absl::OkStatus();
  }

  // Null if there is no such folder. Keeps the last one, because the part after a ** begins in the same folder.
  absl::StatusOr<Entries> List(const std::string& folder) {
    if (listed_ != nullptr && listed_folder_ == folder) return listed_;
    const std::string path = folder.empty() ? "." : folder;
    const auto stat = files_.Stat(path);
    if (!stat.ok() && KindOf(stat.status()) != ErrorKind::kNotFound) return stat.status();
    if (!stat.ok() || stat->type != EntryType::kFolder) return Entries();
    HEADRACE_ASSIGN_OR_RETURN(std::vector<FolderEntry> entries, files_.List(path));
    HEADRACE_RETURN_IF_ERROR(links_.Listed(path, stat->identity, entries.size()));
    listed_ = std::make_shared<const std::vector<FolderEntry>>(std::move(entries));
    listed_folder_ = folder;
    return listed_;
  }

  absl::Status NothingFound() const {
    std::string folder = root_;
    size_t plain = 0;
    while (plain < parts_.size() && IsPlain(parts_[plain])) folder = JoinPath(folder, parts_[plain++]);
    const auto stat = files_.Stat(folder.empty() ? "." : folder);
    if (!stat.ok() && KindOf(stat.status()) != ErrorKind::kNotFound) return stat.status();
    if (!stat.ok()) return MissingPathError(files_, folder);
    if (plain == parts_.size() && stat->type == EntryType::kFolder) {
      return NotFoundError(pattern_, " is a folder, not a file: write ", JoinPath(folder, "*"),
                           " for the files in it, or ", JoinPath(folder, "**"), " for those in its folders, too");
    }
    if (plain == parts_.size()) return NotFoundError(pattern_, " is a pipe, a socket or a device, not a file");
    if (stat->type != EntryType::kFolder) return NotFoundError(pattern_, ": ", folder, " is a file, not a folder");
    const std::string where = folder.empty() ? "the working folder" : Cat("the folder ", folder);
    if (folders_ > 0) {
      return NotFoundError(pattern_, " matches ", folders_, folders_ == 1 ? " folder" : " folders",
                           " and no file: add /* to mean the files inside");
    }
    return NotFoundError(pattern_, " matches no file; ", where, " is there: check the rest of the pattern");
  }

  const FileSystem& files_;
  const std::string pattern_;
  const std::string root_;
  const std::vector<std::string> parts_;
  PathArena& found_;
  FollowedLinks links_;
  int64_t folders_ = 0;
  Entries listed_;
  std::string listed_folder_;
};

}  // namespace

std::string EscapePattern(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[') {
      pattern += {'[', c, ']'};
    } else {
      pattern += c;
    }
  }
  return pattern;
}

absl::StatusOr<PathArena> Glob(const FileSystem& files, absl::Span<const std::string> patterns) {
  if (patterns.empty()) return GraphError("no pattern: name at least one file, such as 'photos/*.jpg'");
  PathArena found;
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) return GraphError("a pattern is empty: name a file, such as 'photos/*.jpg'");
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the pattern", pattern));
    HEADRACE_RETURN_IF_ERROR(files.Locate(pattern).status());
    HEADRACE_RETURN_IF_ERROR(Walk(files, pattern, found).Run());
  }
  found.SortUnique();
  DropNamedTwice(found);
  return found;
}

}  // namespace headrace

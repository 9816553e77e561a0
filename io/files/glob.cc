#include "io/files/glob.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/seeded_hash.h"
#include "io/files/far_glob.h"
#include "io/files/followed_links.h"
#include "io/files/plain_path.h"

namespace headrace {
namespace {

using Entries = std::shared_ptr<const std::vector<FolderEntry>>;

// Of a part that names are matched with: far more than any name has.
constexpr size_t kLongestPart = 4096;
constexpr size_t kShown = 40;

bool IsPlain(std::string_view part) { return part.find_first_of("*?[") == std::string_view::npos; }

// The parts of a pattern, of which plain ones that follow each other are one: "a/b", "*", "c".
std::vector<std::string> PartsOf(std::string_view pattern) {
  std::vector<std::string> parts;
  bool joins = false;  // the last part is plain
  while (!pattern.empty()) {
    const size_t slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
    // A second ** means the same as one, and would find everything twice.
    const bool again = part == "**" && !parts.empty() && parts.back() == "**";
    if (part.empty() || again) continue;
    const bool plain = IsPlain(part);
    if (plain && joins) {
      parts.back() += '/';
      parts.back() += part;
    } else {
      parts.emplace_back(part);
    }
    joins = plain;
  }
  return parts;
}

// Whether a part of the path is "..".
bool LeadsUp(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.find("/../") != path.npos;
}

// Goes through the folders that a pattern reaches, by a list of those still to be looked at: neither the parts of the
// pattern nor the depth of the folders take stack.
class Walk {
 public:
  Walk(const FileSystem& files, std::string pattern, PathArena& found)
      : files_(files),
        pattern_(std::move(pattern)),
        root_(RootOf(pattern_)),
        parts_(PartsOf(std::string_view(pattern_).substr(root_.size()))),
        stars_(std::count(parts_.begin(), parts_.end(), "**")),
        found_(found),
        links_(files) {}

  absl::Status Run() {
    HEADRACE_RETURN_IF_ERROR(CheckParts());
    const int64_t before = found_.size();
    pending_.push_back({root_, 0, std::nullopt});
    while (!pending_.empty()) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      if (next.part < parts_.size() && IsFirst(next)) HEADRACE_RETURN_IF_ERROR(Expand(next));
    }
    return found_.size() > before ? absl::OkStatus() : NothingFound();
  }

 private:
  // The folder where a ** began, to detect a link below that leads back.
  using StarRoot = std::optional<std::string>;

  // A folder in which the parts from one on are looked for.
  struct Pending {
    std::string folder;
    size_t part;
    StarRoot star_root;
  };

  absl::Status CheckParts() const {
    const auto long_part = std::find_if(parts_.begin(), parts_.end(), [](const std::string& part) {
      return !IsPlain(part) && part.size() > kLongestPart;
    });
    if (long_part == parts_.end()) return absl::OkStatus();
    return GraphError("a part of the pattern, which begins with '", long_part->substr(0, kShown), "', has ",
                      long_part->size(), " bytes; a part with *, ? or [ has at most ", kLongestPart);
  }

  // Whether the same was not looked at before: several ** reach a folder in very many ways.
  bool IsFirst(const Pending& at) { return stars_ < 2 || seen_.insert(Cat(at.part, ":", at.folder)).second; }

  absl::Status Expand(const Pending& at) {
    const std::string& part = parts_[at.part];
    if (IsPlain(part)) return ExpandPlain(at);
    HEADRACE_ASSIGN_OR_RETURN(const Entries entries, List(at.folder));
    if (entries == nullptr) return absl::OkStatus();
    if (part == "**") return ExpandFolders(at, *entries);
    // The first one is on top.
    for (auto entry = entries->rbegin(); entry != entries->rend(); ++entry) {
      HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
      if (MatchesPattern(part, entry->name)) HEADRACE_RETURN_IF_ERROR(Step(at, *entry));
    }
    return absl::OkStatus();
  }

  absl::Status ExpandPlain(const Pending& at) {
    const std::string& part = parts_[at.part];
    std::string path = JoinPath(at.folder, part);
    const bool last = at.part + 1 == parts_.size();
    const bool up = at.part > 0 && LeadsUp(part);
    if (!last && !up) {
      pending_.push_back({std::move(path), at.part + 1, at.star_root});
      return absl::OkStatus();
    }
    const auto stat = files_.Stat(path);
    if (!stat.ok()) return KindOf(stat.status()) == ErrorKind::kNotFound ? absl::OkStatus() : stat.status();
    // All folders in one lead back to it: */../*/../* would go there in more ways with each part.
    if (up && !stat->identity.empty() && !seen_.insert(Cat(at.part, "@", stat->identity)).second) {
      return absl::OkStatus();
    }
    if (last) return Take(path, stat->type);
    pending_.push_back({std::move(path), at.part + 1, at.star_root});
    return absl::OkStatus();
  }

  absl::Status ExpandFolders(const Pending& at, const std::vector<FolderEntry>& entries) {
    const std::string& star_root = at.star_root.has_value() ? *at.star_root : at.folder;
    const bool last = at.part + 1 == parts_.size();
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      if (entry->name[0] == '.') continue;
      std::string path = JoinPath(at.folder, entry->name);
      if (last) HEADRACE_RETURN_IF_ERROR(Take(path, entry->type));
      if (entry->type != EntryType::kFolder) continue;
      if (entry->link) HEADRACE_RETURN_IF_ERROR(links_.Enter(star_root, Below(star_root, path)));
      pending_.push_back({std::move(path), at.part, star_root});
    }
    // On top, as this folder is listed.
    if (!last) pending_.push_back({at.folder, at.part + 1, star_root});
    return absl::OkStatus();
  }

  absl::Status Step(const Pending& at, const FolderEntry& entry) {
    std::string path = JoinPath(at.folder, entry.name);
    if (at.part + 1 == parts_.size()) return Take(path, entry.type);
    if (entry.type == EntryType::kFolder) pending_.push_back({std::move(path), at.part + 1, at.star_root});
    return absl::OkStatus();
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
  const int64_t stars_;
  PathArena& found_;
  FollowedLinks links_;
  std::vector<Pending> pending_;
  std::unordered_set<std::string, SeededHash> seen_;
  int64_t folders_ = 0;
  Entries listed_;
  std::string listed_folder_;
};

}  // namespace

bool TakesPatterns(std::string_view path) {
  const std::string_view root = RootOf(path);
  return root != "http://" && root != "https://";
}

std::string EscapePattern(std::string_view path) {
  if (!TakesPatterns(path)) return std::string(path);
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

namespace {

absl::Status AddMatches(const FileSystem& files, const std::string& pattern, PathArena& found) {
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, files.Locate(pattern));
  if (!TakesPatterns(pattern)) {
    found.Add(pattern);
    return absl::OkStatus();
  }
  if (located.files->far() != nullptr) return FarGlob(*located.files, located.path, found);
  return Walk(files, pattern, found).Run();
}

}  // namespace

absl::StatusOr<PathArena> Glob(const FileSystem& files, absl::Span<const std::string> patterns) {
  if (patterns.empty()) return GraphError("no pattern: name at least one file, such as 'photos/*.jpg'");
  PathArena found;
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) return GraphError("a pattern is empty: name a file, such as 'photos/*.jpg'");
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the pattern", pattern));
    HEADRACE_RETURN_IF_ERROR(AddMatches(files, pattern, found));
  }
  found.SortUnique();
  DropNamedTwice(found);
  return found;
}

}  // namespace headrace

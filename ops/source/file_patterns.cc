#include "ops/source/file_patterns.h"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/error.h"
#include "core/hash.h"

namespace headrace {

ir::Attribute DeclarePatterns() {
  return {.name = "patterns",
          .type = ir::AttributeType::kStrings,
          .doc =
              "Paths, with `*`, `?`, `[abc]` and `**` (any folders) as in Python's glob, several of them in a list or "
              "between semicolons; a folder stands for the files in it, and what matches nothing is an error.",
          .path = true};
}

absl::Status CheckPatterns(const ir::Attributes& attributes) {
  const std::vector<std::string> patterns = attributes.Strings("patterns");
  if (patterns.empty()) return GraphError("patterns is empty; give at least one path or pattern");
  for (const std::string& pattern : patterns) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the pattern", pattern));
  return absl::OkStatus();
}

namespace {

// Patterns in place of what stands for several: a folder, or texts between semicolons, unless a file has that name.
std::vector<std::string> Expanded(const FileSystem& files, const std::vector<std::string>& texts) {
  std::vector<std::string> patterns;
  for (const std::string& text : texts) {
    const absl::StatusOr<FileStat> whole = files.Stat(text);
    const bool several = !whole.ok() && text.find(';') != std::string::npos;
    const std::vector<std::string> parts =
        several ? std::vector<std::string>(absl::StrSplit(text, ';', absl::SkipEmpty())) : std::vector{text};
    for (const std::string& part : parts) {
      const absl::StatusOr<FileStat> stat = several ? files.Stat(part) : whole;
      const bool folder = stat.ok() && stat->type == EntryType::kFolder;
      patterns.push_back(folder ? JoinPath(part, "*") : part);
    }
  }
  return patterns;
}

}  // namespace

absl::StatusOr<MatchedFiles> MatchFiles(const FileSystem& files, std::string_view source,
                                        const ir::Attributes& attributes) {
  const std::vector<std::string> patterns = attributes.Strings("patterns");
  HEADRACE_ASSIGN_OR_RETURN(PathArena paths, Glob(files, Expanded(files, patterns)));
  return Measure(files, source, std::move(paths), patterns);
}

absl::StatusOr<PathArena> MatchInOrder(const FileSystem& files, const std::vector<std::string>& texts,
                                       std::string_view ending) {
  PathArena found;
  std::set<std::string, std::less<>> seen;
  for (const std::string& text : texts) {
    for (const absl::string_view part : absl::StrSplit(text, ';', absl::SkipEmpty())) {
      std::string path(part);
      const absl::StatusOr<FileStat> stat = files.Stat(path);
      if (stat.ok() && stat->type == EntryType::kFolder) path = JoinPath(path, Cat("*", ending));
      HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, Glob(files, {path}));
      for (int64_t i = 0; i < matched.size(); ++i) {
        if (seen.insert(std::string(matched[i])).second) found.Add(matched[i]);
      }
    }
  }
  if (found.empty()) return GraphError("no path is given; name at least one file, such as 'train", ending, "'");
  return found;
}

absl::StatusOr<MatchedFiles> Measure(const FileSystem& files, std::string_view source, PathArena paths,
                                     const std::vector<std::string>& patterns) {
  MatchedFiles matched;
  matched.paths = std::move(paths);
  uint64_t hash = 0;
  for (int64_t i = 0; i < matched.paths.size(); ++i) {
    const std::string path(matched.paths[i]);
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files.Stat(path));
    matched.sizes.push_back(stat.size);
    hash = MixKey(HashBytes(path, hash), static_cast<uint64_t>(stat.size));
  }
  matched.fingerprint = {Cat(source, " ", absl::StrJoin(patterns, ", ")), static_cast<uint64_t>(matched.paths.size()),
                         hash};
  return matched;
}

}  // namespace headrace

#include "ops/source/file_patterns.h"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/hash.h"
#include "io/files/brace_expansion.h"
#include "io/files/expected_files.h"
#include "io/files/far_glob.h"
#include "io/files/far_of.h"
#include "io/files/plain_path.h"
#include "ops/source/unfinished_sets.h"

namespace headrace {

ir::Attribute DeclarePatterns() {
  return {.name = "patterns",
          .type = ir::AttributeType::kStrings,
          .doc =
              "Paths, with `*`, `?`, `[abc]` and `**` (any folders) as in Python's glob, several of them in a list or "
              "between semicolons (`[;]` is one in a name); a folder stands for the files in it, and what matches "
              "nothing is an error.",
          .length = ir::ListLength{},
          .path = true};
}

absl::Status CheckPatterns(const ir::Attributes& attributes) {
  for (const std::string& pattern : attributes.Paths("patterns")) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the pattern", pattern));
  }
  return absl::OkStatus();
}

namespace {

// The pattern of a text: what has that very name is meant, whatever else it would match; of a folder, the files in it
// that end with `ending`.
std::string PatternOf(const std::string& text, const absl::StatusOr<FileStat>& stat, std::string_view ending) {
  if (!stat.ok()) return text;
  if (stat->type == EntryType::kFolder) return JoinPath(EscapePattern(text), Cat("*", ending));
  return EscapePattern(text);
}

// Splits a text at its semicolons; `[;]` is one that a name contains.
std::vector<std::string> SplitPaths(std::string_view text) {
  std::vector<std::string> paths(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ';' || (i > 0 && text[i - 1] == '[' && text.substr(i + 1, 1) == "]")) {
      paths.back().push_back(text[i]);
    } else if (!paths.back().empty()) {
      paths.emplace_back();
    }
  }
  if (paths.back().empty()) paths.pop_back();
  return paths;
}

bool IsFar(const FileSystem& files, const std::string& path) { return FarOf(files, path) != nullptr; }

// Of one path. A far store is not asked about patterns: the listing says whether a file has that very name.
absl::Status AppendPattern(const FileSystem& files, const std::string& path, std::string_view ending,
                           std::vector<std::string>& patterns) {
  if (!TakesPatterns(path)) {
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> expanded, ExpandBraces(path));
    patterns.insert(patterns.end(), expanded.begin(), expanded.end());
  } else if (IsFar(files, path) && HasWildcards(path)) {
    patterns.push_back(path);
  } else {
    const absl::StatusOr<FileStat> stat = files.Stat(path);
    // Of a store that is away: to ask it about the next path would take as long again.
    if (IsBeyondRow(stat.status())) return stat.status();
    patterns.push_back(PatternOf(path, stat, ending));
  }
  return absl::OkStatus();
}

// Of a text, which is several paths between semicolons unless a file of this machine has that name.
absl::Status AppendPatterns(const FileSystem& files, const std::string& text, std::string_view ending,
                            std::vector<std::string>& patterns) {
  const bool splits = TakesPatterns(text) && text.find(';') != std::string::npos;
  if (!splits || (!IsFar(files, text) && files.Stat(text).ok())) return AppendPattern(files, text, ending, patterns);
  for (const std::string& part : SplitPaths(text)) {
    HEADRACE_RETURN_IF_ERROR(AppendPattern(files, part, ending, patterns));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PatternsOf(const FileSystem& files, const std::vector<std::string>& texts,
                                                    std::string_view ending) {
  ExpectFiles(files, texts);
  std::vector<std::string> patterns;
  for (const std::string& text : texts) HEADRACE_RETURN_IF_ERROR(AppendPatterns(files, text, ending, patterns));
  return patterns;
}

// What is known of a file before it is read. It must not depend on what was asked before, as it is part of
// fingerprints.
absl::StatusOr<FileStat> StatListed(const FileSystem& files, const std::string& path, Unlisted unlisted) {
  if (unlisted == Unlisted::kAsk || TakesPatterns(path)) return files.Stat(path);
  FileStat unknown;
  unknown.size = -1;
  return unknown;
}

}  // namespace

absl::StatusOr<MatchedFiles> MatchFiles(const FileSystem& files, std::string_view source,
                                        const ir::Attributes& attributes, Unlisted unlisted) {
  const std::vector<std::string> texts = attributes.Paths("patterns");
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> patterns, PatternsOf(files, texts, ""));
  HEADRACE_ASSIGN_OR_RETURN(PathArena paths, Glob(files, patterns));
  return Measure(files, source, std::move(paths), texts, unlisted);
}

absl::StatusOr<PathArena> MatchInOrder(const FileSystem& files, const std::vector<std::string>& texts,
                                       std::string_view ending) {
  PathArena found;
  std::set<std::string, std::less<>> seen;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> patterns, PatternsOf(files, texts, ending));
  for (const std::string& pattern : patterns) {
    HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, Glob(files, {pattern}));
    for (int64_t i = 0; i < matched.size(); ++i) {
      if (seen.insert(PlainPath(matched[i])).second) found.Add(matched[i]);
    }
  }
  if (found.empty()) return GraphError("no path is given; name at least one file, such as 'train", ending, "'");
  return found;
}

absl::StatusOr<FileStat> StatNamed(const FileSystem& files, const std::string& text) {
  const bool one = TakesPatterns(text) && text.find(';') == std::string::npos && !HasWildcards(text);
  if (one || !IsFar(files, text)) return files.Stat(text);
  return NotFoundError(text, " is not the name of one file");
}

absl::StatusOr<MatchedFiles> Measure(const FileSystem& files, std::string_view source, PathArena paths,
                                     const std::vector<std::string>& patterns, Unlisted unlisted) {
  ExpectFiles(files, paths);
  HEADRACE_RETURN_IF_ERROR(CheckSetsFinished(files, paths));
  MatchedFiles matched;
  matched.paths = std::move(paths);
  uint64_t hash = 0;
  for (int64_t i = 0; i < matched.paths.size(); ++i) {
    const std::string path(matched.paths[i]);
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, StatListed(files, path, unlisted));
    const uint64_t version = VersionHash(stat.version);
    matched.sizes.push_back(stat.size);
    matched.versions.push_back(version);
    hash = MixKey(HashBytes(path, hash), static_cast<uint64_t>(stat.size));
    if (version != 0) hash = MixKey(hash, version);
  }
  matched.fingerprint = {Cat(source, " ", absl::StrJoin(patterns, ", ")), static_cast<uint64_t>(matched.paths.size()),
                         hash};
  return matched;
}

}  // namespace headrace

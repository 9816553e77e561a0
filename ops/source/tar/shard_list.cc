#include "ops/source/tar/shard_list.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/files/brace_expansion.h"
#include "io/files/glob.h"
#include "ops/source/file_patterns.h"

namespace headrace {
namespace {

constexpr std::string_view kBetweenShards = "::";
constexpr std::string_view kCommand = "pipe:";
// Of the archives in a folder: indices may lie beside them.
constexpr std::string_view kArchiveEndings[] = {".tar",    ".tar.gz", ".tgz",     ".tar.zst", ".tzst",
                                                ".tar.bz2", ".tbz2",   ".tar.xz", ".txz"};

std::vector<std::string_view> PartsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(kBetweenShards);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + kBetweenShards.size());
  }
}

bool IsArchiveName(std::string_view path) {
  return std::any_of(std::begin(kArchiveEndings), std::end(kArchiveEndings), [&](std::string_view ending) {
    return path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending;
  });
}

absl::Status AddFolder(const FileSystem& files, const std::string& folder, std::vector<std::string>& names) {
  HEADRACE_ASSIGN_OR_RETURN(const PathArena inside, Glob(files, {JoinPath(EscapePattern(folder), "*")}));
  const size_t before = names.size();
  for (int64_t i = 0; i < inside.size(); ++i) {
    if (IsArchiveName(inside[i])) names.emplace_back(inside[i]);
  }
  if (names.size() > before) return absl::OkStatus();
  return NotFoundError("the folder ", folder, " has no archive: no name in it ends with .tar, .tar.gz, .tar.zst, .tar.bz2 "
                       "or .tar.xz");
}

// Appends what the text stands for, up to patterns and semicolons. A file of that very name is meant, whatever else it
// would stand for.
absl::Status AddNames(const FileSystem& files, const std::string& text, bool splits, std::vector<std::string>& names) {
  const absl::StatusOr<FileStat> stat = files.Stat(text);
  if (stat.ok() && stat->type == EntryType::kFolder) return AddFolder(files, text, names);
  if (stat.ok()) {
    names.push_back(text);
    return absl::OkStatus();
  }
  const std::vector<std::string_view> parts = PartsOf(text);
  if (splits && parts.size() > 1) {
    for (const std::string_view part : parts) {
      if (part.empty()) continue;
      HEADRACE_RETURN_IF_ERROR(AddNames(files, std::string(part), false, names));
    }
    return absl::OkStatus();
  }
  if (text.find_first_of("{\\") == std::string::npos) {
    names.push_back(text);
    return absl::OkStatus();
  }
  HEADRACE_ASSIGN_OR_RETURN(std::vector<std::string> expanded, ExpandBraces(text));
  std::move(expanded.begin(), expanded.end(), std::back_inserter(names));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckShards(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
    for (const std::string_view part : PartsOf(text)) {
      if (part.substr(0, kCommand.size()) != kCommand) continue;
      return GraphError("\"", part, "\" is a command, and commands are never run; give the path of a file, which the "
                        "command may have written before");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PathArena> MatchShards(const FileSystem& files, const std::vector<std::string>& texts) {
  HEADRACE_RETURN_IF_ERROR(CheckShards(texts));
  std::vector<std::string> names;
  for (const std::string& text : texts) HEADRACE_RETURN_IF_ERROR(AddNames(files, text, true, names));
  return MatchInOrder(files, names, ".tar");
}

}  // namespace headrace

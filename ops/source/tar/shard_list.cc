#include "ops/source/tar/shard_list.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/files/brace_expansion.h"
#include "io/files/far_of.h"
#include "io/files/glob.h"
#include "io/formats/item_index.h"
#include "ops/source/file_patterns.h"

namespace headrace {
namespace {

constexpr std::string_view kBetweenShards = "::";
constexpr std::string_view kCommand = "pipe:";
constexpr std::string_view kShardIndexEnding = ".idx";

using Endings = absl::Span<const std::string_view>;

// Of the archives in a folder.
constexpr std::string_view kArchiveEndings[] = {".tar",     ".tar.gz", ".tgz",    ".tar.zst", ".tzst",
                                                ".tar.bz2", ".tbz2",   ".tar.xz", ".txz"};
constexpr std::string_view kIndexEndings[] = {kShardIndexEnding};
// Of what lies beside archives, whatever pattern matches it.
constexpr std::string_view kBesideShards[] = {kShardIndexEnding, kItemIndexEnding};

// Between "::" and semicolons; `[;]` is one that a name contains, and addresses of http contain others.
std::vector<std::string_view> PartsOf(std::string_view text) {
  const bool semicolons = TakesPatterns(text);
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const bool shards = text.substr(at, kBetweenShards.size()) == kBetweenShards;
    const bool semicolon =
        semicolons && text.substr(at, 1) == ";" && !(at > 0 && text[at - 1] == '[' && text.substr(at + 1, 1) == "]");
    if (at < text.size() && !shards && !semicolon) continue;
    parts.push_back(text.substr(begin, at - begin));
    if (shards) at += kBetweenShards.size() - 1;
    begin = at + 1;
  }
  return parts;
}

bool EndsWithAny(std::string_view path, Endings endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

absl::Status AddFolder(const FileSystem& files, const std::string& folder, Endings endings,
                       std::vector<std::string>& names) {
  HEADRACE_ASSIGN_OR_RETURN(const PathArena inside, Glob(files, {JoinPath(EscapePattern(folder), "*")}));
  const size_t before = names.size();
  for (int64_t i = 0; i < inside.size(); ++i) {
    if (EndsWithAny(inside[i], endings)) names.emplace_back(inside[i]);
  }
  if (names.size() > before) return absl::OkStatus();
  std::string listed;
  for (const std::string_view ending : endings) Append(listed, listed.empty() ? "" : ", ", ending);
  return NotFoundError("no name in the folder ", folder, " ends with ", listed);
}

// Appends what the text stands for, up to patterns and semicolons. A file of that very name is meant, whatever else it
// would stand for.
absl::Status AddNames(const FileSystem& files, const std::string& text, Endings endings, bool splits,
                      std::vector<std::string>& names) {
  // Of a far store braces are meant to expand.
  const bool expands = FarOf(files, text) != nullptr && text.find('{') != std::string::npos;
  const absl::StatusOr<FileStat> stat = expands ? NotFoundError(text, " is expanded") : StatNamed(files, text);
  if (stat.ok() && stat->type == EntryType::kFolder) return AddFolder(files, text, endings, names);
  if (stat.ok()) {
    names.push_back(text);
    return absl::OkStatus();
  }
  const std::vector<std::string_view> parts = PartsOf(text);
  if (splits && parts.size() > 1) {
    for (const std::string_view part : parts) {
      if (part.empty()) continue;
      HEADRACE_RETURN_IF_ERROR(AddNames(files, std::string(part), endings, false, names));
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

absl::StatusOr<PathArena> Match(const FileSystem& files, const std::vector<std::string>& texts, Endings endings) {
  HEADRACE_RETURN_IF_ERROR(CheckShards(texts));
  std::vector<std::string> names;
  for (const std::string& text : texts) HEADRACE_RETURN_IF_ERROR(AddNames(files, text, endings, true, names));
  return MatchInOrder(files, names, endings[0]);
}

}  // namespace

absl::Status CheckShards(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", text));
    for (const std::string_view part : PartsOf(text)) {
      if (part.substr(0, kCommand.size()) != kCommand) continue;
      return GraphError("\"", part,
                        "\" is a command, and commands are never run; give the path of a file, which the "
                        "command may have written before");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PathArena> MatchShards(const FileSystem& files, const std::vector<std::string>& texts) {
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, Match(files, texts, kArchiveEndings));
  PathArena shards;
  for (int64_t i = 0; i < matched.size(); ++i) {
    if (!EndsWithAny(matched[i], kBesideShards)) shards.Add(matched[i]);
  }
  if (shards.empty()) return GraphError("paths names indices alone, such as ", matched[0], "; name the archives");
  return shards;
}

absl::StatusOr<PathArena> MatchShardIndices(const FileSystem& files, const std::vector<std::string>& texts) {
  return Match(files, texts, kIndexEndings);
}

}  // namespace headrace

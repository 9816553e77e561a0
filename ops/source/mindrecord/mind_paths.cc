#include "ops/source/mindrecord/mind_paths.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/formats/item_index.h"
#include "ops/source/file_patterns.h"
#include "ops/source/table_reading.h"

namespace headrace {
namespace {

constexpr std::string_view kMindIndexEnding = ".db";

bool EndsWith(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

bool IsIndexOfMindFile(std::string_view path) {
  return EndsWith(path, kMindIndexEnding) || EndsWith(path, kItemIndexEnding);
}

}  // namespace

absl::StatusOr<MindPaths> FindMindFiles(const FileSystem& files, const std::vector<std::string>& texts, bool one) {
  if (one && texts.size() == 1) {
    const absl::StatusOr<FileStat> stat = StatNamed(files, texts[0]);
    if (stat.ok() && stat->type == EntryType::kFile) {
      HEADRACE_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesOfMindSet(files, texts[0]));
      return MindPaths{std::move(names), MindNaming::kSet};
    }
  }
  HEADRACE_ASSIGN_OR_RETURN(const PathArena matched, MatchInOrder(files, texts, ""));
  MindPaths found;
  for (std::string& path : TextsOf(matched)) {
    // One that was named itself gives an error that says what it is.
    const bool named = std::find(texts.begin(), texts.end(), path) != texts.end();
    if (named || !IsIndexOfMindFile(path)) found.paths.push_back(std::move(path));
  }
  if (found.paths.empty()) return NotFoundError("no MindRecord file is there, but only indices (.db, .hridx)");
  return found;
}

}  // namespace headrace

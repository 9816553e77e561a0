#include "ops/source/file_patterns.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/hash.h"

namespace headrace {

ir::Attribute DeclarePatterns() {
  return {.name = "patterns",
          .type = ir::AttributeType::kStrings,
          .doc =
              "Paths, with `*`, `?`, `[abc]` and `**` (any folders) as in Python's glob; one that matches nothing is "
              "an error.",
          .path = true};
}

absl::Status CheckPatterns(const ir::Attributes& attributes) {
  const std::vector<std::string> patterns = attributes.Strings("patterns");
  if (patterns.empty()) return GraphError("patterns is empty; give at least one path or pattern");
  for (const std::string& pattern : patterns) HEADRACE_RETURN_IF_ERROR(CheckNoNul("the pattern", pattern));
  return absl::OkStatus();
}

absl::StatusOr<MatchedFiles> MatchFiles(const FileSystem& files, std::string_view source,
                                        const ir::Attributes& attributes) {
  const std::vector<std::string> patterns = attributes.Strings("patterns");
  MatchedFiles matched;
  HEADRACE_ASSIGN_OR_RETURN(matched.paths, Glob(files, patterns));
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

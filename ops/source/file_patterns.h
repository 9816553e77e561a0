// `MatchFiles` finds the files that match the attribute `patterns` of sources that read files.
// Threads: values; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_
#define HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "io/files/glob.h"

namespace headrace {

struct MatchedFiles {
  PathArena paths;  // each once
  std::vector<int64_t> sizes;
  // Covers paths and sizes, not the contents of the files.
  Fingerprint fingerprint;
};

ir::Attribute DeclarePatterns();
// kGraph if there are no patterns, or one is not a path.
absl::Status CheckPatterns(const ir::Attributes& attributes);
// `source` is the operator's name in the fingerprint.
absl::StatusOr<MatchedFiles> MatchFiles(const FileSystem& files, std::string_view source,
                                        const ir::Attributes& attributes);

// Paths as dmlc-core's InputSplit takes them: each text is paths between semicolons; a folder stands for the files in
// it that end with `ending`, ".rec". Files are in the order in which they are named, those of a pattern or folder in
// byte order, and each comes once.
absl::StatusOr<PathArena> MatchInOrder(const FileSystem& files, const std::vector<std::string>& texts,
                                       std::string_view ending);
// Looks up the sizes of the files. `patterns` are what the fingerprint names. kData for files of a set that was not
// written to its end (ops/source/unfinished_sets.h).
absl::StatusOr<MatchedFiles> Measure(const FileSystem& files, std::string_view source, PathArena paths,
                                     const std::vector<std::string>& patterns);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_

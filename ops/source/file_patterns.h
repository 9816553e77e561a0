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
  PathArena paths;                 // each once
  std::vector<int64_t> sizes;      // of each file
  std::vector<uint64_t> versions;  // VersionHash of each; 0: not known
  // Covers paths, sizes and versions, not the contents of the files.
  Fingerprint fingerprint;
};

ir::Attribute DeclarePatterns();
// kGraph if there are no patterns, or one is not a path.
absl::Status CheckPatterns(const ir::Attributes& attributes);
// What is done about addresses of http, which nothing lists.
enum class Unlisted {
  kAsk,    // the host is asked about each
  kLeave,  // their sizes stay -1: they are read whole, which tells
};

// `source` is the operator's name in the fingerprint.
absl::StatusOr<MatchedFiles> MatchFiles(const FileSystem& files, std::string_view source,
                                        const ir::Attributes& attributes, Unlisted unlisted = Unlisted::kAsk);

// Paths as dmlc-core's InputSplit takes them: each text is paths between semicolons; a folder stands for the files in
// it that end with `ending`, ".rec". Files are in the order in which they are named, those of a pattern or folder in
// byte order, and each comes once. Braces of http and https paths expand (io/files/brace_expansion.h).
absl::StatusOr<PathArena> MatchInOrder(const FileSystem& files, const std::vector<std::string>& texts,
                                       std::string_view ending);
// What has a text for its name. kNotFound, without a request, for a text that a far store would know nothing by: a
// pattern, several paths, an address of http.
absl::StatusOr<FileStat> StatNamed(const FileSystem& files, const std::string& text);
// Looks up the sizes of the files. `patterns` are what the fingerprint names. kData for files of a set that was not
// written to its end (ops/source/unfinished_sets.h).
absl::StatusOr<MatchedFiles> Measure(const FileSystem& files, std::string_view source, PathArena paths,
                                     const std::vector<std::string>& patterns, Unlisted unlisted = Unlisted::kAsk);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_

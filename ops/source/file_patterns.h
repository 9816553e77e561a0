// The attribute `patterns` of sources that read files, and the files found by it. Values; safe from any thread.
#ifndef HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_
#define HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/operator/operator.h"
#include "io/files/glob.h"

namespace headrace {

struct MatchedFiles {
  PathArena paths;  // in byte order, each once
  std::vector<int64_t> sizes;
  // Of paths and sizes; not of what the files hold.
  Fingerprint fingerprint;
};

ir::Attribute DeclarePatterns();
// kGraph where there are none, or one is no path.
absl::Status CheckPatterns(const ir::Attributes& attributes);
// `source` names the op in fingerprints.
absl::StatusOr<MatchedFiles> MatchFiles(const FileSystem& files, std::string_view source,
                                        const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_FILE_PATTERNS_H_

// `MatchShards` finds the archives that a list of shards names, as WebDataset writes such lists: "s-{000..999}.tar",
// "a.tar::b.tar".
// Threads: a pure function.
#ifndef HEADRACE_OPS_SOURCE_TAR_SHARD_LIST_H_
#define HEADRACE_OPS_SOURCE_TAR_SHARD_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

// kGraph: a text names a command, which is never run.
absl::Status CheckShards(const std::vector<std::string>& texts);

// Each text is a path, or several between "::" or semicolons, with braces (io/files/brace_expansion.h) and patterns
// (io/files/glob.h); a text that is the path of a file is that path. A folder stands for the archives in it. They come
// in the order in which they are named, those of a pattern or folder in byte order, and each once; indices beside
// archives are left out. kGraph: none is given.
absl::StatusOr<PathArena> MatchShards(const FileSystem& files, const std::vector<std::string>& texts);
// The same of the indices of archives (.idx).
absl::StatusOr<PathArena> MatchShardIndices(const FileSystem& files, const std::vector<std::string>& texts);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_TAR_SHARD_LIST_H_

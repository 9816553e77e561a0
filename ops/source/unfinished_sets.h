// `CheckSetsFinished` refuses files of a set whose writing was cut off while its files got their names: fewer than the
// set has, without a word, would be read in its place. It knows sets by their files' names, "train-00002-of-00010.rec",
// and one that was not finished by the journal beside them, "train.rec.journal". Use it for files that patterns found.
// Threads: any thread.
#ifndef HEADRACE_OPS_SOURCE_UNFINISHED_SETS_H_
#define HEADRACE_OPS_SOURCE_UNFINISHED_SETS_H_

#include "absl/status/status.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

// kData, naming a file that is missing. Chosen files of a finished set are OK.
absl::Status CheckSetsFinished(const FileSystem& files, const PathArena& paths);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_UNFINISHED_SETS_H_

// `CommitSet` gives the files of a set their names, so that a kill at any moment leaves the old set, or one of which
// files are missing: never old files beside new ones. Use it for files that are read together, such as records and
// their index, or the parts of a set. Threads: any thread.
#ifndef HEADRACE_IO_FILES_FILE_SET_H_
#define HEADRACE_IO_FILES_FILE_SET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"

namespace headrace {

// A file whose draft was sealed and kept (io/files/output_stream.h).
struct SetFile {
  std::string path;
  int64_t bytes;
};

// `draft` is the ending of the drafts' names. Files get their names in this order; before, those of the old set are
// removed, from the last to the second. So the file without which the others are refused comes last, or first where
// readers look for the others by it. After an error or a kill the same call goes on; files that have their names
// already are left as they are. kData: neither the draft nor the file of that many bytes is there.
absl::Status CommitSet(const FileSystem& files, const std::string& draft, absl::Span<const SetFile> set);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FILE_SET_H_

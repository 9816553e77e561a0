// `OpenToRead`, `MakeFile` and `OpenOwnFile` open files; nothing else in the engine does
// (tests/check/test_opened_files.py). Reading never waits for a pipe. Writing goes to a new file, or to one that this
// user made: in a folder that others may write to, a name may already be a link to a file of this user's, a pipe, or a
// file that its maker still holds open.
// Threads: any thread.
#ifndef HEADRACE_IO_FILES_OPENED_FILE_H_
#define HEADRACE_IO_FILES_OPENED_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "io/files/descriptor.h"

namespace headrace {

// For reading; whoever reads checks that it is a regular file. On failure not open, with errno set.
Descriptor OpenToRead(const std::string& path);

enum class Writing { kAnywhere, kAtEnd };

// A new, empty file for reading and writing. On failure not open, with errno set; EEXIST if anything has the name, a
// link too.
Descriptor MakeFile(const std::string& path, mode_t mode, Writing where = Writing::kAnywhere);

// A hidden name beside `path` that nobody can foresee, for a new file that is renamed to `path` when it is whole.
std::string DraftName(const std::string& path);

// Takes the lock of an open file, which lasts until it is closed. False: another opened file has it (errno is
// EWOULDBLOCK), or the disk has no locks.
bool LockFile(const Descriptor& file);

// Syncs the folder of a path, so that the name lasts. Where the file system cannot, the synced bytes still do.
void SyncFolderOf(const std::string& path);

// A file that this user made earlier, opened for reading and writing.
struct OwnFile {
  Descriptor file;      // not open: it is refused, or else errno is set
  std::string refused;  // "is a symbolic link"; empty: it is not refused
};
// Refuses a link, whatever is not a regular file, a file of another user, and one with several names.
OwnFile OpenOwnFile(const std::string& path, Writing where);

// kUnsupported, with what to do about a file that OpenOwnFile refused.
absl::Status NotOwnFileError(std::string_view path, const OwnFile& refused);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_OPENED_FILE_H_

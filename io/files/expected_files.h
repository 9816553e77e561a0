// `ExpectFiles` tells far stores which files they are asked about next (FarFiles::Expect), so that a listing answers
// for many of them. Use it before a list of paths that the user named is looked at one by one. Threads: any thread.
#ifndef HEADRACE_IO_FILES_EXPECTED_FILES_H_
#define HEADRACE_IO_FILES_EXPECTED_FILES_H_

#include <string>
#include <vector>

#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

// Paths of this machine, patterns and paths of http and https are passed over.
void ExpectFiles(const FileSystem& files, const std::vector<std::string>& paths);
void ExpectFiles(const FileSystem& files, const PathArena& paths);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_EXPECTED_FILES_H_

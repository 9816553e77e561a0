// `PlainPath` gives the form of a local path in which `a`, `./a` and the absolute path are one text. Use it to tell
// whether two paths name one file, without asking the file system.
// Threads: pure functions, but for the working folder.
#ifndef HEADRACE_IO_FILES_PLAIN_PATH_H_
#define HEADRACE_IO_FILES_PLAIN_PATH_H_

#include <string>
#include <string_view>

#include "io/files/path_arena.h"

namespace headrace {

// From the root on, without empty parts and ".". Parts ".." stay, because the folder before one may be a link. Paths
// with another scheme than file:// stay as they are.
std::string PlainPath(std::string_view path);

// Drops the paths that name a file which one before names.
void DropNamedTwice(PathArena& paths);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_PLAIN_PATH_H_

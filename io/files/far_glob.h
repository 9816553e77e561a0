// `FarGlob` finds the files of a far store that match a pattern, by one listing of the folder before its first part
// with
// *, ? or [. Glob (io/files/glob.h) calls it for paths of far stores.
// Threads: a function without state; safe from any thread.
#ifndef HEADRACE_IO_FILES_FAR_GLOB_H_
#define HEADRACE_IO_FILES_FAR_GLOB_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

// Appends the files; those of a name that the pattern is itself are meant, whatever else it matches. kNotFound: there
// are none. kGraph: the pattern would match hosts or buckets.
absl::Status FarGlob(const FileSystem& store, const std::string& pattern, PathArena& found);

// Whether a text has parts that match several names: "*", not "[*]".
bool HasWildcards(std::string_view pattern);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FAR_GLOB_H_

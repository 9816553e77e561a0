// `Glob` finds files by pattern. In one part of a path, * matches any characters, ? one, [abc] and [a-z] one of those,
// [!abc] one of the others; a part ** matches any number of folders, including none. [*] is a plain star. As in
// Python's glob, a leading dot must be written out, and links are followed.
// Threads: functions without state; safe from any thread.
#ifndef HEADRACE_IO_FILES_GLOB_H_
#define HEADRACE_IO_FILES_GLOB_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/files/path_arena.h"

namespace headrace {

// The files that match any of the patterns, each once, in byte order; folders, pipes, sockets and devices are skipped.
// Far stores are listed once a pattern; paths of http and https are taken as they are, without a request.
// A pattern without matches is an error, kNotFound, that names the part of it that exists.
absl::StatusOr<PathArena> Glob(const FileSystem& files, absl::Span<const std::string> patterns);

// A pattern that matches this path alone.
std::string EscapePattern(std::string_view path);

// Whether a path may be a pattern, and several between semicolons: not one of http or https, where ?, [ and ; are parts
// of an address.
bool TakesPatterns(std::string_view path);

// Matches one part of a path against one part of a pattern. Characters are UTF-8's; a byte that is not valid counts as
// one.
bool MatchesPattern(std::string_view pattern, std::string_view name);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_GLOB_H_

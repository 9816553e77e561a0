// `ParseProfiles` reads the files in which profiles of AWS are kept ("~/.aws/credentials", "~/.aws/config"): sections
// in brackets, a setting a line, lines that begin with blanks belonging to the setting above. Threads: pure functions.
#ifndef HEADRACE_IO_FILES_S3_PROFILE_FILE_H_
#define HEADRACE_IO_FILES_S3_PROFILE_FILE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headrace::s3 {

// Settings by name, in lower case.
using Profile = std::map<std::string, std::string, std::less<>>;
using Profiles = std::map<std::string, Profile, std::less<>>;

// How a file names profiles: "[work]", or, except for "[default]", "[profile work]" (sections without the word, such as
// "[sso-session x]", are then no profiles).
enum class ProfileNames { kPlain, kWithWord };

// kData, with the number of the line: it is not such a file. A name that comes twice has the settings of both, and
// the later ones count. `path` names the file in errors, which show nothing of the line.
absl::StatusOr<Profiles> ParseProfiles(std::string_view path, std::string_view text, ProfileNames names);

// The settings of both; those of `over` count where both have one.
void MergeProfiles(Profiles& into, const Profiles& over);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_PROFILE_FILE_H_

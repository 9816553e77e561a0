// `FindCredentials` looks for keys where AWS's own programs do, in this order: the variables of the environment, a web
// identity, the profile files, the container, the machine. It waits for processes and replies.
// Threads: any thread that may wait.
#ifndef HEADRACE_IO_FILES_S3_CREDENTIAL_CHAIN_H_
#define HEADRACE_IO_FILES_S3_CREDENTIAL_CHAIN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "io/files/http/transport.h"
#include "io/files/s3/credentials.h"
#include "io/files/s3/environment.h"
#include "io/files/s3/profile_file.h"
#include "io/files/storage_settings.h"

namespace headrace::s3 {

struct CredentialPlace {
  std::string profile;  // of the settings; empty: AWS_PROFILE, or else "default"
  std::string region;   // of the token service; empty: its address for all regions
  std::string ca_file;
  std::string proxy;
  Environment environment;
  http::Transport* transport = nullptr;
  std::function<int64_t()> now;  // seconds since 1970
};

// Credentials that are there without waiting: those of the settings, "anonymous", or the environment's. nullopt: there
// are none. kGraph: a part of them is missing.
absl::StatusOr<std::optional<Credentials>> CredentialsAtHand(const StorageSettings& settings,
                                                             const Environment& environment);

// kNotFound, with the places that were looked at: there are none.
absl::StatusOr<Credentials> FindCredentials(const CredentialPlace& place);

// The profiles of both files; a file that is missing has none.
absl::StatusOr<Profiles> ReadProfiles(const Environment& environment);
// The name of the profile that counts.
std::string ProfileName(const std::string& given, const Environment& environment);

}  // namespace headrace::s3

#endif  // HEADRACE_IO_FILES_S3_CREDENTIAL_CHAIN_H_

// Fuzzes files of profiles and credentials in JSON: what is read stays the same when it is merged with itself, and no
// error shows anything of the file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/testing/require.h"
#include "core/text.h"
#include "io/files/s3/credential_reply.h"
#include "io/files/s3/profile_file.h"

namespace {

using headrace::s3::ParseProfiles;
using headrace::s3::ProfileNames;
using headrace::s3::Profiles;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ProfileNames names : {ProfileNames::kPlain, ProfileNames::kWithWord}) {
    const auto profiles = ParseProfiles("the-file", text, names);
    if (!profiles.ok()) {
      const std::string_view message = headrace::ToStd(profiles.status().message());
      headrace::Require(message.starts_with("the-file: ") && message.size() < 120,
                        "an error shows nothing of the file");
      continue;
    }
    Profiles merged = *profiles;
    headrace::s3::MergeProfiles(merged, *profiles);
    headrace::Require(merged == *profiles, "merged with itself it is the same");
  }
  const auto credentials = headrace::s3::ParseCredentialJson(text);
  headrace::Require(!credentials.ok() || !credentials->access_key.empty(), "credentials have an access key");
  return 0;
}

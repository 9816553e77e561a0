// Fuzzes the JSON of a NameNode, and the exceptions of servers: names lie in their folder, and sizes are not negative.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/testing/require.h"
#include "io/files/hdfs/file_status.h"
#include "io/files/hdfs/remote_exception.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::Require;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto listing = headrace::hdfs::ParseListing(json);
  if (listing.ok()) {
    Require(listing->remaining >= 0, "no less than nothing remains");
    for (const auto& entry : listing->entries) {
      Require(entry.name.find('/') == std::string::npos && entry.name != "..", "a name lies in its folder");
      Require(entry.size >= 0, "a size is not negative");
      headrace::hdfs::StatOf(entry);
    }
  }
  headrace::hdfs::ParseFileStatus(json).status().IgnoreError();
  const auto exception = headrace::hdfs::ParseRemoteException(json);
  Require(exception.message.size() <= json.size(), "a message comes from the reply");
  headrace::hdfs::RemoteError("hdfs://nn/a", 400 + static_cast<int>(size % 200), exception).IgnoreError();
  return 0;
}

#include "io/files/http/reach_for.h"

#include <algorithm>
#include <string>
#include <utility>

#include "io/files/http/http_client.h"

namespace headrace::http {

absl::StatusOr<Reach> ReachFor(const StorageSettings& settings, bool secure) {
  Reach reach;
  absl::StatusOr<std::string> ca_file = FindCaFile(settings.ca_file);
  // A file that was named must be there in any case.
  if (!ca_file.ok() && (secure || !settings.ca_file.empty())) return std::move(ca_file).status();
  if (ca_file.ok()) reach.ca_file = *std::move(ca_file);
  reach.proxy = settings.proxy;
  reach.connections = settings.connections;
  if (settings.timeout > 0) {
    reach.idle_ms = std::max<int64_t>(1, static_cast<int64_t>(settings.timeout * 1000));
    reach.connect_ms = std::min(reach.connect_ms, reach.idle_ms);
  }
  return reach;
}

}  // namespace headrace::http

// `ReachFor` says how hosts are reached with a store's settings. Threads: pure function.
#ifndef HEADRACE_IO_FILES_HTTP_REACH_FOR_H_
#define HEADRACE_IO_FILES_HTTP_REACH_FOR_H_

#include "absl/status/statusor.h"
#include "io/files/http/transport.h"
#include "io/files/storage_settings.h"

namespace headrace::http {

// `secure`: hosts of https are asked, so certificates of authorities have to be there; otherwise they may be missing.
absl::StatusOr<Reach> ReachFor(const StorageSettings& settings, bool secure);

}  // namespace headrace::http

#endif  // HEADRACE_IO_FILES_HTTP_REACH_FOR_H_

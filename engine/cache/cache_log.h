// `CacheLog` is the record log of a cache in a folder that the user named: the records of each content have a folder of
// their own there.
// Threads: OpenCacheLog from any thread.
#ifndef HEADRACE_ENGINE_CACHE_CACHE_LOG_H_
#define HEADRACE_ENGINE_CACHE_CACHE_LOG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "io/records/record_log.h"

namespace headrace {

struct CacheLog {
  std::unique_ptr<RecordLog> log;
  std::string folder;
  int64_t limit = 0;  // of the log's bytes
};

// `limit` nullopt: what is there already, and half of the free space. Errors: those of RecordLog::Open, kGraph for a
// folder with a NUL character.
absl::StatusOr<CacheLog> OpenCacheLog(const std::string& folder, const std::string& content,
                                      std::optional<int64_t> limit);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_CACHE_LOG_H_

#include "engine/cache/cache_log.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "io/files/file_system.h"

namespace headrace {
namespace {

std::string FolderOf(const std::string& parent, const std::string& content) {
  return Cat(parent, "/", absl::Hex(HashBytes(content), absl::kZeroPad16),
             absl::Hex(HashBytes(content, 1), absl::kZeroPad16));
}

}  // namespace

absl::StatusOr<CacheLog> OpenCacheLog(const std::string& folder, const std::string& content,
                                      std::optional<int64_t> limit) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the folder", folder));
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, DefaultFileSystem()->Locate(folder));
  CacheLog opened;
  opened.folder = FolderOf(located.path, content);
  HEADRACE_ASSIGN_OR_RETURN(opened.log, RecordLog::Open(*located.files, opened.folder, content));
  std::error_code error;
  const auto space = std::filesystem::space(opened.folder, error);
  // What earlier runs kept is there already: it uses no free space.
  const int64_t half_free = error ? 0 : static_cast<int64_t>(space.available / 2);
  opened.limit = limit.value_or(opened.log->bytes() + half_free);
  opened.log->SetLimit(opened.limit);
  return opened;
}

}  // namespace headrace

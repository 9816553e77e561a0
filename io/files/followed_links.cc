#include "io/files/followed_links.h"

#include "core/error.h"
#include "core/hash.h"

namespace headrace {

absl::Status FollowedLinks::Enter(const std::string& root, std::string_view relative) const {
  const std::string path = JoinPath(root, relative);
  HEADRACE_ASSIGN_OR_RETURN(const FileStat target, files_.Stat(path));
  if (target.identity.empty()) return absl::OkStatus();
  while (!relative.empty()) {
    const size_t slash = relative.find_last_of('/');
    relative = relative.substr(0, slash == std::string_view::npos ? 0 : slash);
    const std::string above = relative.empty() ? root : JoinPath(root, relative);
    HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files_.Stat(above.empty() ? "." : above));
    if (stat.identity != target.identity) continue;
    return NotFoundError(path, " is a symbolic link that leads back to ", above.empty() ? "." : above,
                         ", which makes a cycle; remove the link");
  }
  return absl::OkStatus();
}

absl::Status FollowedLinks::Listed(const std::string& path, const std::string& identity, size_t entries) {
  if (identity.empty()) return absl::OkStatus();
  const uint64_t hash = HashBytes(path);
  const std::lock_guard<std::mutex> lock(mutex_);
  Ways& ways = ways_[identity];
  if (ways.count > 0 && ways.last == hash) return absl::OkStatus();
  ways.last = hash;
  if (++ways.count <= kFreeWays) return absl::OkStatus();
  again_ += static_cast<int64_t>(entries) + 1;
  if (again_ <= kMostAgain) return absl::OkStatus();
  return NotFoundError(path, ": symbolic links lead to this folder in more than ", kFreeWays,
                       " ways, and to more than ", kMostAgain,
                       " files and folders so often that each would be walked again and again; remove some of them");
}

}  // namespace headrace

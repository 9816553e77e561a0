#include "io/files/followed_links.h"

#include "core/error.h"

namespace headrace {

absl::Status FollowedLinks::Enter(const std::string& root, std::string_view relative) {
  const std::string path = JoinPath(root, relative);
  HEADRACE_ASSIGN_OR_RETURN(const FileStat target, files_.Stat(path));
  if (target.identity.empty()) return absl::OkStatus();
  if (++ways_[target.identity] > kMostWays) {
    return NotFoundError(path, ": symbolic links lead to this folder in more than ", kMostWays,
                         " ways, each of which would be walked; remove some of them");
  }
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

}  // namespace headrace

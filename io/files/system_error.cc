#include "io/files/system_error.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "core/error.h"

namespace headrace {
namespace {

bool IsBrokenLink(const std::string& path) {
  struct stat link;
  return lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
}

}  // namespace

std::string SystemMessage(int error) { return std::generic_category().message(error); }

absl::Status NotARegularFileError(const std::string& path) {
  return UnsupportedError(path, " is a pipe, a socket or a device, where a file is expected");
}

absl::Status SystemError(const FileSystem& files, const std::string& path, std::string_view verb, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      if (!IsBrokenLink(path)) return MissingPathError(files, path);
      return NotFoundError(path, " is a symbolic link to something that is not there; restore it or remove the link");
    case EACCES:
    case EPERM:
      return NotFoundError(path, ": may not ", verb,
                           " it (permission denied); give this user the right to, or move it");
    case EROFS:
      return NotFoundError(path, ": may not ", verb, " it (read-only file system); choose another folder");
    case ELOOP:
      return NotFoundError(path, ": its symbolic links form a cycle; remove one of them");
    case ENAMETOOLONG:
      return NotFoundError(path, ": the path is longer than the file system allows");
    case ENXIO:
      return NotARegularFileError(path);
    case EISDIR:
      return NotFoundError(path, " is a folder, where a file is expected");
    case EMFILE:
    case ENFILE:
      return ResourceError(path, ": too many open files; raise the limit (ulimit -n)");
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
      return ResourceError(path, ": could not ", verb, " it: ", SystemMessage(error));
    default:
      return BeyondRow(DataError(path, ": could not ", verb, " it: ", SystemMessage(error)));
  }
}

}  // namespace headrace

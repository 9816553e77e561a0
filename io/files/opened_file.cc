#include "io/files/opened_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "core/error.h"

namespace headrace {
namespace {

// Bytes of a file's name in that of its draft: names may be as long as the file system allows.
constexpr size_t kNameInDraft = 100;

// Retries after a signal of the program's own threads.
Descriptor OpenWith(const std::string& path, int flags, mode_t mode = 0) {
  while (true) {
    const int number = open(path.c_str(), flags | O_CLOEXEC, mode);
    if (number >= 0 || errno != EINTR) return Descriptor(number);
  }
}

int FlagOf(Writing where) { return where == Writing::kAtEnd ? O_APPEND : 0; }

bool IsLink(const std::string& path) {
  struct stat named;
  return lstat(path.c_str(), &named) == 0 && S_ISLNK(named.st_mode);
}

// Why an open file is not to be written to; empty: it may be.
std::string RefusalOf(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "is a pipe, a socket or a device";
  if (file.st_uid != geteuid()) return Cat("belongs to user ", file.st_uid, ", and this process to user ", geteuid());
  if (file.st_nlink > 1) return Cat("has ", file.st_nlink, " names (hard links)");
  return "";
}

}  // namespace

// O_NONBLOCK has no effect on regular files.
Descriptor OpenToRead(const std::string& path) { return OpenWith(path, O_RDONLY | O_NONBLOCK); }

Descriptor MakeFile(const std::string& path, mode_t mode, Writing where) {
  return OpenWith(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | FlagOf(where), mode);
}

std::string DraftName(const std::string& path) {
  static std::atomic<uint64_t> drafts{0};
  uint64_t number = 0;
  // Where the system has no random numbers, the name is new, and MakeFile refuses one that is taken.
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    number = static_cast<uint64_t>(getpid()) << 32 | drafts.fetch_add(1);
  }
  const size_t name = path.find_last_of('/') + 1;
  return Cat(path.substr(0, name), ".", path.substr(name, kNameInDraft), ".", absl::Hex(number, absl::kZeroPad16),
             ".new");
}

bool LockFile(const Descriptor& file) { return flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

void SyncFolderOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor opened = OpenWith(folder, O_RDONLY | O_DIRECTORY);
  if (opened.is_open()) fsync(opened.get());
}

OwnFile OpenOwnFile(const std::string& path, Writing where) {
  Descriptor file = OpenWith(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | FlagOf(where));
  if (!file.is_open()) {
    const int error = errno;
    std::string refused = error == ELOOP && IsLink(path) ? "is a symbolic link" : "";
    // A socket, or a device that is not there.
    if (error == ENXIO) refused = "is a pipe, a socket or a device";
    errno = error;
    return {std::move(file), std::move(refused)};
  }
  struct stat found;
  if (fstat(file.get(), &found) != 0) return {Descriptor(-1), ""};
  if (std::string refused = RefusalOf(found); !refused.empty()) return {Descriptor(-1), std::move(refused)};
  if (found.st_nlink > 0) return {std::move(file), ""};
  // It was deleted after it was opened.
  errno = ENOENT;
  return {Descriptor(-1), ""};
}

absl::Status NotOwnFileError(std::string_view path, const OwnFile& refused) {
  return UnsupportedError(path, " ", refused.refused,
                          ", and only a regular file of this user's with one name is written to: remove it, or "
                          "write to another folder");
}

}  // namespace headrace

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/files/descriptor.h"
#include "io/files/descriptor_io.h"
#include "io/files/local_files.h"
#include "io/files/local_output.h"
#include "io/files/opened_file.h"
#include "io/files/output_stream.h"
#include "io/files/plainly_missing.h"
#include "io/files/system_error.h"

namespace headrace {
namespace {

constexpr size_t kPage = 4096;
constexpr int64_t kManyPages = 64 << 10;
// The number of entries of a folder after which it checks the interrupt.
constexpr size_t kEntriesAtOnce = 64;
constexpr size_t kEntriesOfPage = 4096;
// How far ahead of a read that was asked for the system begins to read as much again, as a multiple of it.
constexpr int64_t kReadsAhead = 2;

EntryType TypeOfMode(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::kFile;
  if (S_ISDIR(mode)) return EntryType::kFolder;
  return EntryType::kOther;
}

FileStat FromSystem(const struct stat& from) {
  FileStat stat;
  stat.type = TypeOfMode(from.st_mode);
  stat.size = from.st_size;
  stat.changed_ns = int64_t{from.st_ctim.tv_sec} * 1'000'000'000 + from.st_ctim.tv_nsec;
  stat.identity = Cat(from.st_dev, ":", from.st_ino);
  return stat;
}

int64_t HeldBytesOf(const struct stat& from) {
  constexpr int64_t kBlock = 512;  // whatever the disk's are
  return int64_t{from.st_blocks} * kBlock;
}

class LocalFile : public WritableFile {
 public:
  LocalFile(const FileSystem* files, std::string path, Descriptor descriptor)
      : files_(files), path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const override {
    const int64_t read = ReadFully(descriptor_, offset, target);
    if (read < 0) return SystemError(*files_, path_, "read", static_cast<int>(-read));
    return read;
  }

  // Reads at once, which takes a few microseconds from the page cache, and where reads follow each other has the system
  // bring the next bytes there.
  void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const override {
    const auto bytes = static_cast<int64_t>(target.size());
    const int64_t before = behind_last_.exchange(offset + bytes, std::memory_order_relaxed);
    if (before == kNothingRead || before == offset) {
      posix_fadvise(descriptor_.get(), offset + bytes * kReadsAhead, bytes, POSIX_FADV_WILLNEED);
    }
    done(ReadAt(offset, target));
  }

  absl::StatusOr<int64_t> Size() const override {
    struct stat stat;
    if (fstat(descriptor_.get(), &stat) != 0) return SystemError(*files_, path_, "look at", errno);
    return stat.st_size;
  }

  absl::StatusOr<int64_t> HeldBytes() const override {
    struct stat stat;
    if (fstat(descriptor_.get(), &stat) != 0) return SystemError(*files_, path_, "look at", errno);
    return HeldBytesOf(stat);
  }

  absl::Status WriteAt(int64_t offset, absl::Span<const uint8_t> bytes) const override {
    const int error = WriteFully(descriptor_, offset, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return error == 0 ? absl::OkStatus() : SystemError(*files_, path_, "write", error);
  }

  absl::Status Sync() const override {
    return fdatasync(descriptor_.get()) == 0 ? absl::OkStatus() : SystemError(*files_, path_, "write", errno);
  }

 private:
  static constexpr int64_t kNothingRead = -1;

  const FileSystem* files_;
  std::string path_;
  Descriptor descriptor_;
  mutable std::atomic<int64_t> behind_last_{kNothingRead};  // the byte after the last read that was asked for
};

class Local : public LocalFiles {
 public:
  absl::StatusOr<Tensor> Read(const std::string& path) const override {
    struct stat stat;
    HEADRACE_ASSIGN_OR_RETURN(const Descriptor descriptor, OpenRegular(path, stat));
    const int64_t size = stat.st_size;
    HEADRACE_RETURN_IF_ERROR(CheckHeld(path, size, HeldBytesOf(stat)));
    BufferRef buffer = BufferPool::Current().Allocate(size);
    if (!buffer) return ResourceError("no memory for ", path, " (", size, " bytes)");
    uint8_t* data = buffer->data();
    // Begins at a page if the buffer has room, as the kernel copies from pages: a twentieth faster than an unaligned
    // start.
    const size_t gap = size >= kManyPages ? -reinterpret_cast<uintptr_t>(data) % kPage : 0;
    if (gap + static_cast<size_t>(size) <= buffer->capacity()) data += gap;
    const int64_t read = ReadFully(descriptor, 0, absl::MakeSpan(data, size));
    if (read < 0) return SystemError(*this, path, "read", static_cast<int>(-read));
    if (fstat(descriptor.get(), &stat) != 0) return SystemError(*this, path, "read", errno);
    if (read < size || stat.st_size != size) return SizeChangedError(path, size, read < size ? read : stat.st_size);
    return Tensor::ViewBytes(DType::kBytes, std::move(buffer), data, size);
  }

  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const override {
    struct stat stat;
    HEADRACE_ASSIGN_OR_RETURN(Descriptor descriptor, OpenRegular(path, stat));
    return std::make_shared<const LocalFile>(this, path, std::move(descriptor));
  }

  absl::StatusOr<FileStat> Stat(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    struct stat from;
    if (stat(path.c_str(), &from) == 0) return FromSystem(from);
    const int error = errno;
    // Does not explain the error, because the explanation itself stats the folders above.
    if (error == ENOENT || error == ENOTDIR) return MissingError(path);
    return SystemError(*this, path, "look at", error);
  }

  absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const override;
  absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                       const OutputOptions& options) const override {
    return CreateLocalOutput(*this, path, options);
  }
  absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                       int64_t bytes) const override {
    return ResumeLocalOutput(*this, path, options, bytes);
  }
  absl::Status Remove(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
    if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
    return SystemError(*this, path, "remove", errno);
  }
  absl::Status MakeOwnFolder(const std::string& folder) const override;
  absl::StatusOr<std::shared_ptr<const WritableFile>> MakeLocked(const std::string& path,
                                                                 std::string_view head) const override;
  absl::StatusOr<std::shared_ptr<const WritableFile>> OpenLocked(const std::string& path) const override;
  absl::Status Touch(const std::string& path) const override {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
    if (utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0) return absl::OkStatus();
    return SystemError(*this, path, "write", errno);
  }

 private:
  // Only this user may read it and write to it.
  static constexpr mode_t kOwn = 0600;

  absl::StatusOr<Descriptor> OpenRegular(const std::string& path, struct stat& stat) const {
    HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
    Descriptor descriptor = OpenToRead(path);
    if (!descriptor.is_open()) return SystemError(*this, path, "read", errno);
    if (fstat(descriptor.get(), &stat) != 0) return SystemError(*this, path, "read", errno);
    if (S_ISDIR(stat.st_mode)) return SystemError(*this, path, "read", EISDIR);
    if (!S_ISREG(stat.st_mode)) return NotARegularFileError(path);
    return descriptor;
  }
};

// Whether a link leads nowhere. Other errors, as of a disk, say nothing of what is there.
bool LeadsNowhere(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

// Fills in what the folder does not contain. ENOENT if the entry vanished meanwhile, another errno if it cannot be
// looked at, otherwise 0.
int Complete(int folder, bool sizes, unsigned char known, FolderEntry& entry) {
  struct stat stat;
  if (known == DT_UNKNOWN) {
    if (fstatat(folder, entry.name.c_str(), &stat, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    entry.link = S_ISLNK(stat.st_mode);
    known = entry.link ? DT_LNK : DT_UNKNOWN;
  } else if (known == DT_LNK) {
    entry.link = true;
  }
  if (!entry.link && known != DT_UNKNOWN && !(sizes && known == DT_REG)) {
    entry.type = known == DT_REG ? EntryType::kFile : known == DT_DIR ? EntryType::kFolder : EntryType::kOther;
    return 0;
  }
  if (fstatat(folder, entry.name.c_str(), &stat, 0) != 0) {
    if (!entry.link || !LeadsNowhere(errno)) return errno;
    entry.type = EntryType::kBrokenLink;
    return 0;
  }
  entry.type = TypeOfMode(stat.st_mode);
  if (sizes && entry.type == EntryType::kFile) entry.size = stat.st_size;
  return 0;
}

using OpenFolder = std::unique_ptr<DIR, int (*)(DIR*)>;

class LocalPages : public FolderPages {
 public:
  LocalPages(const FileSystem* files, std::string folder, OpenFolder directory, bool sizes)
      : files_(files), folder_(std::move(folder)), directory_(std::move(directory)), sizes_(sizes) {}

  absl::StatusOr<std::vector<FolderEntry>> Next() override {
    std::vector<FolderEntry> entries;
    while (entries.size() < kEntriesOfPage) {
      errno = 0;
      const dirent* found = readdir(directory_.get());
      if (found == nullptr && errno != 0) return SystemError(*files_, folder_, "list", errno);
      if (found == nullptr) return entries;
      const std::string_view name = found->d_name;
      if (name == "." || name == "..") continue;
      FolderEntry entry;
      entry.name = name;
      if (entries.size() % kEntriesAtOnce == 0) HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
      const int error = Complete(dirfd(directory_.get()), sizes_, found->d_type, entry);
      if (error == ENOENT) continue;
      if (error != 0) return SystemError(*files_, JoinPath(folder_, entry.name), "look at", error);
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  const FileSystem* const files_;
  const std::string folder_;
  const OpenFolder directory_;
  const bool sizes_;
};

absl::StatusOr<std::unique_ptr<FolderPages>> Local::ListPages(const std::string& folder, bool sizes) const {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", folder));
  HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
  OpenFolder opened(opendir(folder.c_str()), closedir);
  if (opened == nullptr && errno == ENOTDIR) {
    if (Stat(folder).ok()) return NotFoundError(folder, " is a file, where a folder is expected");
    return MissingPathError(*this, folder);
  }
  if (opened == nullptr) return SystemError(*this, folder, "list", errno);
  return std::make_unique<LocalPages>(this, folder, std::move(opened), sizes);
}

// Makes a folder with that mode, and those above it: 0 or errno. std::filesystem gives ENOENT where a call failed for
// another reason.
int MakeFolders(const std::string& folder, mode_t mode) {
  struct stat found;
  if (stat(folder.c_str(), &found) == 0) return S_ISDIR(found.st_mode) ? 0 : ENOTDIR;
  if (errno != ENOENT) return errno;
  const size_t slash = folder.find_last_of('/', folder.find_last_not_of('/'));
  if (slash != std::string::npos && slash > 0) {
    if (const int error = MakeFolders(folder.substr(0, slash), 0777); error != 0) return error;
  }
  return mkdir(folder.c_str(), mode) == 0 || errno == EEXIST ? 0 : errno;
}

absl::Status Local::MakeOwnFolder(const std::string& folder) const {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the folder", folder));
  const int error = MakeFolders(folder, 0700);
  if (error == 0) return absl::OkStatus();
  if (error == ENOTDIR) return NotFoundError("cannot make the folder ", folder, ": ", SystemMessage(error));
  return SystemError(*this, folder, "make", error);
}

absl::StatusOr<std::shared_ptr<const WritableFile>> Local::MakeLocked(const std::string& path,
                                                                      std::string_view head) const {
  const std::string draft = Cat(path, ".draft");
  Descriptor descriptor = MakeFile(draft, kOwn);
  if (!descriptor.is_open()) return SystemError(*this, path, "write", errno);
  // Continues without a lock if the disk has none: then no process finds one there either.
  LockFile(descriptor);
  int error = WriteFully(descriptor, 0, head);
  if (error == 0 && rename(draft.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return std::make_shared<const LocalFile>(this, path, std::move(descriptor));
  unlink(draft.c_str());
  return SystemError(*this, path, "write", error);
}

// Opens for writing, because some disks only lock such files.
absl::StatusOr<std::shared_ptr<const WritableFile>> Local::OpenLocked(const std::string& path) const {
  OwnFile own = OpenOwnFile(path, Writing::kAnywhere);
  if (!own.refused.empty()) return NotOwnFileError(path, own);
  if (!own.file.is_open()) return SystemError(*this, path, "write", errno);
  if (!LockFile(own.file)) return NotFoundError(path, " is locked by another process");
  return std::make_shared<const LocalFile>(this, path, std::move(own.file));
}

}  // namespace

const FileSystem* LocalFileSystem() {
  static const Local* const local = new Local;
  return local;
}

}  // namespace headrace

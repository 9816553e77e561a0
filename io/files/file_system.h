// `FileSystem` reads whole files, ranges and folders, and writes files. Everything that touches a file goes through
// one, so that tests can inject delays and faults, and a remote store is one more implementation
// (io/files/file_system_registry.h finds it by the scheme of a path). Paths use '/'; links are followed; only regular
// files are read, without blocking on others; a path with a NUL in it is refused (kGraph). Listing and stat calls end
// with kClosed if the thread's Interrupt is wanted (core/interrupt.h).
// Threads: a FileSystem and a RandomAccessFile may be used from any thread at once; FolderPages and an OutputStream
// belong to one thread at a time.
#ifndef HEADRACE_IO_FILES_FILE_SYSTEM_H_
#define HEADRACE_IO_FILES_FILE_SYSTEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "io/files/default_file_system.h"

namespace headrace {

enum class EntryType {
  kFile,
  kFolder,
  kBrokenLink,  // a link without a target
  kOther,       // devices, pipes, sockets
};

struct FileStat {
  EntryType type = EntryType::kFile;
  int64_t size = 0;
  // Tells contents apart wherever the file is seen from: a strong ETag, a generation. It is part of fingerprints, which
  // travel with states. Empty: the file system has none.
  std::string version;
  // The last change of its bytes, entries, name or permissions, since 1970; unlike modification times it cannot be set
  // back, as `rsync -a` and `tar` do. 0 if the file system does not know it.
  int64_t changed_ns = 0;
  // Two equal identities are one folder under two names; empty where links cannot make a cycle.
  std::string identity;
};

struct FolderEntry {
  std::string name;
  EntryType type = EntryType::kFile;  // of the target, if the entry is a link
  bool link = false;
  int64_t size = -1;    // for files, if requested or known anyway
  std::string version;  // as FileStat::version, if known
};

// What a listing said of a file. A file system that can tell refuses other contents: an error that names the file,
// "changed since it was listed", before any of its bytes are given.
struct ListedFile {
  int64_t size = -1;     // -1: not known
  uint64_t version = 0;  // VersionHash of the version; 0: not known
};
// Never 0, but for an empty version.
uint64_t VersionHash(std::string_view version);

// An open file. It is not closed while a read that it was asked for is outstanding.
class RandomAccessFile {
 public:
  // The result of a read: the number of bytes, fewer than were asked for only at the file's end; or the error.
  using Done = std::function<void(absl::StatusOr<int64_t> read)>;

  virtual ~RandomAccessFile() = default;
  // Reads bytes into `target`; fewer than its size only at the file's end.
  virtual absl::StatusOr<int64_t> ReadAt(int64_t offset, absl::Span<uint8_t> target) const = 0;
  // As ReadAt, but may return before the bytes are there: `done` is called once, on any thread, perhaps before
  // StartReadAt returns, and must not block. `target` stays valid until then. Any number of reads may be outstanding.
  // The default implementation reads synchronously.
  virtual void StartReadAt(int64_t offset, absl::Span<uint8_t> target, Done done) const {
    done(ReadAt(offset, target));
  }
  // The current size, in bytes.
  virtual absl::StatusOr<int64_t> Size() const = 0;
  // How many bytes of it the disk holds: fewer than its size where it has holes, or the disk compresses.
  virtual absl::StatusOr<int64_t> HeldBytes() const { return Size(); }
};

// A listing that goes on. Destroying it cancels what is left.
class FolderPages {
 public:
  virtual ~FolderPages() = default;
  // The next entries, at most some thousands; none: the folder has no more. Not called again after an error.
  virtual absl::StatusOr<std::vector<FolderEntry>> Next() = 0;
};

class FarFiles;
class LocalFiles;
class OutputStream;
struct OutputOptions;

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The whole file with its current bytes, in one buffer of the running task's pool; kData if its size changes
  // meanwhile.
  virtual absl::StatusOr<Tensor> Read(const std::string& path) const = 0;
  virtual absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path) const = 0;
  // Of a file that was listed: a far store opens it without a request. The default implementation ignores `listed`.
  virtual absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Open(const std::string& path,
                                                                       const ListedFile& listed) const;
  // As Read, but may return before the bytes are there, as RandomAccessFile::StartReadAt. What `Read` takes from the
  // running task (its buffers' pool) it takes before it returns. The default implementation reads synchronously.
  using ReadDone = std::function<void(absl::StatusOr<Tensor> read)>;
  virtual void StartRead(const std::string& path, const ListedFile& listed, ReadDone done) const;
  // A missing path is kNotFound without a reason; MissingPathError finds the reason.
  virtual absl::StatusOr<FileStat> Stat(const std::string& path) const = 0;
  // The entries of a folder in any order, without "." and "..". With `sizes`, those of files are known.
  virtual absl::StatusOr<std::unique_ptr<FolderPages>> ListPages(const std::string& folder, bool sizes) const = 0;
  // A new file, which gets its name when it is whole (io/files/output_stream.h). kUnsupported: nothing is written here,
  // another process writes to the draft, or the draft or what has the name is not a file of this user's. The default
  // implementation writes nothing.
  virtual absl::StatusOr<std::unique_ptr<OutputStream>> Create(const std::string& path,
                                                               const OutputOptions& options) const;
  // Goes on with a draft that was left, after its first `bytes` bytes; the rest of it is dropped. kNotFound: there is
  // no draft; kData: it is shorter; kUnsupported as Create.
  virtual absl::StatusOr<std::unique_ptr<OutputStream>> Resume(const std::string& path, const OutputOptions& options,
                                                               int64_t bytes) const;
  // Removes a file; OK if there is none.
  virtual absl::Status Remove(const std::string& path) const;

  // The file system that serves a path, and the path there. kUnsupported: none does.
  struct Located {
    const FileSystem* files;
    std::string path;
  };
  virtual absl::StatusOr<Located> Locate(const std::string& path) const { return Located{this, path}; }
  // What only the machine's own files can do; null: these are not.
  virtual const LocalFiles* local() const { return nullptr; }
  // What only a store behind a network can do (io/files/far_files.h); null: this one is not far.
  virtual const FarFiles* far() const { return nullptr; }

  // The file system by which values of its files may be kept beyond this one's life: another one for those that only
  // add what a run knows (io/files/far_listings.h).
  virtual const FileSystem* kept_as() const { return this; }

  // Replaces a whole file: readers see the old one or the new one, never a part.
  absl::Status Write(const std::string& path, absl::Span<const std::string_view> parts) const;
  absl::Status Write(const std::string& path, absl::Span<const std::string_view> parts,
                     const OutputOptions& options) const;
  // All pages of a folder.
  absl::StatusOr<std::vector<FolderEntry>> List(const std::string& folder, bool sizes = false) const;
  // `bytes` from `offset` on; kData if the file ends before.
  absl::StatusOr<Tensor> ReadRange(const std::string& path, int64_t offset, int64_t bytes) const;
};

// The machine's own files, by plain paths. Lives as long as the process.
const FileSystem* LocalFileSystem();

// kGraph if a path contains a NUL, where the system would end it. `what` names it: "the pattern".
absl::Status CheckNoNul(std::string_view what, std::string_view path);

// kData: the file was written to during the read, and had `before` bytes at its start.
absl::Status SizeChangedError(std::string_view path, int64_t before, int64_t after);

// Called before memory is taken for `bytes` of a file. kData if they are more than the budget of the running task, and
// the disk holds less than half of the file: such a file costs whoever made it nothing. Other files may exceed the
// budget, as one row may.
absl::Status CheckHeld(std::string_view path, const RandomAccessFile& file, int64_t bytes);
// The same of a whole file whose size, and what the disk holds of it, are known.
absl::Status CheckHeld(std::string_view path, int64_t size, int64_t held);

// The part of a path in front of its first folder or name: "/", "file:///", "s3://"; "" of a relative path.
std::string_view RootOf(std::string_view path);

// "photos/" and "cat" to "photos/cat".
std::string JoinPath(std::string_view folder, std::string_view name);

// kNotFound, naming the path, the part of it that is missing, and the nearest name that exists beside it.
absl::Status MissingPathError(const FileSystem& files, const std::string& path);

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_FILE_SYSTEM_H_

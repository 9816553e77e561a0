#include "io/files/local_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/files/descriptor.h"
#include "io/files/descriptor_io.h"
#include "io/files/opened_file.h"
#include "io/files/system_error.h"

namespace headrace {
namespace {

// What is appended before it is written.
constexpr size_t kWriteBytes = size_t{1} << 20;
// How often a draft is made anew that others delete as soon as it is there.
constexpr int kDraftTries = 100;
constexpr mode_t kPermissions = 0777;

class LocalOutput : public OutputStream {
 public:
  LocalOutput(const FileSystem* files, std::string path, std::string draft, OutputOptions options, Descriptor file,
              int64_t size)
      : files_(files),
        path_(std::move(path)),
        draft_(std::move(draft)),
        options_(std::move(options)),
        file_(std::move(file)),
        written_(size) {}
  ~LocalOutput() override {
    // While it is locked: a writer that begins meanwhile makes another one.
    if (file_.has_value()) unlink(draft_.c_str());
  }

  absl::Status Append(absl::Span<const std::string_view> parts) override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    for (const std::string_view part : parts) {
      // A long part is not copied first.
      if (part.size() >= kWriteBytes) {
        HEADRACE_RETURN_IF_ERROR(Flush());
        HEADRACE_RETURN_IF_ERROR(Write(part));
        continue;
      }
      buffer_.append(part);
      if (buffer_.size() >= kWriteBytes) HEADRACE_RETURN_IF_ERROR(Flush());
    }
    return absl::OkStatus();
  }

  int64_t size() const override { return written_ + static_cast<int64_t>(buffer_.size()); }

  absl::Status Rewrite(int64_t offset, std::string_view bytes) override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    const int64_t end = std::min(options_.head, size());
    if (offset < 0 || offset > end || static_cast<int64_t>(bytes.size()) > end - offset) {
      return InternalError(path_, ": bytes ", offset, " to ", offset + static_cast<int64_t>(bytes.size()),
                           " are not of the first ", end, ", which may be written again");
    }
    HEADRACE_RETURN_IF_ERROR(Flush());
    return Note(WriteFully(*file_, offset, bytes));
  }

  absl::Status Flush() override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    HEADRACE_RETURN_IF_ERROR(Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }

  absl::Status Seal() override {
    HEADRACE_RETURN_IF_ERROR(failed_);
    if (sealed_) return absl::OkStatus();
    HEADRACE_RETURN_IF_ERROR(Flush());
    if (options_.durable) HEADRACE_RETURN_IF_ERROR(Note(fdatasync(file_->get()) == 0 ? 0 : errno));
    sealed_ = true;
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    HEADRACE_RETURN_IF_ERROR(Seal());
    HEADRACE_RETURN_IF_ERROR(Note(rename(draft_.c_str(), path_.c_str()) == 0 ? 0 : errno));
    End();
    if (options_.durable) SyncFolderOf(path_);
    return absl::OkStatus();
  }

  absl::Status Keep() override {
    if (options_.draft.empty()) return InternalError(path_, ": nobody can go on with a draft of any name");
    const absl::Status flushed = sealed_ ? failed_ : Flush();
    End();
    return flushed;
  }

 private:
  absl::Status CheckOpen() const {
    HEADRACE_RETURN_IF_ERROR(failed_);
    return sealed_ ? MakeError(ErrorKind::kClosed, Cat(path_, ": nothing is written after its end")) : absl::OkStatus();
  }

  absl::Status Write(std::string_view bytes) {
    HEADRACE_RETURN_IF_ERROR(Note(WriteFully(*file_, written_, bytes)));
    written_ += static_cast<int64_t>(bytes.size());
    return absl::OkStatus();
  }

  // Remembers an error of the system.
  absl::Status Note(int error) {
    if (error != 0) failed_ = SystemError(*files_, path_, "write", error);
    return failed_;
  }

  // Lets go of the draft.
  void End() {
    file_.reset();
    sealed_ = true;
  }

  const FileSystem* const files_;
  const std::string path_;
  const std::string draft_;
  const OutputOptions options_;
  std::optional<Descriptor> file_;  // nullopt: committed or kept
  int64_t written_;
  std::string buffer_;  // not written yet
  bool sealed_ = false;
  absl::Status failed_;
};

// The permissions of the regular file of this user's that is replaced; nullopt: there is none. A link is replaced, and
// what it leads to stays. kUnsupported where something else has the name.
absl::StatusOr<std::optional<mode_t>> ModeOfReplaced(const FileSystem& files, const std::string& path) {
  struct stat found;
  if (lstat(path.c_str(), &found) != 0) return std::nullopt;
  if (S_ISDIR(found.st_mode)) return SystemError(files, path, "write", EISDIR);
  if (S_ISLNK(found.st_mode)) return std::nullopt;
  if (!S_ISREG(found.st_mode)) {
    return UnsupportedError(path, " is a pipe, a socket or a device, where a file is to be written; remove it");
  }
  if (found.st_uid != geteuid()) return std::nullopt;
  return std::optional<mode_t>(found.st_mode & kPermissions);
}

// Whether the path itself, not a link there, names the open file; another process may have renamed or deleted it.
bool IsNamed(const Descriptor& file, const std::string& path) {
  struct stat open;
  struct stat named;
  return fstat(file.get(), &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

absl::Status DraftInUseError(const std::string& draft) {
  return UnsupportedError(draft, " is being written by another process, or by another writer of this one");
}

// The draft that a process left; not open: there is none. While this process holds the lock, no other one deletes it.
absl::StatusOr<Descriptor> LockLeftDraft(const FileSystem& files, const std::string& draft) {
  for (int i = 0; i < kDraftTries; ++i) {
    OwnFile left = OpenOwnFile(draft, Writing::kAnywhere);
    if (!left.refused.empty()) return NotOwnFileError(draft, left);
    if (!left.file.is_open() && errno == ENOENT) return Descriptor(-1);
    if (!left.file.is_open()) return SystemError(files, draft, "write", errno);
    // Continues without a lock if the disk has none.
    if (!LockFile(left.file) && errno == EWOULDBLOCK) return DraftInUseError(draft);
    if (IsNamed(left.file, draft)) return std::move(left.file);
  }
  return DraftInUseError(draft);
}

// A new, locked file, in place of one that a killed process left.
absl::StatusOr<Descriptor> MakeDraft(const FileSystem& files, const std::string& draft, mode_t mode) {
  for (int i = 0; i < kDraftTries; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const Descriptor left, LockLeftDraft(files, draft));
    // A new file in any case, as whoever made the one that was left may still hold it.
    if (left.is_open() && unlink(draft.c_str()) != 0) return SystemError(files, draft, "replace", errno);
    Descriptor made = MakeFile(draft, mode);
    if (!made.is_open() && errno == EEXIST) continue;
    if (!made.is_open()) return SystemError(files, draft, "write", errno);
    if (!LockFile(made) && errno == EWOULDBLOCK) return DraftInUseError(draft);
    if (IsNamed(made, draft)) return made;
  }
  return DraftInUseError(draft);
}

// As MakeDraft, of a name that nobody can foresee. `path` is what the user named.
absl::StatusOr<Descriptor> MakeUnnamedDraft(const FileSystem& files, const std::string& path, const std::string& draft,
                                            mode_t mode) {
  Descriptor made = MakeFile(draft, mode);
  if (!made.is_open()) return SystemError(files, path, "write", errno);
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputStream>> CreateLocalOutput(const FileSystem& files, const std::string& path,
                                                                const OutputOptions& options) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<mode_t> kept, ModeOfReplaced(files, path));
  const mode_t mode = options.own ? 0600 : 0666;
  std::string draft = options.draft.empty() ? DraftName(path) : path + options.draft;
  HEADRACE_ASSIGN_OR_RETURN(Descriptor made, options.draft.empty() ? MakeUnnamedDraft(files, path, draft, mode)
                                                                   : MakeDraft(files, draft, mode));
  const int number = made.get();
  std::unique_ptr<OutputStream> stream =
      std::make_unique<LocalOutput>(&files, path, std::move(draft), options, std::move(made), 0);
  if (kept.has_value() && !options.own && fchmod(number, *kept) != 0) return SystemError(files, path, "write", errno);
  return stream;
}

absl::StatusOr<std::unique_ptr<OutputStream>> ResumeLocalOutput(const FileSystem& files, const std::string& path,
                                                                const OutputOptions& options, int64_t bytes) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the path", path));
  if (options.draft.empty()) return NotFoundError(path, ": nobody can go on with a draft of any name");
  const std::string draft = path + options.draft;
  HEADRACE_ASSIGN_OR_RETURN(Descriptor left, LockLeftDraft(files, draft));
  if (!left.is_open()) return SystemError(files, draft, "write", ENOENT);
  struct stat found;
  if (fstat(left.get(), &found) != 0) return SystemError(files, draft, "look at", errno);
  if (bytes < 0 || bytes > found.st_size) {
    return DataError(draft, " has ", found.st_size, " bytes, and cannot be gone on with after byte ", bytes);
  }
  if (ftruncate(left.get(), bytes) != 0) return SystemError(files, draft, "write", errno);
  return std::make_unique<LocalOutput>(&files, path, draft, options, std::move(left), bytes);
}

}  // namespace headrace

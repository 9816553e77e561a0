#include "io/files/hdfs/hdfs_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/files/descriptor.h"
#include "io/files/descriptor_io.h"
#include "io/files/file_system.h"
#include "io/files/hdfs/hdfs_url.h"
#include "io/files/hdfs/upload.h"
#include "io/files/http/percent_text.h"
#include "io/files/opened_file.h"
#include "io/files/system_error.h"

namespace headrace::hdfs {
namespace {

// One request appends so many bytes, which stay in memory until they are written.
constexpr size_t kChunkBytes = size_t{16} << 20;
// How often what a DataNode did not take is sent again.
constexpr int kMostSent = 5;

// Returns whether it was, of {"boolean": true}.
bool IsTrue(const http::Reply& reply) { return reply.body.find("true") != std::string::npos; }

absl::StatusOr<http::Reply> RunOperation(HdfsClient& client, Operation operation) {
  NameNodeDialogue dialogue(client.cluster(), std::move(operation));
  HEADRACE_RETURN_IF_ERROR(client.Run(dialogue));
  return std::move(dialogue.result());
}

// nullopt: there is no such file.
absl::StatusOr<std::optional<HdfsStatus>> StatusIfThere(HdfsClient& client, const std::string& name,
                                                        const std::string& path) {
  NameNodeDialogue dialogue(client.cluster(), {.name = name, .path = path, .query = "op=GETFILESTATUS"});
  HEADRACE_RETURN_IF_ERROR(client.Run(dialogue));
  if (dialogue.fault() == RemoteFault::kMissing) return std::nullopt;
  HEADRACE_RETURN_IF_ERROR(dialogue.result().status());
  return ParseFileStatus(dialogue.result()->body);
}

absl::Status DeleteFile(HdfsClient& client, const std::string& name, const std::string& path) {
  return RunOperation(client, {.name = name,
                               .path = path,
                               .query = "op=DELETE&recursive=false",
                               .method = "DELETE",
                               .purpose = http::Purpose::kWrite})
      .status();
}

// A file of this machine without a name, for what cannot be sent yet.
absl::StatusOr<Descriptor> MakeTemporaryFile() {
  const char* const folder = std::getenv("TMPDIR");
  const std::string path = DraftName(JoinPath(folder == nullptr || *folder == '\0' ? "/tmp" : folder, "headrace_hdfs"));
  Descriptor file = MakeFile(path, 0600);
  if (!file.is_open()) return SystemError(*LocalFileSystem(), path, "write", errno);
  unlink(path.c_str());
  return file;
}

class HdfsOutput : public OutputStream {
 public:
  // `written` bytes of the draft are there; none: it is made by the first bytes.
  HdfsOutput(HdfsClient* client, std::string name, std::string path, std::string draft, OutputOptions options,
             std::optional<int64_t> written)
      : client_(client),
        name_(std::move(name)),
        path_(std::move(path)),
        draft_(std::move(draft)),
        options_(std::move(options)),
        made_(written.has_value()),
        written_(written.value_or(0)) {}
  ~HdfsOutput() override {
    if (made_ && !ended_) DeleteFile(*client_, name_, draft_).IgnoreError();
  }

  absl::Status Append(absl::Span<const std::string_view> parts) override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    for (std::string_view part : parts) {
      while (!part.empty()) {
        const std::string_view taken = part.substr(0, kChunkBytes - buffer_.size());
        buffer_.append(taken);
        part.remove_prefix(taken.size());
        if (buffer_.size() == kChunkBytes) HEADRACE_RETURN_IF_ERROR(Note(Empty()));
      }
    }
    return absl::OkStatus();
  }

  int64_t size() const override { return written_ + spooled_ + static_cast<int64_t>(buffer_.size()); }

  absl::Status Rewrite(int64_t offset, std::string_view bytes) override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    const int64_t end = std::min(options_.head, size());
    if (offset < 0 || offset > end || static_cast<int64_t>(bytes.size()) > end - offset) {
      return InternalError(name_, ": bytes ", offset, " to ", offset + static_cast<int64_t>(bytes.size()),
                           " are not of the first ", end, ", which may be written again");
    }
    if (written_ > 0) {
      return UnsupportedError(name_,
                              ": HDFS only appends, and the head of a draft that was left is written already; "
                              "write the file anew");
    }
    HEADRACE_RETURN_IF_ERROR(Note(Spool()));
    return Note(SystemStatus(WriteFully(*spool_, offset, bytes)));
  }

  absl::Status Flush() override {
    HEADRACE_RETURN_IF_ERROR(CheckOpen());
    return Note(is_spooled() ? Spool() : Send());
  }

  absl::Status Seal() override {
    HEADRACE_RETURN_IF_ERROR(failed_);
    if (std::exchange(sealed_, true)) return absl::OkStatus();
    if (is_spooled()) HEADRACE_RETURN_IF_ERROR(Note(SendSpool()));
    HEADRACE_RETURN_IF_ERROR(Note(Send()));
    return Note(CheckLength());
  }

  absl::Status Commit() override {
    HEADRACE_RETURN_IF_ERROR(Seal());
    HEADRACE_RETURN_IF_ERROR(Note(Rename()));
    ended_ = true;
    return absl::OkStatus();
  }

  absl::Status Keep() override {
    if (options_.draft.empty()) return InternalError(name_, ": nobody can go on with a draft of any name");
    const absl::Status kept = sealed_ ? failed_ : KeepRest();
    ended_ = sealed_ = true;
    return kept;
  }

 private:
  bool is_spooled() const { return options_.head > 0 && written_ == 0; }

  absl::Status CheckOpen() const {
    HEADRACE_RETURN_IF_ERROR(failed_);
    return sealed_ ? MakeError(ErrorKind::kClosed, Cat(name_, ": nothing is written after its end")) : absl::OkStatus();
  }
  absl::Status Note(absl::Status status) {
    if (!status.ok()) failed_ = status;
    return status;
  }
  absl::Status SystemStatus(int error) const {
    return error == 0 ? absl::OkStatus() : SystemError(*LocalFileSystem(), "a temporary file", "write", error);
  }

  // Lets go of the buffer.
  absl::Status Empty() { return is_spooled() ? Spool() : Send(); }

  absl::Status Spool() {
    if (!spool_.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(Descriptor file, MakeTemporaryFile());
      spool_.emplace(std::move(file));
    }
    HEADRACE_RETURN_IF_ERROR(SystemStatus(WriteFully(*spool_, spooled_, buffer_)));
    spooled_ += static_cast<int64_t>(buffer_.size());
    buffer_.clear();
    return absl::OkStatus();
  }

  absl::Status SendSpool() {
    HEADRACE_RETURN_IF_ERROR(Spool());
    const int64_t bytes = std::exchange(spooled_, 0);
    for (int64_t sent = 0; sent < bytes; sent = written_) {
      buffer_.resize(std::min<size_t>(kChunkBytes, static_cast<size_t>(bytes - sent)));
      const auto target = absl::MakeSpan(reinterpret_cast<uint8_t*>(buffer_.data()), buffer_.size());
      const int64_t read = ReadFully(*spool_, sent, target);
      if (read != static_cast<int64_t>(buffer_.size())) {
        return SystemError(*LocalFileSystem(), "a temporary file", "read", read < 0 ? static_cast<int>(-read) : EIO);
      }
      HEADRACE_RETURN_IF_ERROR(Send());
    }
    return absl::OkStatus();
  }

  absl::Status KeepRest() {
    if (is_spooled()) HEADRACE_RETURN_IF_ERROR(SendSpool());
    return Send();
  }

  Operation CreateOperation() const {
    return {.name = name_,
            .path = draft_,
            .query = Cat("op=CREATE&overwrite=true", options_.own ? "&permission=600" : ""),
            .method = "PUT",
            .purpose = http::Purpose::kWrite};
  }
  Operation AppendOperation() const {
    return {.name = name_, .path = draft_, .query = "op=APPEND", .method = "POST", .purpose = http::Purpose::kWrite};
  }

  // Sends the buffer to the end of the draft.
  absl::Status Send() {
    if (made_ && buffer_.empty()) return absl::OkStatus();
    std::string_view rest = buffer_;
    bool is_there = made_;
    absl::Status last;
    for (int tries = 0; tries < kMostSent; ++tries) {
      if (tries > 0) HEADRACE_RETURN_IF_ERROR(FindRest(is_there, rest));
      if (is_there && rest.empty()) return Sent();
      Upload upload(client_->cluster(), is_there ? AppendOperation() : CreateOperation(), rest);
      HEADRACE_RETURN_IF_ERROR(client_->Run(upload));
      made_ |= upload.may_have_written();
      last = upload.result().status();
      if (last.ok()) return tries == 0 ? Sent() : SentAgain();
      if (KindOf(last) != ErrorKind::kResource || !upload.may_have_written()) return last;
    }
    return last;
  }

  absl::Status Sent() {
    made_ = true;
    written_ += static_cast<int64_t>(buffer_.size());
    buffer_.clear();
    return absl::OkStatus();
  }
  absl::Status SentAgain() {
    HEADRACE_RETURN_IF_ERROR(Sent());
    return CheckLength();
  }

  // After an upload broke off: whether the draft is there, and what of the buffer it lacks.
  absl::Status FindRest(bool& is_there, std::string_view& rest) {
    HEADRACE_ASSIGN_OR_RETURN(const std::optional<HdfsStatus> status, StatusIfThere(*client_, name_, draft_));
    is_there = status.has_value();
    const int64_t there = is_there ? status->size - written_ : 0;
    if (there < 0 || there > static_cast<int64_t>(buffer_.size())) return LengthError(status->size);
    rest = std::string_view(buffer_).substr(static_cast<size_t>(there));
    return absl::OkStatus();
  }

  absl::Status LengthError(int64_t found) const {
    return BeyondRow(ResourceError(name_, ": its draft in HDFS has ", found, " bytes, where ", written_,
                                   " were written; another process may write to it; write the file anew"));
  }

  absl::Status CheckLength() {
    HEADRACE_ASSIGN_OR_RETURN(const HdfsStatus status, client_->Status(name_, draft_));
    file_id_ = status.file_id;
    return status.size == written_ ? absl::OkStatus() : LengthError(status.size);
  }

  absl::Status Rename() {
    NameNodeDialogue dialogue(client_->cluster(), {.name = name_,
                                                   .path = draft_,
                                                   .query = Cat("op=RENAME&renameoptions=OVERWRITE&destination=",
                                                                http::PercentEncoded(path_)),
                                                   .method = "PUT",
                                                   .purpose = http::Purpose::kWrite});
    HEADRACE_RETURN_IF_ERROR(client_->Run(dialogue));
    const absl::StatusOr<http::Reply>& renamed = dialogue.result();
    const bool refused = renamed.ok() && renamed->body.find("false") != std::string::npos;
    if (renamed.ok() && !refused) return absl::OkStatus();
    // The reply of an attempt that had done it may be lost.
    if (dialogue.fault() == RemoteFault::kMissing && WasRenamed()) return absl::OkStatus();
    if (!renamed.ok()) return renamed.status();
    return UnsupportedError(name_,
                            ": HDFS does not give the draft its name; check that its folder is there, and that it "
                            "is not a folder itself");
  }

  bool WasRenamed() {
    const absl::StatusOr<HdfsStatus> status = client_->Status(name_, path_);
    return status.ok() && status->size == written_ && status->file_id == file_id_ && file_id_ != 0;
  }

  HdfsClient* const client_;
  const std::string name_;
  const std::string path_;
  const std::string draft_;
  const OutputOptions options_;
  bool made_;        // the draft may be there
  int64_t written_;  // bytes of the draft
  std::string buffer_;
  std::optional<Descriptor> spool_;
  int64_t spooled_ = 0;  // bytes there
  int64_t file_id_ = 0;
  bool sealed_ = false;
  bool ended_ = false;  // committed or kept
  absl::Status failed_;
};

absl::Status CheckNotFolder(const std::string& name, const std::optional<HdfsStatus>& status) {
  if (!status.has_value() || status->type == EntryType::kFile) return absl::OkStatus();
  return SystemError(*LocalFileSystem(), name, "write", EISDIR);
}

// Cuts the draft off; HDFS may go on with that for a while after it answers.
absl::Status Truncate(HdfsClient& client, const std::string& name, const std::string& draft, int64_t bytes) {
  constexpr int kMostLooks = 600;
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  HEADRACE_ASSIGN_OR_RETURN(const http::Reply reply,
                            RunOperation(client, {.name = name,
                                                  .path = draft,
                                                  .query = Cat("op=TRUNCATE&newlength=", bytes),
                                                  .method = "POST",
                                                  .purpose = http::Purpose::kWrite}));
  if (IsTrue(reply)) return absl::OkStatus();
  for (int looks = 0; looks < kMostLooks; ++looks) {
    HEADRACE_ASSIGN_OR_RETURN(const HdfsStatus status, client.Status(name, draft));
    if (status.size == bytes) return absl::OkStatus();
    if (StopSignal::Raised()) return StopSignal::Error();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return BeyondRow(ResourceError(name, ": HDFS does not cut its draft off after byte ", bytes, "; try again later"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputStream>> CreateHdfsOutput(HdfsClient* client, const std::string& name,
                                                               const std::string& path, const OutputOptions& options) {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<HdfsStatus> replaced, StatusIfThere(*client, name, path));
  HEADRACE_RETURN_IF_ERROR(CheckNotFolder(name, replaced));
  std::string draft = options.draft.empty() ? DraftName(path) : path + options.draft;
  return std::make_unique<HdfsOutput>(client, name, path, std::move(draft), options, std::nullopt);
}

absl::StatusOr<std::unique_ptr<OutputStream>> ResumeHdfsOutput(HdfsClient* client, const std::string& name,
                                                               const std::string& path, const OutputOptions& options,
                                                               int64_t bytes) {
  if (options.draft.empty()) return NotFoundError(name, ": nobody can go on with a draft of any name");
  const std::string draft = path + options.draft;
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<HdfsStatus> status, StatusIfThere(*client, name, draft));
  if (!status.has_value()) return NotFoundError(name, options.draft, ": not found");
  HEADRACE_RETURN_IF_ERROR(CheckNotFolder(name, status));
  if (bytes < 0 || bytes > status->size) {
    return DataError(name, options.draft, " has ", status->size, " bytes, and cannot be gone on with after byte ",
                     bytes);
  }
  if (bytes < status->size) HEADRACE_RETURN_IF_ERROR(Truncate(*client, name, draft, bytes));
  return std::make_unique<HdfsOutput>(client, name, path, draft, options, bytes);
}

absl::Status RemoveHdfsFile(HdfsClient& client, const std::string& name, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<HdfsStatus> status, StatusIfThere(client, name, path));
  if (!status.has_value()) return absl::OkStatus();
  if (status->type == EntryType::kFolder) return SystemError(*LocalFileSystem(), name, "remove", EISDIR);
  return DeleteFile(client, name, path);
}

}  // namespace headrace::hdfs

#include "io/formats/recordio/record_writer.h"

#include <utility>

#include "core/error.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

// What is appended before it is written.
constexpr size_t kWriteBytes = size_t{1} << 20;

struct Draft {
  const LocalFiles* files;
  std::string path;
  std::shared_ptr<const WritableFile> file;
};

enum class DraftUse { kAnew, kResume };

absl::StatusOr<Draft> OpenDraft(const FileSystem& files, const std::string& path, DraftUse use) {
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, files.Locate(path));
  const LocalFiles* const local = located.files->local();
  if (local == nullptr) return UnsupportedError(path, ": records can only be written to files of this machine");
  const absl::StatusOr<FileStat> there = local->Stat(located.path);
  if (there.ok() && there->type == EntryType::kFolder) {
    return UnsupportedError(path, " is a folder, where records are to be written to a file");
  }
  const std::string named = RecordWriter::DraftPath(located.path);
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const WritableFile> draft,
                            use == DraftUse::kAnew ? local->MakeDraft(named) : local->OpenDraft(named));
  return Draft{local, located.path, std::move(draft)};
}

}  // namespace

RecordWriter::RecordWriter(const LocalFiles* files, std::string path, std::shared_ptr<const WritableFile> draft,
                           int64_t offset)
    : files_(files), path_(std::move(path)), draft_(std::move(draft)), written_(offset) {}

std::string RecordWriter::DraftPath(const std::string& path) { return path + ".draft"; }

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Create(const FileSystem& files, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(Draft draft, OpenDraft(files, path, DraftUse::kAnew));
  return std::unique_ptr<RecordWriter>(new RecordWriter(draft.files, draft.path, std::move(draft.file), 0));
}

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Resume(const FileSystem& files, const std::string& path,
                                                                   int64_t offset) {
  HEADRACE_ASSIGN_OR_RETURN(Draft draft, OpenDraft(files, path, DraftUse::kResume));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, draft.file->Size());
  if (offset < 0 || offset > size || offset % static_cast<int64_t>(RecordFrame::kAlignment) != 0) {
    return DataError(DraftPath(draft.path), " has ", size, " bytes, and no record of it ends at byte ", offset);
  }
  HEADRACE_RETURN_IF_ERROR(draft.file->Truncate(offset));
  return std::unique_ptr<RecordWriter>(new RecordWriter(draft.files, draft.path, std::move(draft.file), offset));
}

RecordWriter::~RecordWriter() {
  // While it is locked: a writer that begins meanwhile makes another one.
  if (draft_ != nullptr) files_->Delete(DraftPath(path_));
}

int64_t RecordWriter::offset() const { return written_ + static_cast<int64_t>(buffer_.size()); }

absl::StatusOr<int64_t> RecordWriter::Append(absl::Span<const std::string_view> payload) {
  HEADRACE_RETURN_IF_ERROR(failed_);
  const int64_t head = offset();
  HEADRACE_RETURN_IF_ERROR(AppendRecord(payload, buffer_));
  if (buffer_.size() >= kWriteBytes) HEADRACE_RETURN_IF_ERROR(Flush());
  return head;
}

absl::Status RecordWriter::Flush() {
  HEADRACE_RETURN_IF_ERROR(failed_);
  failed_ =
      draft_->WriteAt(written_, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(buffer_.data()), buffer_.size()));
  HEADRACE_RETURN_IF_ERROR(failed_);
  written_ += static_cast<int64_t>(buffer_.size());
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status RecordWriter::Keep() {
  const absl::Status flushed = Flush();
  draft_.reset();
  return flushed;
}

absl::Status RecordWriter::Close() {
  HEADRACE_RETURN_IF_ERROR(Flush());
  HEADRACE_RETURN_IF_ERROR(draft_->Sync());
  HEADRACE_RETURN_IF_ERROR(files_->Rename(DraftPath(path_), path_));
  draft_.reset();
  return absl::OkStatus();
}

}  // namespace headrace

#include "io/formats/recordio/record_writer.h"

#include "core/error.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

constexpr std::string_view kDraft = ".draft";

OutputOptions DraftOptions() {
  OutputOptions options;
  options.draft = kDraft;
  return options;
}

absl::Status CheckNoFolder(const FileSystem& files, const std::string& path) {
  const absl::StatusOr<FileStat> there = files.Stat(path);
  if (!there.ok() || there->type != EntryType::kFolder) return absl::OkStatus();
  return UnsupportedError(path, " is a folder, where records are to be written to a file");
}

}  // namespace

std::string RecordWriter::DraftPath(const std::string& path) { return Cat(path, kDraft); }

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Create(const FileSystem& files, const std::string& path) {
  HEADRACE_RETURN_IF_ERROR(CheckNoFolder(files, path));
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<OutputStream> stream, files.Create(path, DraftOptions()));
  return std::unique_ptr<RecordWriter>(new RecordWriter(std::move(stream)));
}

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Resume(const FileSystem& files, const std::string& path,
                                                                   int64_t offset) {
  HEADRACE_RETURN_IF_ERROR(CheckNoFolder(files, path));
  if (offset % static_cast<int64_t>(RecordFrame::kAlignment) != 0) {
    return DataError(DraftPath(path), ": no record of it ends at byte ", offset);
  }
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<OutputStream> stream, files.Resume(path, DraftOptions(), offset));
  return std::unique_ptr<RecordWriter>(new RecordWriter(std::move(stream)));
}

absl::StatusOr<int64_t> RecordWriter::Append(absl::Span<const std::string_view> payload) {
  const int64_t head = offset();
  frame_.clear();
  HEADRACE_RETURN_IF_ERROR(AppendRecord(payload, frame_));
  HEADRACE_RETURN_IF_ERROR(stream_->Append({frame_}));
  return head;
}

}  // namespace headrace

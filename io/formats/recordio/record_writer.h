// `RecordWriter` writes a RecordIO file. The records go to a draft beside it, `<path>.draft`, which takes the file's
// name when all of them are on the disk, so readers never see a partial file. The draft is locked while it is written,
// so a second writer of the same file is refused; the draft of a killed process is replaced, or continued by Resume. A
// draft that is a link, another user's, or not a regular file with one name is refused.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_RECORD_WRITER_H_
#define HEADRACE_IO_FORMATS_RECORDIO_RECORD_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/files/output_stream.h"

namespace headrace {

class RecordWriter {
 public:
  // kUnsupported: the file system cannot write, or another process is writing the file.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(const FileSystem& files, const std::string& path);
  // Goes on with a draft that was kept, after its first `offset` bytes; the rest of it is dropped. The caller must
  // check those bytes: ScanRecords of DraftPath says where records end. kNotFound: there is no draft. kData: it is
  // shorter.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Resume(const FileSystem& files, const std::string& path,
                                                              int64_t offset);
  static std::string DraftPath(const std::string& path);

  // Appends a record whose payload is these pieces, end to end, and returns the offset of its head. kData: it
  // is longer than RecordFrame::kLongest. kResource: the disk is full. After an error of the disk every call fails.
  absl::StatusOr<int64_t> Append(absl::Span<const std::string_view> payload);
  // The offset of the next record's head.
  int64_t offset() const { return stream_->size(); }
  // As those of OutputStream. The draft is removed unless Commit or Keep is called.
  absl::Status Flush() { return stream_->Flush(); }
  absl::Status Seal() { return stream_->Seal(); }
  absl::Status Commit() { return stream_->Commit(); }
  absl::Status Keep() { return stream_->Keep(); }

 private:
  explicit RecordWriter(std::unique_ptr<OutputStream> stream) : stream_(std::move(stream)) {}

  const std::unique_ptr<OutputStream> stream_;
  std::string frame_;  // of the record that is appended
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_RECORD_WRITER_H_

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

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/local_files.h"

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

  // Removes the draft, unless Close or Keep was called.
  ~RecordWriter();

  // Appends a record whose payload is these pieces, end to end, and returns the offset of its head. kData: it
  // is longer than RecordFrame::kLongest. kResource: the disk is full. After an error of the disk every call fails.
  absl::StatusOr<int64_t> Append(absl::Span<const std::string_view> payload);
  // The offset of the next record's head.
  int64_t offset() const;
  // Gives what was appended to the system, so that it outlives the process.
  absl::Status Flush();
  // Leaves the draft, with all that was appended, for Resume. Nothing is called afterwards.
  absl::Status Keep();
  // Gives the file its name, once its bytes are on the disk. Nothing is called afterwards.
  absl::Status Close();

 private:
  RecordWriter(const LocalFiles* files, std::string path, std::shared_ptr<const WritableFile> draft, int64_t offset);

  const LocalFiles* const files_;
  const std::string path_;
  std::shared_ptr<const WritableFile> draft_;  // null: closed or kept
  int64_t written_;
  std::string buffer_;  // not written yet
  absl::Status failed_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_RECORD_WRITER_H_

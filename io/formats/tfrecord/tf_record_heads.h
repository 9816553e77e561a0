// `TfRecordHeads` reads the heads of records without what is between them: single heads where records are long, and
// blocks with many where they are short.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_HEADS_H_
#define HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_HEADS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"

namespace headrace {

class TfRecordHeads {
 public:
  // `file`, of `size` bytes, outlives it.
  TfRecordHeads(const RandomAccessFile* file, int64_t size) : file_(file), size_(size) {}

  // Where the record at byte `offset` ends. kData: no whole record is there.
  absl::StatusOr<int64_t> EndAt(int64_t offset);

 private:
  // The bytes from there on, as many as a head has or more.
  absl::StatusOr<absl::Span<const uint8_t>> BytesAt(int64_t offset);

  const RandomAccessFile* const file_;
  const int64_t size_;
  std::vector<uint8_t> block_;
  int64_t block_at_ = 0;
  int64_t last_ = 0;  // the head that was read last
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_HEADS_H_

// `ForwardReader` reads the records of a ByteStream, from its first byte on. Use it for a file whose bytes come in
// order alone, as those that a compressed file holds: offsets and splits are in these bytes.
// Threads: as RecordReader's.
#ifndef HEADRACE_IO_FORMATS_FORWARD_READER_H_
#define HEADRACE_IO_FORMATS_FORWARD_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/formats/byte_stream.h"
#include "io/formats/framed_reader.h"

namespace headrace {

class ForwardReader : public RecordReader {
 public:
  // `framing` outlives the reader. `file_size`: of the file that the stream is made of. `split` begins at byte 0; what
  // comes before byte `from` is read and dropped.
  ForwardReader(const Framing* framing, std::unique_ptr<ByteStream> stream, int64_t file_size, const Split& split,
                int64_t from, size_t block_bytes)
      : framing_(framing),
        stream_(std::move(stream)),
        file_size_(file_size),
        split_(split),
        block_bytes_(block_bytes),
        offset_(from),
        left_out_(from) {}

  // What came before damage is given first.
  absl::Status Next(RecordBlock& block) override;
  int64_t offset() const override { return offset_; }
  int64_t file_size() const override { return file_size_; }

 private:
  absl::Span<uint8_t> bytes() const { return absl::MakeSpan(buffer_->data() + begin_, end_ - begin_); }
  absl::Status LeaveOut();
  absl::Status Cut(RecordBlock& block);
  absl::Status ReadMore();
  absl::Status Fill(size_t bytes);

  const Framing* const framing_;
  const std::unique_ptr<ByteStream> stream_;
  const int64_t file_size_;
  const Split split_;
  const size_t block_bytes_;
  int64_t offset_;    // of bytes() in the stream
  int64_t left_out_;  // bytes in front of them that are still to be dropped
  BufferRef buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;  // the stream ends with bytes()
  absl::Status failed_;  // what the stream ended with, after bytes()
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_FORWARD_READER_H_

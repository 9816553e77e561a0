// `TfRecordFraming` cuts the records of TFRecord files out of runs of bytes. It looks at heads alone, and remembers
// where a file was cut off within a record.
// Threads: belongs to one reader.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FRAMING_H_
#define HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FRAMING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/formats/framed_reader.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {

class TfRecordFraming : public Framing {
 public:
  // `longest`: of a payload. Few compressed bytes may stand for many.
  explicit TfRecordFraming(uint64_t longest = TfRecordFrame::kLongest) : longest_(longest) {}

  // Where the bytes end, once they were found to end within a record.
  std::optional<int64_t> cut_off() const { return cut_off_; }

  int64_t looks_behind() const override { return 0; }
  First FindFirst(absl::Span<const uint8_t> bytes, int64_t offset, bool last) const override;
  absl::StatusOr<Piece> Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                            std::vector<Record>& records) const override;
  absl::Status CheckReach(absl::Span<const uint8_t> bytes, int64_t offset, const RandomAccessFile& file) const override;

 private:
  absl::Status CutOff(int64_t offset, int64_t end) const;

  const uint64_t longest_;
  mutable std::optional<int64_t> cut_off_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FRAMING_H_

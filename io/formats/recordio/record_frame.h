// `CutRecordAt` and `AppendRecord` read and write the frame of a RecordIO record, as dmlc-core and MXNet define it: u32
// magic | u32 part << 29 | length | payload, zeros up to a multiple of 4 bytes; little-endian. A magic word that a
// payload has at a multiple of 4 bytes from its start is left out, and the payload continues in a frame of its own, so
// that such a word in a file always begins a frame.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_RECORD_FRAME_H_
#define HEADRACE_IO_FORMATS_RECORDIO_RECORD_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/recordio/frame_chains.h"

namespace headrace {

struct RecordFrame {
  static constexpr uint32_t kMagic = 0xced7230a;
  static constexpr size_t kHeadBytes = 8;
  static constexpr size_t kAlignment = 4;
  static constexpr size_t kLongest = (size_t{1} << 29) - 1;  // payload of a record, in bytes

  static constexpr uint32_t kPartShift = 29;

  // The part flag (whole, first, middle, last): bits of the word after the magic, from kPartShift on.
  enum Part : uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

  // What a payload, or a piece of one, takes in the file, in bytes.
  static constexpr size_t Padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
};

// A record cut out of bytes.
struct CutRecord {
  bool whole = false;  // false: it goes on after the bytes
  size_t begin = 0;    // of its payload in the bytes
  size_t length = 0;   // of its payload
  size_t end = 0;      // after the record; of one that goes on, how many bytes at least are needed
};

// The record whose head is at bytes[0], which is byte `offset` of the file; with `last` the file ends with the bytes.
// Joins a record of several frames where it is, with the magic words between them. A record is whole only if the head
// of another record or the end of the file follows; so pass CutRecordAt the next kHeadBytes as well. A record that goes
// on leaves its bytes as they were. kData: the record is damaged; names the byte. A reader that goes on after damage
// passes its `chains`.
absl::StatusOr<CutRecord> CutRecordAt(absl::Span<uint8_t> bytes, int64_t offset, bool last,
                                      FrameChains* chains = nullptr);

// For a record that goes on, before allocating memory for the remaining bytes: looks at the file where its next head
// would be. kData: it is damaged; names the byte.
absl::Status CheckRecordReach(absl::Span<const uint8_t> bytes, int64_t offset, const RandomAccessFile& file,
                              FrameChains* chains = nullptr);

// Whether a record begins at bytes[0]; there are at least kHeadBytes.
inline bool IsRecordHead(const uint8_t* bytes) {
  uint32_t head[2];
  std::memcpy(head, bytes, sizeof(head));
  return head[0] == RecordFrame::kMagic && head[1] >> RecordFrame::kPartShift <= RecordFrame::kFirst;
}

// The same of the fewer bytes at the end of a file, as far as there are any.
bool BeginsLikeHead(absl::Span<const uint8_t> bytes);

// The record at bytes[0], if it is of one frame and the head after it is in the bytes, as most are; not whole: ask
// CutRecordAt, which costs more.
inline CutRecord CutPlainRecordAt(absl::Span<const uint8_t> bytes) {
  uint32_t head[2];
  if (bytes.size() < sizeof(head)) return {};
  std::memcpy(head, bytes.data(), sizeof(head));
  const size_t length = head[1];
  const size_t end = RecordFrame::kHeadBytes + RecordFrame::Padded(length);
  const bool plain = head[0] == RecordFrame::kMagic && length <= RecordFrame::kLongest &&
                     end + RecordFrame::kHeadBytes <= bytes.size() && IsRecordHead(bytes.data() + end);
  return {plain, RecordFrame::kHeadBytes, length, end};
}

// The index in `bytes`, which begin at byte `offset` of the file, of the first record head at a multiple of 4 bytes of
// the file; with `last`, also of one that the file's end cuts off. bytes.size(): there is none.
size_t FindRecordHead(absl::Span<const uint8_t> bytes, int64_t offset, bool last);

// Appends the frames of a record whose payload is these pieces, end to end. kData: the payload is longer than
// RecordFrame::kLongest.
absl::Status AppendRecord(absl::Span<const std::string_view> payload, std::string& frames);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_RECORD_FRAME_H_

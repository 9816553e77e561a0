// `TfRecordFrame` is the frame of a TFRecord: u64 length | u32 masked CRC-32C of these 8 bytes | payload | u32 masked
// CRC-32C of the payload; little-endian. A file is frames end to end, without a head or a foot of its own; an empty one
// has no record. These functions read and write single frames; TfRecordFormat reads files.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FRAME_H_
#define HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace headrace {

struct TfRecordFrame {
  static constexpr size_t kCrcBytes = 4;
  static constexpr size_t kHeadBytes = sizeof(uint64_t) + kCrcBytes;
  static constexpr size_t kAroundBytes = kHeadBytes + kCrcBytes;  // of a frame, around its payload
  // Of a payload: as many as a protobuf message can have.
  static constexpr uint64_t kLongest = (uint64_t{1} << 31) - 1;
};

// CRC-32C, rotated and shifted by a constant, as the frames hold it.
uint32_t MaskedCrc32c(const void* data, size_t bytes);

// The length of the payload after this head of kHeadBytes; nullopt: it is not a head, as the CRC of its length shows.
std::optional<uint64_t> TfPayloadLength(const uint8_t* head);

// kData unless the kCrcBytes after the payload are its CRC.
absl::Status CheckTfPayload(std::string_view payload);

// What is wrong with bytes that begin at byte `offset` of a file, where a record should: kData.
absl::Status NotATfRecord(absl::Span<const uint8_t> bytes, int64_t offset);
// With the record there, whose payload would have `length` bytes: more than `most`.
absl::Status TfRecordTooLong(uint64_t length, int64_t offset, uint64_t most = TfRecordFrame::kLongest);
// With the file, which ends at byte `end`, within the record.
absl::Status TfRecordCutOff(int64_t offset, int64_t end);

// Appends the frame of a record whose payload is these pieces, end to end. kData: it is longer than kLongest.
absl::Status AppendTfRecord(absl::Span<const std::string_view> payload, std::string& frames);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FRAME_H_

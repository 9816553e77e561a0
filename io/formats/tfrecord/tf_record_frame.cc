#include "io/formats/tfrecord/tf_record_frame.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "io/formats/compressed/compression.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

constexpr uint32_t kMaskDelta = 0xa282ead8;

uint32_t Masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kMaskDelta; }

template <typename Number>
void AppendNumber(Number number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

uint32_t MaskedCrc32c(const void* data, size_t bytes) { return Masked(Crc32c(data, bytes)); }

std::optional<uint64_t> TfPayloadLength(const uint8_t* head) {
  uint64_t length;
  uint32_t crc;
  std::memcpy(&length, head, sizeof(length));
  std::memcpy(&crc, head + sizeof(length), sizeof(crc));
  return crc == MaskedCrc32c(head, sizeof(length)) ? std::optional(length) : std::nullopt;
}

absl::Status CheckTfPayload(std::string_view payload) {
  uint32_t crc;
  std::memcpy(&crc, payload.data() + payload.size(), sizeof(crc));
  if (crc == MaskedCrc32c(payload.data(), payload.size())) return absl::OkStatus();
  return DataError("the record's CRC is not that of its ", payload.size(),
                   " bytes: they were changed; copy the file again, or leave such rows out with on_error(\"skip\")");
}

absl::Status NotATfRecord(absl::Span<const uint8_t> bytes, int64_t offset) {
  if (offset > 0) {
    return DataError("no record begins at byte ", offset,
                     ", where the one before ends: its length, or the CRC of that, was changed; copy the file again");
  }
  const Compression compression = CompressionOf(bytes.first(std::min(bytes.size(), kCompressionBytes)));
  if (compression == Compression::kNone) {
    return DataError("no record begins at byte 0: is it a TFRecord file, and how is it compressed?");
  }
  return DataError("no record begins at byte 0, and the bytes begin as those of ", CompressionName(compression),
                   " do; leave out compression=, or give compression=\"", CompressionName(compression), "\"");
}

absl::Status TfRecordTooLong(uint64_t length, int64_t offset, uint64_t most) {
  return DataError("the record at byte ", offset, " has ", length, " bytes; at most ", most, " are read",
                   most < TfRecordFrame::kLongest ? " of a compressed file" : "");
}

absl::Status TfRecordCutOff(int64_t offset, int64_t end) {
  return DataError("the file ends at byte ", end, ", within the record at byte ", offset,
                   ": it was cut off; copy or write it again, or leave out the record with damage=\"skip\"");
}

absl::Status AppendTfRecord(absl::Span<const std::string_view> payload, std::string& frames) {
  uint64_t length = 0;
  uint32_t crc = 0;
  for (const std::string_view piece : payload) {
    length += piece.size();
    crc = Crc32c(piece.data(), piece.size(), crc);
  }
  if (length > TfRecordFrame::kLongest) {
    return DataError("the record has ", length, " bytes; one of a TFRecord file has at most ", TfRecordFrame::kLongest);
  }
  AppendNumber(length, frames);
  AppendNumber(MaskedCrc32c(&length, sizeof(length)), frames);
  for (const std::string_view piece : payload) frames.append(piece);
  AppendNumber(Masked(crc), frames);
  return absl::OkStatus();
}

}  // namespace headrace

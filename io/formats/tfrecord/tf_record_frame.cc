#include "io/formats/tfrecord/tf_record_frame.h"

#include <cstring>

#include "core/error.h"
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
                   " bytes: they were changed; copy the file again, or leave such records out with damage=\"skip\"");
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

#include "io/formats/mindrecord/blob_frames.h"

#include <cstddef>
#include <cstdint>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kFrameLengthBytes = 8;

// The highest byte first.
uint64_t FrameLength(std::string_view bytes) {
  uint64_t length = 0;
  for (size_t i = 0; i < kFrameLengthBytes; ++i) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  return length;
}

}  // namespace

absl::Status BlobFrames(std::string_view blob, absl::Span<std::string_view> fields) {
  if (fields.size() == 1) {
    fields[0] = blob;
    return absl::OkStatus();
  }
  size_t at = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (blob.size() - at < kFrameLengthBytes) {
      return DataError("the blob of ", blob.size(), " bytes ends before its field number ", i);
    }
    const uint64_t length = FrameLength(blob.substr(at));
    at += kFrameLengthBytes;
    if (length > blob.size() - at) {
      return DataError("field number ", i, " of the blob claims ", length, " bytes, and ", blob.size() - at,
                       " are left");
    }
    fields[i] = blob.substr(at, static_cast<size_t>(length));
    at += static_cast<size_t>(length);
  }
  if (at == blob.size()) return absl::OkStatus();
  return DataError("the blob has ", blob.size() - at, " bytes after its last field");
}

}  // namespace headrace

// `ParseImageRecord` parses the payload of MXNet's image records: a header of 24 bytes (flag u32, label f32, id u64,
// id2 u64), `flag` labels of float32, and the encoded image. Without labels (flag 0), the header's is the label.
// Python's packer writes 0 into the header where labels follow, the C++ packer the first of them.
// Threads: pure functions; a view belongs to the bytes that it was parsed from.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_IMAGE_RECORD_H_
#define HEADRACE_IO_FORMATS_RECORDIO_IMAGE_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace headrace {

struct ImageRecordHeader {
  static constexpr size_t kBytes = 24;

  uint32_t flag = 0;  // the number of labels after the header
  float label = 0;
  uint64_t id = 0;
  uint64_t id2 = 0;
};

// A parsed record: a view.
struct ImageRecord {
  ImageRecordHeader header;
  std::string_view label_bytes;  // header.flag of float32, at any alignment
  std::string_view image;        // encoded; may be empty

  // At least 1: the header's label if no others follow.
  size_t labels() const { return header.flag == 0 ? 1 : header.flag; }
  float label(size_t i) const;
  void CopyLabels(float* target) const;
};

// kData: the payload is shorter than its header, or than the labels that its header claims.
absl::StatusOr<ImageRecord> ParseImageRecord(std::string_view payload);

// Appends a header and its labels, which the image follows.
void AppendImageRecordHeader(const ImageRecordHeader& header, absl::Span<const float> labels, std::string& payload);

// Record 0 of face-recognition sets (MS1MV3, Glint360K, WebFace42M): flag 2, no image, labels a and b. Records 1 to
// a - 1 are images, records a to b - 1 identities: no image, and as labels the first record of the identity's
// images and the one after its last.
struct FaceSetHeader {
  uint64_t identities_begin = 0;  // a
  uint64_t identities_end = 0;    // b
  // The greatest possible error of the two: float32 holds every whole number up to 2^24, and every 2nd, 4th, … above.
  uint64_t slack = 0;
};

// Nothing if this record, the first of its file, is not such a header.
std::optional<FaceSetHeader> FaceSetHeaderOf(const ImageRecord& first);
// Whether the record of a face-recognition set is an identity, not an image.
bool IsFaceIdentity(const ImageRecord& record);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_IMAGE_RECORD_H_

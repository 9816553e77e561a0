#include "io/formats/recordio/image_record.h"

#include <cmath>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

static_assert(sizeof(ImageRecordHeader) == ImageRecordHeader::kBytes);

constexpr uint64_t kExactFloats = uint64_t{1} << 24;
constexpr float kMostRecords = 1e18f;

// Half the distance between the floats around a whole number, rounded up to whole numbers.
uint64_t SlackOf(float number) {
  if (number <= static_cast<float>(kExactFloats)) return 0;
  return static_cast<uint64_t>(std::nextafter(number, INFINITY) - number) / 2;
}

bool IsCount(float number) { return number >= 1 && number <= kMostRecords && number == std::floor(number); }

}  // namespace

float ImageRecord::label(size_t i) const {
  if (header.flag == 0) return header.label;
  float label;
  std::memcpy(&label, label_bytes.data() + i * sizeof(float), sizeof(float));
  return label;
}

void ImageRecord::CopyLabels(float* target) const {
  if (header.flag == 0) {
    *target = header.label;
  } else {
    std::memcpy(target, label_bytes.data(), label_bytes.size());
  }
}

absl::StatusOr<ImageRecord> ParseImageRecord(std::string_view payload) {
  if (payload.size() < ImageRecordHeader::kBytes) {
    return DataError("an image record begins with a header of ", ImageRecordHeader::kBytes,
                     " bytes, and this record has ", payload.size(), "; is it a record of another kind?");
  }
  ImageRecord record;
  std::memcpy(&record.header, payload.data(), ImageRecordHeader::kBytes);
  payload.remove_prefix(ImageRecordHeader::kBytes);
  const size_t label_bytes = size_t{record.header.flag} * sizeof(float);
  if (label_bytes > payload.size()) {
    return DataError("the header of an image record claims ", record.header.flag, " labels, and ", payload.size(),
                     " bytes follow it; is it a record of another kind?");
  }
  record.label_bytes = payload.substr(0, label_bytes);
  record.image = payload.substr(label_bytes);
  return record;
}

void AppendImageRecordHeader(const ImageRecordHeader& header, absl::Span<const float> labels, std::string& payload) {
  payload.append(reinterpret_cast<const char*>(&header), ImageRecordHeader::kBytes);
  payload.append(reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(float));
}

std::optional<FaceSetHeader> FaceSetHeaderOf(const ImageRecord& first) {
  if (!IsFaceIdentity(first)) return std::nullopt;
  const float begin = first.label(0);
  const float end = first.label(1);
  if (!IsCount(begin) || !IsCount(end) || begin > end) return std::nullopt;
  return FaceSetHeader{static_cast<uint64_t>(begin), static_cast<uint64_t>(end), SlackOf(end)};
}

bool IsFaceIdentity(const ImageRecord& record) { return record.header.flag == 2 && record.image.empty(); }

}  // namespace headrace

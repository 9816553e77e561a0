#include "io/formats/recordio/face_set.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/formats/recordio/image_record.h"
#include "io/formats/recordio/record_frame.h"

namespace headrace {
namespace {

// The records of a set without an image: a header and two labels.
constexpr size_t kPayload = ImageRecordHeader::kBytes + 2 * sizeof(float);

// The payload of the record at `offset` if it has that length; otherwise an empty one.
absl::StatusOr<std::string> ShortPayload(const RandomAccessFile& file, int64_t offset) {
  std::vector<uint8_t> bytes(kPayload + 2 * RecordFrame::kHeadBytes);
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, file.ReadAt(offset, absl::MakeSpan(bytes)));
  if (got < static_cast<int64_t>(RecordFrame::kHeadBytes) || !IsRecordHead(bytes.data())) return std::string();
  const bool last = got < static_cast<int64_t>(bytes.size());
  const auto cut = CutRecordAt(absl::MakeSpan(bytes).subspan(0, static_cast<size_t>(got)), offset, last);
  if (!cut.ok() || !cut->whole || cut->length != kPayload) return std::string();
  return std::string(reinterpret_cast<const char*>(bytes.data()) + cut->begin, cut->length);
}

absl::StatusOr<std::optional<FaceSetHeader>> HeaderOf(const RandomAccessFile& file, const RecordIndex& index) {
  const auto key = std::find(index.keys.begin(), index.keys.end(), uint64_t{0});
  if (key == index.keys.end()) return std::nullopt;
  const int64_t offset = index.offsets[static_cast<size_t>(key - index.keys.begin())];
  HEADRACE_ASSIGN_OR_RETURN(const std::string payload, ShortPayload(file, offset));
  if (payload.empty()) return std::nullopt;
  const absl::StatusOr<ImageRecord> record = ParseImageRecord(payload);
  return record.ok() ? FaceSetHeaderOf(*record) : std::nullopt;
}

// The key of the first identity: float32 may have rounded the header's, so looks where identities begin.
absl::StatusOr<uint64_t> FirstIdentity(const RandomAccessFile& file, const FaceSetHeader& header,
                                       const RecordIndex& index) {
  if (header.slack == 0) return header.identities_begin;
  std::vector<std::pair<uint64_t, int64_t>> near;
  for (size_t i = 0; i < index.keys.size(); ++i) {
    const uint64_t key = index.keys[i];
    const uint64_t off = std::max(key, header.identities_begin) - std::min(key, header.identities_begin);
    if (off <= header.slack && key > 0) near.emplace_back(key, index.offsets[i]);
  }
  std::sort(near.begin(), near.end());
  for (const auto& [key, offset] : near) {
    HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
    HEADRACE_ASSIGN_OR_RETURN(const std::string payload, ShortPayload(file, offset));
    if (payload.empty()) continue;
    const absl::StatusOr<ImageRecord> record = ParseImageRecord(payload);
    if (record.ok() && IsFaceIdentity(*record)) return key;
  }
  return header.identities_begin + header.slack + 1;
}

}  // namespace

absl::StatusOr<int64_t> ChooseImages(const FileSystem& files, const std::string& path, int64_t size,
                                     RecordIndex& index) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<FaceSetHeader> header, HeaderOf(*file, index));
  if (!header.has_value()) return size;
  HEADRACE_ASSIGN_OR_RETURN(const uint64_t identities, FirstIdentity(*file, *header, index));
  RecordIndex images;
  int64_t end = size;
  for (size_t i = 0; i < index.keys.size(); ++i) {
    if (index.keys[i] == 0 || index.keys[i] >= identities) continue;
    images.keys.push_back(index.keys[i]);
    images.offsets.push_back(index.offsets[i]);
    end = i + 1 < index.offsets.size() ? index.offsets[i + 1] : size;
  }
  index = std::move(images);
  return end;
}

}  // namespace headrace

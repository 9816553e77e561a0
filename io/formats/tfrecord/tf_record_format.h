// `TfRecordFormat` reads TFRecord files. A record's offset is that of its frame, its content the payload. Where a
// record begins follows from the lengths of all before it, so a file is one split. Files that are compressed as a whole
// are read as the bytes that they hold: offsets are those of these bytes. Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FORMAT_H_
#define HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/record_reader.h"

namespace headrace {

// Whether a file that begins with these bytes, TfRecordFrame::kHeadBytes or all that it has, is compressed, and how.
// One whose bytes are the head of a record is not: lengths may begin as gzip and zlib do.
Compression TfRecordCompression(absl::Span<const uint8_t> first);
// Reads these bytes of the file.
absl::StatusOr<Compression> TfRecordCompressionOfFile(const FileSystem& files, const std::string& path);

class TfRecordFormat : public Format {
 public:
  // `compression`: nullopt: as the first bytes of each file show.
  //
  // Under kFail a record whose payload has another CRC is given: CheckTfPayload is its row's to call, as nothing else
  // is lost; the CRC stands after the content. Under kSkip such records are left out, and so is what a file that was
  // cut off begins at its end. A head that is not one is an error either way, as no record can be found after it.
  explicit TfRecordFormat(OnDamage on_damage = OnDamage::kFail, std::optional<Compression> compression = std::nullopt)
      : on_damage_(on_damage), compression_(compression) {}

  PartBorders part_borders() const override { return {}; }
  absl::StatusOr<bool> IsOneSplit(const FileSystem& /*files*/, const std::string& /*path*/) const override {
    return true;
  }
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  const OnDamage on_damage_;
  const std::optional<Compression> compression_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_FORMAT_H_

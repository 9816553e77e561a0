#include "kernels/vision/codecs/exif.h"

#include <cstdint>
#include <utility>

#include "core/error.h"
#include "kernels/vision/pixels/copy_turned.h"

namespace headrace {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr size_t kEntryBytes = 12;

// Bytes of a whole number of this type of TIFF: SHORT, LONG, SSHORT or SLONG; 0: it is another type.
int BytesOfType(uint32_t type) {
  constexpr uint32_t kShort = 3, kLong = 4, kSignedShort = 8, kSignedLong = 9;
  if (type == kShort || type == kSignedShort) return 2;
  return type == kLong || type == kSignedLong ? 4 : 0;
}

// Reads numbers of a TIFF block in its byte order; 0 beyond the end.
class TiffReader {
 public:
  explicit TiffReader(std::string_view block) : block_(block), big_endian_(block.starts_with("MM")) {}

  uint32_t Number(size_t at, int bytes) const {
    if (at > block_.size() || block_.size() - at < static_cast<size_t>(bytes)) return 0;
    uint32_t number = 0;
    for (int i = 0; i < bytes; ++i) {
      const uint32_t byte = static_cast<uint8_t>(block_[at + i]);
      number |= byte << 8 * (big_endian_ ? bytes - 1 - i : i);
    }
    return number;
  }

 private:
  std::string_view block_;
  bool big_endian_;
};

// From 5 on the axes are swapped as well: a row of the turned image is a column of the image.
bool FlipsRows(int orientation) { return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7; }
bool FlipsColumns(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

}  // namespace

int ExifOrientation(std::string_view exif) {
  if (exif.starts_with(kExifHeader)) exif.remove_prefix(kExifHeader.size());
  const TiffReader tiff(exif);
  if (!exif.starts_with("MM") && !exif.starts_with("II")) return 1;
  if (tiff.Number(2, 2) != 42) return 1;
  const size_t directory = tiff.Number(4, 4);
  const uint32_t entries = tiff.Number(directory, 2);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.Number(entry, 2) != kOrientationTag) continue;
    const int bytes = BytesOfType(tiff.Number(entry + 2, 2));
    // Several numbers of four bytes are elsewhere, and not an orientation.
    if (bytes == 0 || (bytes == 4 && tiff.Number(entry + 4, 4) != 1)) return 1;
    const uint32_t value = tiff.Number(entry + 8, bytes);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Window BeforeTurning(const Window& part, int orientation, int64_t height, int64_t width) {
  Window window = part;
  if (SwapsAxes(orientation)) window = {part.left, part.top, part.width, part.height};
  if (FlipsRows(orientation)) window.top = height - window.top - window.height;
  if (FlipsColumns(orientation)) window.left = width - window.left - window.width;
  return window;
}

absl::StatusOr<Tensor> Oriented(Tensor image, int orientation, OutputAllocator& output) {
  if (orientation <= 1 || orientation > 8) return image;
  const int64_t height = image.dim(0);
  const int64_t width = image.dim(1);
  const int64_t channels = image.dim(2);
  const int64_t pixel_bytes = channels * static_cast<int64_t>(ItemSize(image.dtype()));
  const bool swapped = SwapsAxes(orientation);
  const bool flip_rows = FlipsRows(orientation);
  const bool flip_columns = FlipsColumns(orientation);
  const int64_t row_step = width * pixel_bytes * (flip_rows ? -1 : 1);
  const int64_t column_step = pixel_bytes * (flip_columns ? -1 : 1);
  const uint8_t* start = image.raw();
  if (flip_rows) start += (height - 1) * width * pixel_bytes;
  if (flip_columns) start += (width - 1) * pixel_bytes;
  const Shape shape = swapped ? Shape{width, height, channels} : Shape{height, width, channels};
  HEADRACE_ASSIGN_OR_RETURN(Tensor turned, output.Allocate(image.dtype(), shape));
  const ReadingOrder order = {start, swapped ? column_step : row_step, swapped ? row_step : column_step};
  CopyTurned(order, shape[0], shape[1], pixel_bytes, turned.mutable_raw());
  return turned;
}

}  // namespace headrace

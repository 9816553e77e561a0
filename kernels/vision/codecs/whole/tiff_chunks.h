// `TiffChunks` reads strips and tiles of a TIFF, and never gives a byte that was not written: libtiff reports success
// for some that are too short. Use it where pixels are read as the file holds them.
// Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_CHUNKS_H_
#define HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_CHUNKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/vision/codecs/whole/tiff_file.h"

namespace headrace {

// Whether the file's strips and tiles are packed by Deflate.
bool IsDeflate(const TiffFile& file);
// Has zlib unpack them, instead of libdeflate, which leaves out a run at the end of one that unpacks to more than is
// wanted, and whose result libtiff takes for success.
void UseZlib(const TiffFile& file);

class TiffChunks {
 public:
  // Rows have samples of `bits` bits, in `samples` values a pixel.
  TiffChunks(TiffFile& file, int bits, int samples);

  // Reads the strip or tile of this number, rows of `row_bytes` each.
  absl::Status Read(uint32_t number, int64_t row_bytes, absl::Span<uint8_t> to);
  // Reads one row of a strip, from the first to the last. For long strips, and for fax, which gives white rows in the
  // place of those that it lacks, and says so. Of one file either chunks or rows are read.
  absl::Status ReadRow(uint32_t y, uint16_t plane, absl::Span<uint8_t> to);

 private:
  absl::Status ReadOnce(uint32_t number, absl::Span<uint8_t> to);
  bool GivesWhatItUnpacks() const;
  bool HasChecksumOf(uint32_t number, absl::Span<const uint8_t> unpacked) const;
  void AddDifferences(int64_t row_bytes, absl::Span<uint8_t> rows) const;

  TiffFile& file_;
  const int bits_;
  const int samples_;
  const bool tiled_;
  const bool packed_;  // else libtiff copies all bytes, or fails
  const bool deflate_;
  bool differences_ = false;  // to be added here
  bool checked_ = false;      // by the checksum of what was packed
  bool by_rows_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_CODECS_WHOLE_TIFF_CHUNKS_H_

#include "kernels/vision/codecs/whole/tiff_chunks.h"

#include <zlib.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace headrace {
namespace {

constexpr size_t kChecksumBytes = 4;

// Each number of a row is the difference to the one `step` numbers before.
template <typename Word>
void AddRow(uint8_t* row, int64_t bytes, int step) {
  const auto size = static_cast<int64_t>(sizeof(Word));
  for (int64_t at = step * size; at + size <= bytes; at += size) {
    Word number;
    Word before;
    std::memcpy(&number, row + at, sizeof(Word));
    std::memcpy(&before, row + at - step * size, sizeof(Word));
    number = static_cast<Word>(number + before);
    std::memcpy(row + at, &number, sizeof(Word));
  }
}

}  // namespace

bool IsDeflate(const TiffFile& file) {
  const auto compression = file.Field<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  return compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
}

void UseZlib(const TiffFile& file) {
  if (IsDeflate(file)) file.library().SetField(file.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
}

TiffChunks::TiffChunks(TiffFile& file, int bits, int samples)
    : file_(file),
      bits_(bits),
      samples_(samples),
      tiled_(file.library().IsTiled(file.get()) != 0),
      packed_(file.Field<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE),
      deflate_(IsDeflate(file)) {
  const bool words = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (deflate_ && words && file.Field<uint16_t>(TIFFTAG_PREDICTOR, PREDICTOR_NONE) == PREDICTOR_HORIZONTAL) {
    // The checksum is that of the differences.
    file.library().SetField(file.get(), TIFFTAG_PREDICTOR, PREDICTOR_NONE);
    differences_ = true;
  }
  checked_ = deflate_ && GivesWhatItUnpacks();
}

absl::Status TiffChunks::Read(uint32_t number, int64_t row_bytes, absl::Span<uint8_t> to) {
  if (checked_) file_.library().SetField(file_.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_LIBDEFLATE);
  if (!checked_) UseZlib(file_);
  HEADRACE_RETURN_IF_ERROR(ReadOnce(number, to));
  if (checked_ && !HasChecksumOf(number, to)) {
    // It unpacks to more, as the last strip of some writers does. zlib gives all that is wanted, or fails.
    UseZlib(file_);
    HEADRACE_RETURN_IF_ERROR(ReadOnce(number, to));
  }
  if (differences_) AddDifferences(row_bytes, to);
  return absl::OkStatus();
}

// Not if libtiff changes the bytes afterwards: it swaps those of larger numbers, and adds the differences of floats.
bool TiffChunks::GivesWhatItUnpacks() const {
  if (bits_ > 8 && file_.library().IsByteSwapped(file_.get()) != 0) return false;
  return file_.Field<uint16_t>(TIFFTAG_PREDICTOR, PREDICTOR_NONE) == PREDICTOR_NONE;
}

absl::Status TiffChunks::ReadRow(uint32_t y, uint16_t plane, absl::Span<uint8_t> to) {
  // zlib gives each row whole, or fails; libdeflate has no rows.
  if (deflate_ && !by_rows_) UseZlib(file_);
  by_rows_ = true;
  std::memset(to.data(), 0, to.size());
  const int read = file_.library().ReadScanline(file_.get(), to.data(), y, plane);
  if (read < 0 || file_.lost_pixels()) return file_.Failed("");
  if (differences_) AddDifferences(static_cast<int64_t>(to.size()), to);
  return absl::OkStatus();
}

absl::Status TiffChunks::ReadOnce(uint32_t number, absl::Span<uint8_t> to) {
  // A decoder that ends early, in whatever way, leaves zeros, never what the memory held.
  if (packed_) std::memset(to.data(), 0, to.size());
  const auto bytes = static_cast<tmsize_t>(to.size());
  const tmsize_t read = tiled_ ? file_.library().ReadEncodedTile(file_.get(), number, to.data(), bytes)
                               : file_.library().ReadEncodedStrip(file_.get(), number, to.data(), bytes);
  return read != bytes || file_.lost_pixels() ? file_.Failed("") : absl::OkStatus();
}

// Whether the packed bytes end with the checksum of these: then they are all that was packed.
bool TiffChunks::HasChecksumOf(uint32_t number, absl::Span<const uint8_t> unpacked) const {
  const uint64_t begin = file_.library().GetStrileOffset(file_.get(), number);
  const uint64_t size = file_.library().GetStrileByteCount(file_.get(), number);
  const std::string_view bytes = file_.bytes();
  if (begin > bytes.size() || size > bytes.size() - begin || size < kChecksumBytes) return false;
  uint32_t expected = 0;
  for (const char byte : bytes.substr(begin + size - kChecksumBytes, kChecksumBytes)) {
    expected = expected << 8 | static_cast<uint8_t>(byte);
  }
  return adler32_z(adler32_z(0, nullptr, 0), unpacked.data(), unpacked.size()) == expected;
}

void TiffChunks::AddDifferences(int64_t row_bytes, absl::Span<uint8_t> rows) const {
  for (size_t at = 0; at + static_cast<size_t>(row_bytes) <= rows.size(); at += static_cast<size_t>(row_bytes)) {
    uint8_t* const row = rows.data() + at;
    if (bits_ == 8) AddRow<uint8_t>(row, row_bytes, samples_);
    if (bits_ == 16) AddRow<uint16_t>(row, row_bytes, samples_);
    if (bits_ == 32) AddRow<uint32_t>(row, row_bytes, samples_);
    if (bits_ == 64) AddRow<uint64_t>(row, row_bytes, samples_);
  }
}

}  // namespace headrace

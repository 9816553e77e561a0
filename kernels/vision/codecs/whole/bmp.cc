#include "kernels/vision/codecs/whole/bmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/whole/whole_image.h"
#include "kernels/vision/pixels/join_channels.h"
#include "kernels/vision/pixels/split_channels.h"

namespace headrace {
namespace {

// Bytes of the two headers.
constexpr size_t kFileHeader = 14;
constexpr size_t kOldHeader = 12;
constexpr size_t kHeader = 40;
constexpr std::array<uint32_t, 7> kHeaderSizes = {kOldHeader, kHeader, 52, 56, 64, 108, 124};
constexpr size_t kMasks = kFileHeader + kHeader;

enum Packing : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kFields = 3, kFieldsWithAlpha = 6 };

// Little-endian numbers; 0 beyond the end.
uint32_t NumberAt(std::string_view bytes, size_t at, size_t size) {
  uint32_t number = 0;
  for (size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    number |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  }
  return number;
}

// A field of a pixel, one of its colours.
struct BmpField {
  uint32_t mask = 0;

  // Whether it is one of the pixel's first bytes, so many.
  bool IsByte(int bytes) const {
    const int shift = std::countr_zero(mask);
    return mask != 0 && mask >> shift == 0xff && shift % 8 == 0 && shift < 8 * bytes;
  }
  uint8_t Of(uint32_t pixel) const {
    if (mask == 0) return 255;
    const int shift = std::countr_zero(mask);
    const uint64_t most = mask >> shift;
    return static_cast<uint8_t>(uint64_t{(pixel & mask) >> shift} * 255 / most);
  }
};

class BmpReader {
 public:
  explicit BmpReader(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    HEADRACE_RETURN_IF_ERROR(ReadHeader());
    HEADRACE_RETURN_IF_ERROR(CheckPacking());
    if (bits_ <= 8) {
      ReadPalette();
    } else {
      ReadFields();
    }
    return ReadWhole(layout_, options, choose, [this](uint8_t* pixels) {
      return packing_ == kRuns8 || packing_ == kRuns4 ? ReadRuns(pixels) : ReadRows(pixels);
    });
  }

 private:
  static absl::Status EndsEarly() { return DataError("the BMP ends early: the file is truncated"); }

  absl::Status ReadHeader() {
    size_ = NumberAt(bytes_, kFileHeader, 4);
    if (bytes_.size() < kFileHeader + size_) return EndsEarly();
    begin_ = NumberAt(bytes_, 10, 4);
    const bool old = size_ == kOldHeader;
    const int64_t width = SideAt(18, old);
    const int64_t height = SideAt(old ? 20 : 22, old);
    bits_ = static_cast<int>(NumberAt(bytes_, old ? 24 : 28, 2));
    packing_ = old ? kPlain : NumberAt(bytes_, 30, 4);
    if (width <= 0 || height == 0) {
      return DataError("the BMP is damaged: its header says ", width, " × ", height, " pixels");
    }
    from_top_ = height < 0;
    layout_.height = std::abs(height);
    layout_.width = width;
    return absl::OkStatus();
  }

  // A width or height, which may be negative in newer headers.
  int64_t SideAt(size_t at, bool old) const {
    if (old) return NumberAt(bytes_, at, 2);
    return static_cast<int32_t>(NumberAt(bytes_, at, 4));
  }

  absl::Status CheckPacking() const {
    const bool indices = bits_ == 1 || bits_ == 4 || bits_ == 8;
    const bool colors = bits_ == 16 || bits_ == 24 || bits_ == 32;
    const bool fields = packing_ == kFields || packing_ == kFieldsWithAlpha;
    const bool known = (packing_ == kPlain && (indices || colors)) || (packing_ == kRuns8 && bits_ == 8) ||
                       (packing_ == kRuns4 && bits_ == 4) || (fields && colors);
    if (known) return absl::OkStatus();
    return DataError("the BMP has ", bits_, " bits a pixel and compression ", packing_,
                     ", which is not read: there are 1, 4, 8, 16, 24 and 32 bits, run lengths of 4 and 8, and bit "
                     "fields of 16, 24 and 32");
  }

  void ReadPalette() {
    const size_t entry = size_ == kOldHeader ? 3 : 4;
    const uint32_t used = size_ == kOldHeader ? 0 : NumberAt(bytes_, 46, 4);
    const size_t most = size_t{1} << bits_;
    const size_t count = used == 0 ? most : std::min<size_t>(used, most);
    for (size_t i = 0; i < count; ++i) {
      const size_t at = kFileHeader + size_ + i * entry;
      for (size_t c = 0; c < 3; ++c) palette_.colors[i][c] = static_cast<uint8_t>(NumberAt(bytes_, at + 2 - c, 1));
    }
    layout_.channels = 1;
    layout_.palette = &palette_;
  }

  void ReadFields() {
    if (packing_ == kPlain) {
      const bool short_pixel = bits_ == 16;
      fields_[0].mask = short_pixel ? 0x7c00 : 0xff0000;
      fields_[1].mask = short_pixel ? 0x03e0 : 0x00ff00;
      fields_[2].mask = short_pixel ? 0x001f : 0x0000ff;
      return;
    }
    for (size_t i = 0; i < 3; ++i) fields_[i].mask = NumberAt(bytes_, kMasks + 4 * i, 4);
    // After the shorter headers the masks stand on their own.
    const bool alpha = size_ >= 56 || packing_ == kFieldsWithAlpha;
    if (alpha) fields_[3].mask = NumberAt(bytes_, kMasks + 12, 4);
    if (fields_[3].mask != 0) layout_.channels = 4;
  }

  uint8_t* RowOf(uint8_t* pixels, int64_t y) const {
    return pixels + (from_top_ ? y : layout_.height - 1 - y) * layout_.width * layout_.channels;
  }

  absl::Status ReadRows(uint8_t* pixels) const {
    const int64_t stride = (layout_.width * bits_ + 31) / 32 * 4;
    const int64_t last = (layout_.width * bits_ + 7) / 8;
    // The last row may lack its padding.
    if (static_cast<int64_t>(begin_) + stride * (layout_.height - 1) + last > static_cast<int64_t>(bytes_.size())) {
      return EndsEarly();
    }
    const auto* row = reinterpret_cast<const uint8_t*>(bytes_.data()) + begin_;
    const bool by_bytes = std::all_of(fields_.begin(), fields_.begin() + layout_.channels,
                                      [this](const BmpField& field) { return field.IsByte(bits_ / 8); });
    std::vector<uint8_t> planes(by_bytes && layout_.channels == 3 ? bits_ / 8 * layout_.width : 0);
    for (int64_t y = 0; y < layout_.height; ++y, row += stride) {
      if (StopSignal::Raised()) return StopSignal::Error();
      uint8_t* const to = RowOf(pixels, y);
      if (bits_ <= 8) {
        UnpackIndices(row, to);
      } else if (!planes.empty()) {
        JoinColors(row, planes.data(), to);
      } else if (by_bytes && bits_ == 32) {
        MoveColors(row, to);
      } else {
        UnpackColors(row, to);
      }
    }
    return absl::OkStatus();
  }

  void UnpackIndices(const uint8_t* row, uint8_t* to) const {
    if (bits_ == 8) {
      std::memcpy(to, row, static_cast<size_t>(layout_.width));
      return;
    }
    const int per_byte = 8 / bits_;
    const int mask = (1 << bits_) - 1;
    for (int64_t x = 0; x < layout_.width; ++x) {
      const int shift = static_cast<int>(per_byte - 1 - x % per_byte) * bits_;
      to[x] = static_cast<uint8_t>(row[x / per_byte] >> shift & mask);
    }
  }

  // Of the pixel's bytes, the one that is colour c.
  int64_t ByteOf(size_t c) const { return std::countr_zero(fields_[c].mask) / 8; }

  // Three colours that are bytes; `planes` holds a row.
  void JoinColors(const uint8_t* row, uint8_t* planes, uint8_t* to) const {
    const int64_t width = layout_.width;
    SplitChannels(row, width, bits_ / 8, 1, width, planes);
    JoinThreeChannels(planes + ByteOf(0) * width, planes + ByteOf(1) * width, planes + ByteOf(2) * width, width, to);
  }

  // Colours and alpha that are bytes, as words, of which vectors hold several.
  void MoveColors(const uint8_t* row, uint8_t* to) const {
    const auto shift = [this](size_t c) { return std::countr_zero(fields_[c].mask); };
    const int red = shift(0), green = shift(1), blue = shift(2), alpha = shift(3);
    // No member: bytes that are written may be one, for what the compiler knows.
    const int64_t width = layout_.width;
    for (int64_t x = 0; x < width; ++x) {
      uint32_t pixel = 0;
      std::memcpy(&pixel, row + 4 * x, 4);
      pixel = (pixel >> red & 255) | (pixel >> green & 255) << 8 | (pixel >> blue & 255) << 16 | pixel >> alpha << 24;
      std::memcpy(to + 4 * x, &pixel, 4);
    }
  }

  void UnpackColors(const uint8_t* row, uint8_t* to) const {
    const int bytes = bits_ / 8;
    for (int64_t x = 0; x < layout_.width; ++x, row += bytes, to += layout_.channels) {
      uint32_t pixel = 0;
      for (int i = 0; i < bytes; ++i) pixel |= uint32_t{row[i]} << (8 * i);
      for (int c = 0; c < layout_.channels; ++c) to[c] = fields_[static_cast<size_t>(c)].Of(pixel);
    }
  }

  // A byte pair is a run, or, where its first byte is 0, an escape: the end of the row or image, a step to the right
  // and on, or pixels that stand there one by one. Pixels that are passed over are 0.
  absl::Status ReadRuns(uint8_t* pixels) const {
    std::memset(pixels, 0, static_cast<size_t>(layout_.height * layout_.width));
    int64_t x = 0;
    int64_t y = 0;
    for (size_t at = begin_; y < layout_.height;) {
      if (StopSignal::Raised()) return StopSignal::Error();
      if (bytes_.size() < 2 || at > bytes_.size() - 2) {
        // Some writers leave out the mark of the end.
        return y == layout_.height - 1 && x >= layout_.width ? absl::OkStatus() : EndsEarly();
      }
      const uint32_t count = NumberAt(bytes_, at, 1);
      const uint32_t value = NumberAt(bytes_, at + 1, 1);
      at += 2;
      if (count > 0) {
        Repeat(value, count, RowOf(pixels, y), x);
      } else if (value == 0) {
        x = 0;
        ++y;
      } else if (value == 1) {
        return absl::OkStatus();
      } else if (value == 2) {
        if (at + 2 > bytes_.size()) return EndsEarly();
        x += NumberAt(bytes_, at, 1);
        y += NumberAt(bytes_, at + 1, 1);
        at += 2;
      } else {
        const size_t packed = packing_ == kRuns8 ? value : (value + 1) / 2;
        if (at + packed > bytes_.size()) return EndsEarly();
        CopyPixels(at, value, RowOf(pixels, y), x);
        at += (packed + 1) / 2 * 2;
      }
    }
    return absl::OkStatus();
  }

  // Pixels beyond the row are dropped.
  void Repeat(uint32_t value, uint32_t count, uint8_t* row, int64_t& x) const {
    for (uint32_t i = 0; i < count; ++i, ++x) {
      if (x >= layout_.width) continue;
      row[x] = static_cast<uint8_t>(packing_ == kRuns8 ? value : i % 2 == 0 ? value >> 4 : value & 15);
    }
  }

  void CopyPixels(size_t at, uint32_t count, uint8_t* row, int64_t& x) const {
    for (uint32_t i = 0; i < count; ++i, ++x) {
      if (x >= layout_.width) continue;
      const uint32_t byte = NumberAt(bytes_, at + (packing_ == kRuns8 ? i : i / 2), 1);
      row[x] = static_cast<uint8_t>(packing_ == kRuns8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15);
    }
  }

  const std::string_view bytes_;
  size_t size_ = 0;   // of the second header
  size_t begin_ = 0;  // of the pixels
  int bits_ = 0;      // of a pixel
  uint32_t packing_ = kPlain;
  bool from_top_ = false;
  ImageLayout layout_;
  Palette palette_;
  std::array<BmpField, 4> fields_;
};

}  // namespace

bool LooksLikeBmp(std::string_view bytes) {
  if (!bytes.starts_with("BM") || bytes.size() < kFileHeader + 4) return false;
  return std::find(kHeaderSizes.begin(), kHeaderSizes.end(), NumberAt(bytes, kFileHeader, 4)) != kHeaderSizes.end();
}

absl::StatusOr<DecodedPart> DecodeBmp(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  BmpReader reader(bytes);
  return reader.Read(options, choose);
}

}  // namespace headrace

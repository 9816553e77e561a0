// Fuzzes sequential JPEGs: whatever is decoded has libjpeg's pixels, whole and in a part, at a scale and in the
// channels that the last bytes choose with the part, on the CPU target that they choose, with and without the entry
// points of the whole. The bytes before those, as many as they say, are taken for notes and for points: notes are
// refused unless they are of the file, and points of anything crash nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "hwy/targets.h"
#include "kernels/testing/libjpeg_pixels.h"
#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace::jpeg {
namespace {

constexpr int64_t kMostPixels = 1 << 16;

struct Wanted {
  Rectangle part;
  PixelRows rows;
};

// One of those that this CPU has.
void ChooseCpuTarget(uint8_t choice) {
  static const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  hwy::SetSupportedTargetsForTest(targets[choice % targets.size()]);
}

int ChannelsOf(const SequentialJpeg& jpeg, PixelRows rows) {
  return rows == PixelRows::kAsStored ? jpeg.count : rows == PixelRows::kGrey ? 1 : 3;
}

// The memory for them.
std::vector<uint8_t> PixelsOf(const SequentialJpeg& jpeg, const Wanted& wanted) {
  return std::vector<uint8_t>(
      static_cast<size_t>(wanted.part.height * wanted.part.width * ChannelsOf(jpeg, wanted.rows)));
}

// Without entry points where `points` is null.
Decoded Decode(CropDecoder& decoder, const SequentialJpeg& jpeg, const Wanted& wanted, std::vector<uint8_t>& pixels,
               EntryPoints* points) {
  return decoder.Decode(jpeg, wanted.part, !jpeg.HasEndMarker(), pixels.data(), points, wanted.rows);
}

// What is to be written for a row of libjpeg's.
std::vector<uint8_t> RowOf(const SequentialJpeg& jpeg, const Wanted& wanted, const uint8_t* row) {
  const int64_t width = wanted.part.width;
  const int channels = ChannelsOf(jpeg, wanted.rows);
  if (channels == jpeg.count) return std::vector<uint8_t>(row, row + width * channels);
  std::vector<uint8_t> pixels(static_cast<size_t>(width * channels));
  if (channels == 1) LumaRow(row, width, jpeg.count, pixels.data());
  if (channels == 3) GreyRowToRgb(row, width, pixels.data());
  return pixels;
}

void Compare(CropDecoder& decoder, const SequentialJpeg& jpeg, const Wanted& wanted,
             const fixture::LibjpegPixels* image) {
  const Rectangle& part = wanted.part;
  const int64_t height = DividedUp(jpeg.height, part.scale);
  const int64_t width = DividedUp(jpeg.width, part.scale);
  std::vector<uint8_t> pixels = PixelsOf(jpeg, wanted);
  if (Decode(decoder, jpeg, wanted, pixels, nullptr) != Decoded::kDone) return;
  if (image == nullptr) {
    Require(part.height < height, "libjpeg decodes what is decoded whole");
    return;
  }
  Require(part.height < height || part.width < width || !image->damaged, "damage is refused");
  Require(image->height == height && image->width == width && image->channels == jpeg.count, "the size is libjpeg's");
  for (int64_t y = 0; y < part.height; ++y) {
    const uint8_t* const row = image->pixels.data() + ((part.top + y) * width + part.left) * jpeg.count;
    const std::vector<uint8_t> expected = RowOf(jpeg, wanted, row);
    Require(
        std::memcmp(pixels.data() + y * static_cast<int64_t>(expected.size()), expected.data(), expected.size()) == 0,
        "the pixels are libjpeg's");
  }
}

// With the points that earlier calls found.
void CompareNoted(CropDecoder& decoder, const SequentialJpeg& jpeg, const Wanted& wanted,
                  const fixture::LibjpegPixels* image, std::string& notes) {
  Compare(decoder, jpeg, wanted, image);
  EntryPoints points;
  points.Begin(jpeg, notes);
  std::vector<uint8_t> pixels = PixelsOf(jpeg, wanted);
  const Decoded decoded = Decode(decoder, jpeg, wanted, pixels, nullptr);
  std::vector<uint8_t> noted(pixels.size());
  Require(Decode(decoder, jpeg, wanted, noted, &points) == decoded, "entry points change no outcome");
  if (decoded != Decoded::kDone) return;
  Require(noted == pixels, "entry points change no pixel");
  if (points.has_added()) notes = points.Notes();
}

// What others say are entry points of it.
void DecodeFromAnywhere(CropDecoder& decoder, const SequentialJpeg& jpeg, const Wanted& wanted,
                        std::string_view others) {
  EntryPoints points;
  points.Begin(jpeg, others);
  Require(points.last_known().mcu == 0, "notes that are not of the file are refused");
  std::vector<uint8_t> pixels = PixelsOf(jpeg, wanted);
  if (points.BeginUnchecked(jpeg, others)) Decode(decoder, jpeg, wanted, pixels, &points);
}

}  // namespace
}  // namespace headrace::jpeg

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace headrace;
  static const auto decoder = std::make_unique<jpeg::CropDecoder>();
  uint8_t chosen[4] = {};
  if (size < sizeof(chosen)) return 0;
  size -= sizeof(chosen);
  std::memcpy(chosen, data + size, sizeof(chosen));
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t others_size = std::min<size_t>(chosen[0] ^ chosen[3], size);
  const std::string_view others = bytes.substr(size - others_size);
  const auto jpeg = jpeg::FindSequentialJpeg(bytes);
  if (!jpeg.has_value() || jpeg->height * jpeg->width > jpeg::kMostPixels) return 0;
  const int scale = 1 << chosen[3] % 4;
  jpeg::ChooseCpuTarget(chosen[1]);
  const auto image = fixture::DecodeByLibjpeg(bytes, scale);
  const fixture::LibjpegPixels* const pixels = image.has_value() ? &*image : nullptr;
  std::string notes;
  const int64_t rows = jpeg::DividedUp(jpeg->height, scale);
  const int64_t columns = jpeg::DividedUp(jpeg->width, scale);
  const int64_t top = rows * chosen[0] / 256;
  const int64_t left = columns * chosen[1] / 256;
  const int64_t height = 1 + (rows - top - 1) * chosen[2] / 255;
  const int64_t width = 1 + (columns - left - 1) * chosen[3] / 255;
  constexpr jpeg::PixelRows kRows[] = {jpeg::PixelRows::kAsStored, jpeg::PixelRows::kGrey, jpeg::PixelRows::kRgb};
  const jpeg::Wanted part = {{top, left, height, width, scale}, kRows[chosen[2] % 3]};
  const jpeg::Wanted whole = {{0, 0, rows, columns, scale}, part.rows};
  jpeg::CompareNoted(*decoder, *jpeg, part, pixels, notes);
  jpeg::CompareNoted(*decoder, *jpeg, whole, pixels, notes);
  jpeg::CompareNoted(*decoder, *jpeg, part, pixels, notes);
  jpeg::DecodeFromAnywhere(*decoder, *jpeg, part, others);
  return 0;
}

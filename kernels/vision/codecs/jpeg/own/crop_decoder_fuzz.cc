// Fuzzes sequential JPEGs: whatever is decoded has libjpeg's pixels, whole and in a part that the last bytes choose.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "kernels/testing/libjpeg_pixels.h"
#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"

namespace headrace::jpeg {
namespace {

constexpr int64_t kMostPixels = 1 << 16;

void Compare(CropDecoder& decoder, const SequentialJpeg& jpeg, const Rectangle& part,
             const fixture::LibjpegPixels* image) {
  std::vector<uint8_t> pixels(static_cast<size_t>(part.height * part.width * jpeg.count));
  if (decoder.Decode(jpeg, part, !jpeg.HasEndMarker(), pixels.data()) != Decoded::kDone) return;
  if (image == nullptr) {
    Require(part.height < jpeg.height, "libjpeg decodes what is decoded whole");
    return;
  }
  Require(part.height < jpeg.height || part.width < jpeg.width || !image->damaged, "damage is refused");
  Require(image->height == jpeg.height && image->width == jpeg.width && image->channels == jpeg.count,
          "the size is libjpeg's");
  const int64_t row_bytes = part.width * jpeg.count;
  for (int64_t y = 0; y < part.height; ++y) {
    const uint8_t* const row = image->pixels.data() + ((part.top + y) * jpeg.width + part.left) * jpeg.count;
    Require(std::memcmp(pixels.data() + y * row_bytes, row, static_cast<size_t>(row_bytes)) == 0,
            "the pixels are libjpeg's");
  }
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
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto jpeg = jpeg::FindSequentialJpeg(bytes);
  if (!jpeg.has_value() || jpeg->height * jpeg->width > jpeg::kMostPixels) return 0;
  const auto image = fixture::DecodeByLibjpeg(bytes);
  jpeg::Compare(*decoder, *jpeg, {0, 0, jpeg->height, jpeg->width}, image.has_value() ? &*image : nullptr);
  const int64_t top = jpeg->height * chosen[0] / 256;
  const int64_t left = jpeg->width * chosen[1] / 256;
  const int64_t height = 1 + (jpeg->height - top - 1) * chosen[2] / 255;
  const int64_t width = 1 + (jpeg->width - left - 1) * chosen[3] / 255;
  jpeg::Compare(*decoder, *jpeg, {top, left, height, width}, image.has_value() ? &*image : nullptr);
  return 0;
}

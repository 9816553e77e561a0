#include "kernels/vision/codecs/whole/whole_image.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/error.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/image/pixel_limit.h"
#include "kernels/vision/pixels/join_channels.h"
#include "kernels/vision/pixels/pixels_of_three.h"

namespace headrace {
namespace {

struct Target {
  int channels;
  DType dtype;
};

Target TargetOf(const ImageLayout& layout, PixelMode mode) {
  switch (mode) {
    case PixelMode::kUnchanged:
      return {layout.channels, layout.dtype};
    case PixelMode::kGrey:
      return {1, DType::kUInt8};
    case PixelMode::kRgb:
      return {3, DType::kUInt8};
    case PixelMode::kAny:
    case PixelMode::kAnyDepth:
      break;
  }
  int channels = layout.channels == 2 ? 4 : layout.channels;
  if (layout.palette != nullptr) channels = layout.palette->transparent ? 4 : 3;
  return {channels, mode == PixelMode::kAny ? DType::kUInt8 : layout.dtype};
}

// Keeps the higher byte of two.
template <typename Out, typename In>
Out Narrowed(In value) {
  return static_cast<Out>(value >> (8 * (sizeof(In) - sizeof(Out))));
}

template <typename Out>
void WritePixel(const Out (&rgba)[4], int channels, bool grey, Out* to) {
  if (channels > 1 || grey) {
    for (int c = 0; c < channels; ++c) to[c] = rgba[c];
    return;
  }
  const uint8_t rgb[3] = {static_cast<uint8_t>(rgba[0]), static_cast<uint8_t>(rgba[1]), static_cast<uint8_t>(rgba[2])};
  *to = Luma(rgb);
}

template <typename In, typename Out>
void Convert(const In* from, int in_channels, int64_t count, int out_channels, Out* to) {
  const bool grey = in_channels <= 2;
  const bool alpha = in_channels == 2 || in_channels == 4;
  for (int64_t i = 0; i < count; ++i, from += in_channels, to += out_channels) {
    const Out rgba[4] = {Narrowed<Out>(from[0]), Narrowed<Out>(from[grey ? 0 : 1]), Narrowed<Out>(from[grey ? 0 : 2]),
                         alpha ? Narrowed<Out>(from[in_channels - 1]) : std::numeric_limits<Out>::max()};
    WritePixel(rgba, out_channels, grey, to);
  }
}

// The first three of four channels. No word is read beyond the pixels.
void DropAlpha(const uint8_t* from, int64_t count, uint8_t* to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4, from += 16, to += 12) {
    StoreFourPixels(ThreeBytesAt(from), ThreeBytesAt(from + 4), ThreeBytesAt(from + 8), ThreeBytesAt(from + 12), to);
  }
  for (; i < count; ++i, from += 4, to += 3) std::memcpy(to, from, 3);
}

uint64_t RgbOf(const Palette& palette, uint8_t index) { return ThreeBytesAt(palette.colors[index].data()); }

// Returns how many of the pixels it has done: fours of them.
int64_t ResolveFours(const uint8_t* indices, const Palette& palette, int64_t count, uint8_t* to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    StoreFourPixels(RgbOf(palette, indices[i]), RgbOf(palette, indices[i + 1]), RgbOf(palette, indices[i + 2]),
                    RgbOf(palette, indices[i + 3]), to + 3 * i);
  }
  return i;
}

void Resolve(const uint8_t* indices, const Palette& palette, int64_t count, int channels, uint8_t* to) {
  int64_t i = channels == 3 ? ResolveFours(indices, palette, count, to) : 0;
  for (to += i * channels; i < count; ++i, to += channels) {
    const std::array<uint8_t, 4>& color = palette.colors[indices[i]];
    const uint8_t rgba[4] = {color[0], color[1], color[2], color[3]};
    WritePixel(rgba, channels, /*grey=*/false, to);
  }
}

void ConvertAll(const Tensor& held, const ImageLayout& layout, const Target& target, uint8_t* to) {
  const int64_t count = layout.height * layout.width;
  const auto* const words = reinterpret_cast<const uint16_t*>(held.raw());
  const bool bytes = layout.dtype == DType::kUInt8;
  if (layout.palette != nullptr) return Resolve(held.raw(), *layout.palette, count, target.channels, to);
  if (bytes && layout.channels == 1 && target.channels == 3) {
    return JoinThreeChannels(held.raw(), held.raw(), held.raw(), count, to);
  }
  if (bytes && layout.channels == 4 && target.channels == 3) return DropAlpha(held.raw(), count, to);
  if (bytes) return Convert(held.raw(), layout.channels, count, target.channels, to);
  if (target.dtype == DType::kUInt8) return Convert(words, layout.channels, count, target.channels, to);
  Convert(words, layout.channels, count, target.channels, reinterpret_cast<uint16_t*>(to));
}

// As Pillow divides: with 8 bits, rounded down.
uint8_t DividedByAlpha(uint32_t value, uint32_t alpha) {
  return alpha == 0 ? 0 : static_cast<uint8_t>(std::min(value * 255 / alpha, 255U));
}
uint16_t WordDividedByAlpha(uint32_t value, uint32_t alpha) {
  return alpha == 0 ? 0 : static_cast<uint16_t>(std::min<uint64_t>(uint64_t{value} * 65535 / alpha, 65535));
}

// `to_bytes`: the words become bytes afterwards, which are divided as bytes.
void DivideByAlpha(uint8_t* pixels, const ImageLayout& layout, bool to_bytes) {
  const int64_t count = layout.height * layout.width;
  const int alpha = layout.channels - 1;
  if (layout.dtype == DType::kUInt8) {
    for (int64_t i = 0; i < count; ++i, pixels += layout.channels) {
      for (int c = 0; c < alpha; ++c) pixels[c] = DividedByAlpha(pixels[c], pixels[alpha]);
    }
    return;
  }
  auto* words = reinterpret_cast<uint16_t*>(pixels);
  for (int64_t i = 0; i < count; ++i, words += layout.channels) {
    for (int c = 0; c < alpha; ++c) {
      words[c] = to_bytes ? static_cast<uint16_t>(DividedByAlpha(words[c] >> 8, words[alpha] >> 8) << 8)
                          : WordDividedByAlpha(words[c], words[alpha]);
    }
  }
}

absl::StatusOr<Tensor> ReadUpright(const ImageLayout& layout, PixelMode mode, const ReadPixels& read,
                                   OutputAllocator& output) {
  const Target target = TargetOf(layout, mode);
  const bool resolved = layout.palette != nullptr && mode != PixelMode::kUnchanged;
  const bool converted = resolved || target.channels != layout.channels || target.dtype != layout.dtype;
  OutputAllocator intermediate;
  HEADRACE_ASSIGN_OR_RETURN(
      Tensor held,
      (converted ? intermediate : output).Allocate(layout.dtype, {layout.height, layout.width, layout.channels}));
  HEADRACE_RETURN_IF_ERROR(read(held.mutable_raw()));
  if (layout.multiplied) DivideByAlpha(held.mutable_raw(), layout, target.dtype == DType::kUInt8);
  if (!converted) return held;
  HEADRACE_ASSIGN_OR_RETURN(Tensor pixels,
                            output.Allocate(target.dtype, {layout.height, layout.width, target.channels}));
  ConvertAll(held, layout, target, pixels.mutable_raw());
  return pixels;
}

}  // namespace

absl::StatusOr<DecodedPart> ReadWhole(const ImageLayout& layout, const DecodeOptions& options, const ChoosePart& choose,
                                      const ReadPixels& read) {
  HEADRACE_RETURN_IF_ERROR(CheckPixelLimit(layout.width, layout.height, options.max_pixels));
  const int orientation = options.orientation ? layout.orientation : 1;
  const bool swapped = SwapsAxes(orientation);
  HEADRACE_ASSIGN_OR_RETURN(const WantedPart part,
                            choose(swapped ? layout.width : layout.height, swapped ? layout.height : layout.width));
  OutputAllocator intermediate;
  OutputAllocator& output = part.output != nullptr ? *part.output : intermediate;
  HEADRACE_ASSIGN_OR_RETURN(Tensor upright,
                            ReadUpright(layout, options.mode, read, orientation == 1 ? output : intermediate));
  HEADRACE_ASSIGN_OR_RETURN(const Tensor oriented, Oriented(std::move(upright), orientation, output));
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(oriented, PixelTypes::kFixedSize));
  return DecodedPart{image, {0, 0, image.height, image.width}};
}

}  // namespace headrace

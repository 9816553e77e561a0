#include "kernels/vision/codecs/jpeg/own_jpeg.h"

#include <cstdint>
#include <memory>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/jpeg/block_bits.h"
#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"
#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

using jpeg::CropDecoder;
using jpeg::Decoded;
using jpeg::SequentialJpeg;

int ChannelsOf(const SequentialJpeg& jpeg, PixelMode mode) {
  if (jpeg.count == 1) return mode == PixelMode::kRgb ? 3 : 1;
  return mode == PixelMode::kGrey ? 1 : 3;
}

CropDecoder& DecoderOfThread() {
  thread_local const auto decoder = std::make_unique<CropDecoder>();
  return *decoder;
}

// Nullopt: damaged.
absl::StatusOr<std::optional<Tensor>> DecodeRows(const SequentialJpeg& jpeg, int channels, const Window& part,
                                                 OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, output.Allocate(DType::kUInt8, {part.height, part.width, channels}));
  Tensor decoded = rows;
  if (channels != jpeg.count) {
    HEADRACE_ASSIGN_OR_RETURN(decoded, Tensor::Allocate(DType::kUInt8, {part.height, part.width, jpeg.count}));
  }
  CropDecoder& decoder = DecoderOfThread();
  const Decoded result =
      decoder.Decode(jpeg, {part.top, part.left, part.height, part.width}, !jpeg.HasEndMarker(), decoded.mutable_raw());
  decoder.KeepLittle();
  if (result == Decoded::kStopped) return StopSignal::Error();
  if (result == Decoded::kDamaged) return std::nullopt;
  const int64_t pixels = part.height * part.width;
  if (channels > jpeg.count) GreyRowToRgb(decoded.raw(), pixels, rows.mutable_raw());
  if (channels < jpeg.count) LumaRow(decoded.raw(), pixels, jpeg.count, rows.mutable_raw());
  return rows;
}

// As PIL.ImageOps.exif_transpose turns it: the whole image, whatever part is wanted.
absl::StatusOr<std::optional<DecodedPart>> DecodeTurned(const SequentialJpeg& jpeg, int channels,
                                                        const ChoosePart& choose) {
  OutputAllocator intermediate;
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<Tensor> rows,
                            DecodeRows(jpeg, channels, {0, 0, jpeg.height, jpeg.width}, intermediate));
  if (!rows.has_value()) return std::nullopt;
  const bool swapped = SwapsAxes(jpeg.orientation);
  HEADRACE_ASSIGN_OR_RETURN(const WantedPart part,
                            choose(swapped ? jpeg.width : jpeg.height, swapped ? jpeg.height : jpeg.width));
  OutputAllocator& output = part.output != nullptr ? *part.output : intermediate;
  HEADRACE_ASSIGN_OR_RETURN(const Tensor turned, Oriented(*rows, jpeg.orientation, output));
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(turned, PixelTypes::kByteOrFloat));
  return DecodedPart{image, {0, 0, image.height, image.width}};
}

}  // namespace

absl::StatusOr<std::optional<DecodedPart>> DecodeOwnJpeg(std::string_view bytes, const DecodeOptions& options,
                                                         const ChoosePart& choose) {
  if (options.scale != 1) return std::nullopt;
  const std::optional<SequentialJpeg> jpeg = jpeg::FindSequentialJpeg(bytes);
  if (!jpeg.has_value() || !HoldsBits(bytes.size(), FewestBits(jpeg->blocks(), false))) return std::nullopt;
  if (!CheckPixelLimit(jpeg->width, jpeg->height, options.max_pixels).ok()) return std::nullopt;
  const int channels = ChannelsOf(*jpeg, options.mode);
  if (options.orientation && jpeg->orientation != 1) return DecodeTurned(*jpeg, channels, choose);
  HEADRACE_ASSIGN_OR_RETURN(const WantedPart part, choose(jpeg->height, jpeg->width));
  if (part.window.height <= 0 || part.window.width <= 0) return std::nullopt;
  OutputAllocator intermediate;
  HEADRACE_ASSIGN_OR_RETURN(
      const std::optional<Tensor> rows,
      DecodeRows(*jpeg, channels, part.window, part.output != nullptr ? *part.output : intermediate));
  if (!rows.has_value()) return std::nullopt;
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(*rows, PixelTypes::kByteOrFloat));
  return DecodedPart{image, part.window};
}

}  // namespace headrace

#include "kernels/vision/codecs/whole/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/whole/whole_image.h"

namespace headrace {
namespace {

const uint8_t* Raw(std::string_view bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

absl::Status Failed(VP8StatusCode code, std::string_view where) {
  switch (code) {
    case VP8_STATUS_OK:
      return absl::OkStatus();
    case VP8_STATUS_OUT_OF_MEMORY:
      return ResourceError("no memory to decode the WebP");
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return DataError("the WebP ends early: the file is truncated", where);
    default:
      return DataError("the WebP is damaged", where);
  }
}

int OrientationOf(std::string_view bytes) {
  const WebPData data = {Raw(bytes), bytes.size()};
  const std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  WebPChunkIterator chunk;
  if (demuxer == nullptr || WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk) == 0) return 1;
  std::string_view exif(reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size);
  if (exif.starts_with(kExifHeader)) exif.remove_prefix(kExifHeader.size());
  const int orientation = ExifOrientation(exif);
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

absl::Status ReadStill(std::string_view bytes, const ImageLayout& layout, uint8_t* pixels) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return InternalError("libwebp has another version than its headers");
  const int64_t stride = layout.width * layout.channels;
  config.output.colorspace = layout.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {pixels, static_cast<int>(stride), static_cast<size_t>(stride * layout.height)};
  return Failed(WebPDecode(Raw(bytes), bytes.size(), &config), "");
}

absl::Status ReadFirstFrame(std::string_view bytes, const ImageLayout& layout, uint8_t* pixels) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) return InternalError("libwebp has another version than its headers");
  const WebPData data = {Raw(bytes), bytes.size()};
  const std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> decoder(WebPAnimDecoderNew(&data, &options),
                                                                                   WebPAnimDecoderDelete);
  uint8_t* canvas = nullptr;
  int time = 0;
  if (decoder == nullptr || WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0) {
    return DataError("the WebP is damaged or ends early, in its first frame");
  }
  // The canvas has alpha, whether the file has or not.
  const int64_t count = layout.height * layout.width;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(pixels + i * layout.channels, canvas + 4 * i, static_cast<size_t>(layout.channels));
  }
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeWebp(std::string_view bytes) {
  return bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP";
}

absl::StatusOr<DecodedPart> DecodeWebp(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  WebPBitstreamFeatures features;
  HEADRACE_RETURN_IF_ERROR(Failed(WebPGetFeatures(Raw(bytes), bytes.size(), &features), " (in its header)"));
  const bool moves = features.has_animation != 0;
  const ImageLayout layout = {.height = features.height,
                              .width = features.width,
                              .channels = features.has_alpha != 0 ? 4 : 3,
                              .orientation = options.orientation ? OrientationOf(bytes) : 1};
  return ReadWhole(layout, options, choose, [&](uint8_t* pixels) {
    return moves ? ReadFirstFrame(bytes, layout, pixels) : ReadStill(bytes, layout, pixels);
  });
}

}  // namespace headrace

#include "kernels/vision/codecs/whole/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/whole/whole_image.h"

namespace headrace {
namespace {

// What libwebp is given at a time: a second of its work at most, for pictures as cameras and programs make them.
constexpr size_t kWebpPiece = size_t{256} << 10;
constexpr size_t kRiffHead = 8;

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

// Where a picture's rows go.
struct WebpRows {
  uint8_t* begin = nullptr;
  int64_t stride = 0;  // bytes from one row to the next
  int64_t width = 0;
  int64_t height = 0;
  int channels = 3;
};

// libwebp decodes what it is given in one go, so it is given more and more of the bytes. Until it has a row it may read
// again what it has, in which case the next piece is half as long as all before.
absl::Status DecodeInPieces(std::string_view bytes, WebPDecoderConfig& config) {
  const std::unique_ptr<WebPIDecoder, decltype(&WebPIDelete)> decoder(WebPIDecode(nullptr, 0, &config), WebPIDelete);
  if (decoder == nullptr) return ResourceError("no memory to decode the WebP");
  for (size_t given = kWebpPiece;;) {
    if (StopSignal::Raised()) return StopSignal::Error();
    given = std::min(given, bytes.size());
    const VP8StatusCode code = WebPIUpdate(decoder.get(), Raw(bytes), given);
    if (code != VP8_STATUS_SUSPENDED) return Failed(code, "");
    if (given == bytes.size()) return Failed(VP8_STATUS_NOT_ENOUGH_DATA, "");
    int rows = 0;
    WebPIDecGetRGB(decoder.get(), &rows, nullptr, nullptr, nullptr);
    given += rows > 0 ? kWebpPiece : std::max(kWebpPiece, given / 2);
  }
}

// Whether there are as many bytes as the file says that it has.
bool IsWholeRiff(std::string_view bytes) {
  uint32_t size = 0;
  std::memcpy(&size, bytes.data() + 4, sizeof(size));
  return size <= bytes.size() - kRiffHead;
}

absl::Status DecodeRows(std::string_view bytes, const WebpRows& rows) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return InternalError("libwebp has another version than its headers");
  config.output.colorspace = rows.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  const int64_t size = rows.stride * (rows.height - 1) + rows.width * rows.channels;
  config.output.u.RGBA = {rows.begin, static_cast<int>(rows.stride), static_cast<size_t>(size)};
  if (bytes.size() <= kWebpPiece) return Failed(WebPDecode(Raw(bytes), bytes.size(), &config), "");
  // In one go libwebp checks this itself.
  if (LooksLikeWebp(bytes) && !IsWholeRiff(bytes)) return Failed(VP8_STATUS_NOT_ENOUGH_DATA, "");
  return DecodeInPieces(bytes, config);
}

absl::Status ReadStill(std::string_view bytes, const ImageLayout& layout, uint8_t* pixels) {
  return DecodeRows(bytes, {.begin = pixels,
                            .stride = layout.width * layout.channels,
                            .width = layout.width,
                            .height = layout.height,
                            .channels = layout.channels});
}

// The first frame covers a part of the canvas, which is transparent black elsewhere.
absl::Status ReadFirstFrame(std::string_view bytes, const ImageLayout& layout, uint8_t* pixels) {
  const WebPData data = {Raw(bytes), bytes.size()};
  const std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  WebPIterator frame = {};
  const std::unique_ptr<WebPIterator, decltype(&WebPDemuxReleaseIterator)> release(&frame, WebPDemuxReleaseIterator);
  if (demuxer == nullptr || WebPDemuxGetFrame(demuxer.get(), 1, &frame) == 0 || frame.complete == 0) {
    return DataError("the WebP is damaged or ends early, in its first frame");
  }
  if (frame.x_offset < 0 || frame.y_offset < 0 || frame.x_offset + frame.width > layout.width ||
      frame.y_offset + frame.height > layout.height) {
    return DataError("the WebP is damaged: its first frame is not within the image");
  }
  // With alpha, whether the file has it or not.
  const int64_t count = layout.height * layout.width;
  HEADRACE_ASSIGN_OR_RETURN(Tensor canvas, Tensor::Allocate(DType::kUInt8, {count, 4}));
  std::memset(canvas.mutable_raw(), 0, static_cast<size_t>(4 * count));
  const int64_t first = frame.y_offset * layout.width + frame.x_offset;
  HEADRACE_RETURN_IF_ERROR(DecodeRows({reinterpret_cast<const char*>(frame.fragment.bytes), frame.fragment.size},
                                      {.begin = canvas.mutable_raw() + 4 * first,
                                       .stride = 4 * layout.width,
                                       .width = frame.width,
                                       .height = frame.height,
                                       .channels = 4}));
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(pixels + i * layout.channels, canvas.raw() + 4 * i, static_cast<size_t>(layout.channels));
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

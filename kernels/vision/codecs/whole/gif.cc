#include "kernels/vision/codecs/whole/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/whole/gif_codes.h"
#include "kernels/vision/codecs/whole/whole_image.h"

namespace headrace {
namespace {

// giflib refuses frames whose pixels have more bits than this, though their values may all be small. It is shown this
// number instead of a greater one, which ReadGifPixels gets.
constexpr uint8_t kMostBitsForGiflib = 8;

// The bytes as giflib's file.
struct GifBytes {
  std::string_view left;
  const char* bits = nullptr;  // of a pixel, where the frame says it
};

int ReadBytes(GifFileType* gif, GifByteType* target, int count) {
  GifBytes& bytes = *static_cast<GifBytes*>(gif->UserData);
  const size_t given = std::min(bytes.left.size(), static_cast<size_t>(count));
  std::memcpy(target, bytes.left.data(), given);
  if (given == 1 && bytes.left.data() == bytes.bits) *target = std::min(*target, kMostBitsForGiflib);
  bytes.left.remove_prefix(given);
  return static_cast<int>(given);
}

class GifReader {
 public:
  explicit GifReader(std::string_view bytes) : bytes_{bytes} { gif_ = DGifOpen(&bytes_, ReadBytes, &opening_); }
  ~GifReader() {
    if (gif_ != nullptr) DGifCloseFile(gif_, nullptr);
  }
  GifReader(const GifReader&) = delete;

  absl::StatusOr<DecodedPart> Read(const DecodeOptions& options, const ChoosePart& choose) {
    if (gif_ == nullptr) return GifError(opening_);
    HEADRACE_RETURN_IF_ERROR(FindFrame());
    const GifImageDesc& frame = gif_->Image;
    if (frame.Width <= 0 || frame.Height <= 0) return DataError("the GIF is damaged: its first frame has no pixels");
    layout_.height = std::max(gif_->SHeight, frame.Top + frame.Height);
    layout_.width = std::max(gif_->SWidth, frame.Left + frame.Width);
    layout_.channels = 1;
    TakePalette(frame.ColorMap != nullptr ? frame.ColorMap : gif_->SColorMap);
    return ReadWhole(layout_, options, choose, [this](uint8_t* pixels) { return ReadFrame(pixels); });
  }

 private:
  // Reads up to the pixels of the first frame.
  absl::Status FindFrame() {
    while (true) {
      if (StopSignal::Raised()) return StopSignal::Error();
      GifRecordType kind;
      if (DGifGetRecordType(gif_, &kind) == GIF_ERROR) return GifError(gif_->Error);
      if (kind == IMAGE_DESC_RECORD_TYPE) {
        FindBits();
        return DGifGetImageDesc(gif_) == GIF_ERROR ? GifError(gif_->Error) : absl::OkStatus();
      }
      if (kind != EXTENSION_RECORD_TYPE) return DataError("the GIF holds no frame");
      HEADRACE_RETURN_IF_ERROR(PassExtension());
    }
  }

  // They come after the frame's position and its palette.
  void FindBits() {
    constexpr size_t kPlace = 9;
    if (bytes_.left.size() < kPlace) return;
    const auto flags = static_cast<uint8_t>(bytes_.left[kPlace - 1]);
    const size_t at = kPlace + ((flags & 0x80) != 0 ? size_t{3} << ((flags & 7) + 1) : 0);
    if (at >= bytes_.left.size()) return;
    bytes_.bits = bytes_.left.data() + at;
    bits_ = static_cast<uint8_t>(*bytes_.bits);
  }

  absl::Status PassExtension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_, &code, &block) == GIF_ERROR) return GifError(gif_->Error);
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent_ = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif_, &block) == GIF_ERROR) return GifError(gif_->Error);
    }
    return absl::OkStatus();
  }

  void TakePalette(const ColorMapObject* colors) {
    if (colors == nullptr) return;
    for (int i = 0; i < std::min(colors->ColorCount, 256); ++i) {
      const GifColorType& color = colors->Colors[i];
      palette_.colors[static_cast<size_t>(i)] = {color.Red, color.Green, color.Blue, 255};
    }
    if (transparent_ != NO_TRANSPARENT_COLOR) {
      palette_.transparent = true;
      palette_.colors[static_cast<size_t>(transparent_)][3] = 0;
    }
    layout_.palette = &palette_;
  }

  absl::Status ReadFrame(uint8_t* canvas) {
    const GifImageDesc& frame = gif_->Image;
    const auto pixels = static_cast<size_t>(frame.Width) * static_cast<size_t>(frame.Height);
    if (!frame.Interlace && frame.Width == layout_.width && frame.Height == layout_.height) {
      return ReadGifPixels(gif_, bits_, absl::MakeSpan(canvas, pixels));
    }
    std::vector<uint8_t> rows(pixels);
    HEADRACE_RETURN_IF_ERROR(ReadGifPixels(gif_, bits_, absl::MakeSpan(rows)));
    const int around = transparent_ != NO_TRANSPARENT_COLOR ? transparent_ : 0;
    std::memset(canvas, around, static_cast<size_t>(layout_.height * layout_.width));
    PlaceRows(rows.data(), canvas);
    return absl::OkStatus();
  }

  // Rows of an interlaced frame come in four passes.
  void PlaceRows(const uint8_t* row, uint8_t* canvas) const {
    const GifImageDesc& frame = gif_->Image;
    constexpr int kFirst[] = {0, 4, 2, 1};
    constexpr int kStep[] = {8, 8, 4, 2};
    for (int pass = 0; pass < (frame.Interlace ? 4 : 1); ++pass) {
      const int step = frame.Interlace ? kStep[pass] : 1;
      for (int y = frame.Interlace ? kFirst[pass] : 0; y < frame.Height; y += step, row += frame.Width) {
        std::memcpy(canvas + (frame.Top + y) * layout_.width + frame.Left, row, static_cast<size_t>(frame.Width));
      }
    }
  }

  GifBytes bytes_;
  int bits_ = 0;                   // of a pixel
  int opening_ = D_GIF_SUCCEEDED;  // what kept it from being opened
  GifFileType* gif_;
  ImageLayout layout_;
  Palette palette_;
  int transparent_ = NO_TRANSPARENT_COLOR;
};

}  // namespace

bool LooksLikeGif(std::string_view bytes) { return bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a"); }

absl::StatusOr<DecodedPart> DecodeGif(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose) {
  GifReader reader(bytes);
  return reader.Read(options, choose);
}

}  // namespace headrace

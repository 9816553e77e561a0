#include "kernels/vision/codecs/whole/gif_codes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace {
namespace {

constexpr int kLongestCode = 12;  // in bits
constexpr uint32_t kMostCodes = 1 << kLongestCode;

// Codes out of the blocks of a file, lowest bits first.
class CodeReader {
 public:
  absl::Status Begin(GifFileType* gif) {
    gif_ = gif;
    int bits = 0;
    GifByteType* block = nullptr;
    const int result = DGifGetCode(gif_, &bits, &block);
    return Take(result, block);
  }

  // `code` is the next one of `width` bits.
  absl::Status Next(int width, uint32_t& code) {
    if (held_ < width) HEADRACE_RETURN_IF_ERROR(Fill(width));
    code = static_cast<uint32_t>(bits_) & ((1U << width) - 1);
    bits_ >>= width;
    held_ -= width;
    return absl::OkStatus();
  }

 private:
  absl::Status Take(int result, const GifByteType* block) {
    if (StopSignal::Raised()) return StopSignal::Error();
    if (result == GIF_ERROR) return GifError(gif_->Error);
    // The last block, which is empty, comes after the last pixel.
    if (block == nullptr) return GifError(D_GIF_ERR_IMAGE_DEFECT);
    next_ = block + 1;
    end_ = next_ + block[0];
    return absl::OkStatus();
  }

  absl::Status Fill(int width) {
    while (held_ < width) {
      if (next_ == end_) {
        GifByteType* block = nullptr;
        const int result = DGifGetCodeNext(gif_, &block);
        HEADRACE_RETURN_IF_ERROR(Take(result, block));
      }
      const auto bytes = static_cast<int>(std::min<ptrdiff_t>(end_ - next_, 4));
      for (int i = 0; i < bytes; ++i, held_ += 8) bits_ |= uint64_t{*next_++} << held_;
    }
    return absl::OkStatus();
  }

  GifFileType* gif_ = nullptr;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint64_t bits_ = 0;  // that were read and are no part of a code yet
  int held_ = 0;       // how many
};

// Pixels that came before, of which a later code is the name.
struct Run {
  uint32_t begin = 0;
  uint32_t length = 0;
};

// Appends the run. Pixels may be part of it that it writes, and those beyond the last are dropped.
void Repeat(const Run& run, size_t at, absl::Span<uint8_t> pixels) {
  constexpr size_t kWord = 8;
  const uint8_t* const from = pixels.data() + run.begin;
  uint8_t* const to = pixels.data() + at;
  const size_t left = pixels.size() - at;
  if (at - run.begin >= kWord && run.length + kWord <= left) {
    // Writes beyond the run, where its followers come.
    for (size_t i = 0; i < run.length; i += kWord) std::memcpy(to + i, from + i, kWord);
    return;
  }
  for (size_t i = 0; i < std::min<size_t>(run.length, left); ++i) to[i] = from[i];
}

}  // namespace

absl::Status GifError(int code) {
  if (code == D_GIF_ERR_NOT_ENOUGH_MEM) return ResourceError("no memory to decode the GIF");
  if (code == D_GIF_ERR_READ_FAILED || code == D_GIF_ERR_EOF_TOO_SOON || code == D_GIF_ERR_NO_SCRN_DSCR) {
    return DataError("the GIF ends early: the file is truncated");
  }
  const char* const text = GifErrorString(code);
  return DataError("the GIF is damaged", text != nullptr ? ": " : "", text != nullptr ? text : "");
}

// A code below `clear` is a pixel. Each code but the first adds one to the table: the pixels of the code before it, and
// the first of its own, which are contiguous in the image.
absl::Status ReadGifPixels(GifFileType* gif, int bits, absl::Span<uint8_t> pixels) {
  CodeReader codes;
  HEADRACE_RETURN_IF_ERROR(codes.Begin(gif));
  if (bits > kLongestCode) return GifError(D_GIF_ERR_IMAGE_DEFECT);
  const uint32_t clear = 1U << bits;
  std::array<Run, kMostCodes> runs;
  uint32_t known = clear + 2;
  int width = bits + 1;
  Run last;  // of the code before; empty: there is none
  for (size_t at = 0; at < pixels.size();) {
    uint32_t code = 0;
    HEADRACE_RETURN_IF_ERROR(codes.Next(width, code));
    if (code == clear) {
      known = clear + 2;
      width = bits + 1;
      last = Run();
      continue;
    }
    if (code == clear + 1) return GifError(D_GIF_ERR_EOF_TOO_SOON);
    if (last.length > 0 && known < kMostCodes) runs[known++] = {last.begin, last.length + 1};
    if (known >= 1U << width && width < kLongestCode) ++width;
    if (code >= known) return GifError(D_GIF_ERR_IMAGE_DEFECT);
    last = {static_cast<uint32_t>(at), 1};
    if (code < clear) {
      pixels[at] = static_cast<uint8_t>(code);
    } else {
      last.length = runs[code].length;
      Repeat(runs[code], at, pixels);
    }
    at += last.length;
  }
  return absl::OkStatus();
}

}  // namespace headrace

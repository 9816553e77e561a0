// `PixelMode` names the channels that a decode kernel returns; the functions here convert between them by integer
// formulas equal to Pillow's.
// Threads: plain functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_IMAGE_PIXEL_MODE_H_
#define HEADRACE_KERNELS_VISION_IMAGE_PIXEL_MODE_H_

#include <cstdint>

namespace headrace {

enum class PixelMode {
  kRgb,        // three channels; alpha is dropped, grey repeated
  kGrey,       // one channel
  kUnchanged,  // those of the file: grey or palette index 1, grey and alpha 2, colour 3, colour and alpha 4; CMYK
               // becomes RGB
  kAny,        // grey 1, colour 3, either with alpha 4; palettes are resolved, and 8 of 16 bits kept
  kAnyDepth,   // the same, but 16 bits are kept
};

struct DecodeOptions {
  PixelMode mode = PixelMode::kRgb;
  bool orientation = false;  // applies the EXIF orientation
  int64_t max_pixels = -1;   // before scaling; -1: no limit
  int scale = 1;             // 2, 4, 8: decodes to a half, quarter, eighth of height and width; only JPEG
};

// ITU-R 601-2 luma in 16-bit fixed point, as Pillow's convert("L").
inline uint8_t Luma(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

// Converts `count` pixels, `step` bytes apart in `rgb`, of which the first three bytes are read. May work in place.
inline void LumaRow(const uint8_t* rgb, int64_t count, int step, uint8_t* grey) {
  for (int64_t i = 0; i < count; ++i) grey[i] = Luma(rgb + i * step);
}

inline void GreyRowToRgb(const uint8_t* grey, int64_t count, uint8_t* rgb) {
  for (int64_t i = 0; i < count; ++i) rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = grey[i];
}

// a·b / 255, rounded.
inline uint32_t MultiplyBytes(uint32_t a, uint32_t b) {
  const uint32_t product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// Converts inverted CMYK, as written by Adobe and read by Pillow: 255 is no ink. May not work in place.
inline void InvertedCmykToRgbRow(const uint8_t* cmyk, int64_t count, uint8_t* rgb) {
  for (int64_t i = 0; i < count; ++i, cmyk += 4, rgb += 3) {
    const uint32_t white = cmyk[3];
    for (int c = 0; c < 3; ++c) {
      const uint32_t ink = MultiplyBytes(255u - cmyk[c], white);
      rgb[c] = static_cast<uint8_t>(white - ink);
    }
  }
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_IMAGE_PIXEL_MODE_H_

#include "kernels/vision/codecs/whole/tiff_samples.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace headrace {
namespace {

// The number of `bits` bits, at most 16, that begins at this bit, highest bits first.
uint32_t BitsAt(const uint8_t* packed, int64_t bit, int bits) {
  uint32_t number = 0;
  for (int left = bits; left > 0;) {
    const int begin = static_cast<int>(bit % 8);
    const int some = left < 8 - begin ? left : 8 - begin;
    number = number << some | (packed[bit / 8] >> (8 - begin - some) & ((1U << some) - 1));
    bit += some;
    left -= some;
  }
  return number;
}

uint32_t WordAt(const uint8_t* packed, int64_t at, int bits) {
  if (bits != 16) return BitsAt(packed, at * bits, bits);
  uint16_t word = 0;
  std::memcpy(&word, packed + 2 * at, sizeof(word));
  return word;
}

// Calls `write` with each sample that is kept: where it stands in the row of the file and in that of the result, and
// what to change in it, all bits where white is 0.
template <typename Write>
void ForEachSample(const TiffSamples& samples, int64_t pixels, int plane, const Write& write) {
  const uint32_t turned = samples.white_is_0 ? (1U << samples.bits) - 1 : 0;
  for (int64_t x = 0; x < pixels; ++x) {
    for (int c = 0; c < samples.taken; ++c) {
      write(x * samples.in_row + c, x * samples.held + plane + c, plane + c == 0 ? turned : 0);
    }
  }
}

// Samples of at most 8 bits.
void UnpackToBytes(const TiffSamples& samples, const uint8_t* packed, int64_t pixels, int plane, uint8_t* to) {
  const int bits = samples.bits;
  const uint32_t most = (1U << bits) - 1;
  std::array<uint8_t, 256> levels;
  for (uint32_t i = 0; i <= most; ++i) levels[i] = static_cast<uint8_t>(samples.scaled ? i * 255 / most : i);
  ForEachSample(samples, pixels, plane, [&](int64_t at, int64_t into, uint32_t turned) {
    to[into] = levels[BitsAt(packed, at * bits, bits) ^ turned];
  });
}

// Samples of 9 to 16 bits.
void UnpackToWords(const TiffSamples& samples, const uint8_t* packed, int64_t pixels, int plane, uint8_t* to) {
  const int bits = samples.bits;
  const uint32_t most = (1U << bits) - 1;
  const bool scaled = samples.scaled && bits < 16;
  ForEachSample(samples, pixels, plane, [&](int64_t at, int64_t into, uint32_t turned) {
    const uint32_t value = WordAt(packed, at, bits) ^ turned;
    const auto word = static_cast<uint16_t>(scaled ? uint64_t{value} * 65535 / most : value);
    std::memcpy(to + 2 * into, &word, sizeof(word));
  });
}

}  // namespace

void TiffSamples::Unpack(const uint8_t* packed, int64_t pixels, int plane, uint8_t* to) const {
  const auto size = static_cast<size_t>(bytes());
  if (AreCopied()) {
    std::memcpy(to, packed, static_cast<size_t>(pixels * held) * size);
  } else if (bits <= 8) {
    UnpackToBytes(*this, packed, pixels, plane, to);
  } else if (bits <= 16) {
    UnpackToWords(*this, packed, pixels, plane, to);
  } else {
    // Numbers of 32 and 64 bits, which are kept as they are.
    TiffSamples plain = *this;
    plain.white_is_0 = false;
    ForEachSample(plain, pixels, plane, [&](int64_t at, int64_t into, uint32_t) {
      std::memcpy(to + static_cast<size_t>(into) * size, packed + static_cast<size_t>(at) * size, size);
    });
  }
}

}  // namespace headrace

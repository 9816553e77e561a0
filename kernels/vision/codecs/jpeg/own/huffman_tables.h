// `MeanTable` and `CoefficientTable` decode Huffman-coded data by look-ups of the next bits: a mean value,
// a coefficient with the zeros before it, and several coefficients at once whose values nobody wants. They are made for
// each image whose codes are others than the last one's.
// Threads: made by one thread; const functions from any.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_HUFFMAN_TABLES_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_HUFFMAN_TABLES_H_

#include <array>
#include <cstdint>

#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

namespace headrace::jpeg {

// Bits that a look-up takes. Longer codes are rare.
inline constexpr int kLookUpBits = 11;
inline constexpr int kLookUps = 1 << kLookUpBits;

// A symbol's bits, of the code and of the number after it.
struct Symbol {
  int bits = 0;    // of the code; 0: no code begins like this
  int symbol = 0;  // zeros before the number * 16 + bits of the number
};

// The codes that are too long for a look-up, bit by bit.
class LongCodes {
 public:
  // False: not a code that libjpeg takes.
  bool Make(const HuffmanCode& code, bool means);
  // The code at the beginning of these bits, which are as many as the longest code has.
  Symbol Find(uint32_t first_16_bits) const;

  static constexpr int kMostBits = 16;

 private:
  const HuffmanCode* code_ = nullptr;
  std::array<int32_t, kMostBits + 1> end_ = {};     // after the last code of each length; 0: there is none
  std::array<int32_t, kMostBits + 1> offset_ = {};  // of a code's symbol, without the code
};

// What a look-up finds, in 32 bits: bits 0 … 4 all bits of code and number, 5 … 11 how far it moves, 12 end of block,
// 13 it was not found whole, 14 … 15 nothing, 16 … 31 the number.
struct Found {
  uint32_t packed = 0;

  static constexpr uint32_t kEnd = 1 << 12;
  static constexpr uint32_t kPartly = 1 << 13;
  static constexpr uint32_t kNumber = 1 << 16;

  int bits() const { return static_cast<int>(packed & 31); }
  int moves() const { return static_cast<int>(packed >> 5 & 127); }
  bool is_end() const { return (packed & kEnd) != 0; }
  bool is_partly() const { return (packed & kPartly) != 0; }
  int number() const { return static_cast<int32_t>(packed) >> 16; }
};

// Two coefficients that a look-up finds whole, in 64 bits: bits 0 … 4 all bits of codes and numbers, 5 … 11 and 12 … 18
// how far they move, 19 the first was not found whole, 32 … 47 and 48 … 63 the numbers. Where only one is found, the
// second is the same again.
struct FoundPair {
  uint64_t packed = 0;

  static constexpr uint64_t kPartly = 1 << 19;

  int bits() const { return static_cast<int>(packed & 31); }
  int first_moves() const { return static_cast<int>(packed >> 5 & 127); }
  int second_moves() const { return static_cast<int>(packed >> 12 & 127); }
  bool is_partly() const { return (packed & kPartly) != 0; }
  int16_t first_number() const { return static_cast<int16_t>(packed >> 32); }
  int16_t second_number() const { return static_cast<int16_t>(packed >> 48); }
};

// The number that `bits` bits mean (T.81, EXTEND).
inline int Extended(int value, int bits) {
  const int half = bits == 0 ? 0 : 1 << (bits - 1);
  return value < half ? value - (1 << bits) + 1 : value;
}

// Differences of mean values.
struct MeanTable {
  bool Make(const HuffmanCode& from);

  HuffmanCode code;
  LongCodes codes;
  std::array<uint32_t, kLookUps> found;
};

// Coefficients other than the mean: moves() is 1 for the coefficient and 1 for each zero before it; 64 at the end of a
// block.
struct CoefficientTable {
  bool Make(const HuffmanCode& from);
  // Makes `passed`, which takes longer than all else. Until then it passes nothing.
  void MakePassed();

  HuffmanCode code;
  LongCodes codes;
  std::array<uint32_t, kLookUps> found;
  std::array<uint64_t, kLookUps> pairs;  // FoundPair
  // Symbols whose codes lie within the bits, as many as do, without their numbers: moves() coefficients, and 64 more if
  // the block ends with them. Only for blocks that have so many left.
  std::array<uint32_t, kLookUps> passed;
  bool has_passed = false;

 private:
  void MakePairs();
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_HUFFMAN_TABLES_H_

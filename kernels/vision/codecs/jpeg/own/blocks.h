// `ReadBlock` and `PassBlock` decode one block of entropy-coded data: its coefficients, or its mean value alone.
// Threads: pure functions.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BLOCKS_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BLOCKS_H_

#include <cstdint>

#include "kernels/vision/codecs/jpeg/own/bit_window.h"
#include "kernels/vision/codecs/jpeg/own/huffman_tables.h"

namespace headrace::jpeg {

// Places of coefficients by their order, and after them, as far as the last of two coefficients may move, one place
// for what is none: the end of a block, or damage.
inline constexpr int kPlaces = 2 * kCoefficients + 16;
inline constexpr int kNoPlace = kCoefficients;
inline constexpr std::array<uint8_t, kPlaces> kPlaceOf = [] {
  std::array<uint8_t, kPlaces> places = {};
  for (size_t i = 0; i < kPlaces; ++i) places[i] = i < kCoefficients ? kZigzag[i] : uint8_t{kNoPlace};
  return places;
}();

// The codes of a component.
struct ComponentCodes {
  const MeanTable* means = nullptr;
  const CoefficientTable* others = nullptr;
};

// A code that is too long for a look-up, or whose number is. False: not a code.
inline bool ReadLong(const LongCodes& codes, Found found, BitWindow& window, Symbol& symbol, int& number) {
  if (found.bits() > 0) {
    // The code is known, and so is the size of its number, which ends what was found.
    const int size = found.number();
    symbol.symbol = size;
    number = Extended(static_cast<int>(window.Peek(found.bits()) & ((1u << size) - 1)), size);
    window.Drop(found.bits());
    return true;
  }
  symbol = codes.Find(window.Peek(LongCodes::kMostBits));
  if (symbol.bits == 0) return false;
  window.Drop(symbol.bits);
  const int size = symbol.symbol % 16;
  number = size == 0 ? 0 : Extended(static_cast<int>(window.Peek(size)), size);
  window.Drop(size);
  return true;
}

// Adds the difference to `mean`.
inline bool ReadMean(const MeanTable& table, BitWindow& window, int32_t& mean) {
  window.Fill();
  const Found found{table.found[window.Peek(kLookUpBits)]};
  if (!found.is_partly()) [[likely]] {
    window.Drop(found.bits());
    mean += found.number();
    return true;
  }
  Symbol symbol;
  int number = 0;
  if (!ReadLong(table.codes, found, window, symbol, number)) return false;
  mean += number;
  return true;
}

// What follows a look-up that is not whole. False: not a code, or more coefficients than a block has.
inline bool ReadLongCoefficient(const CoefficientTable& table, Found found, BitWindow& window, int& at, int& number) {
  Symbol symbol;
  if (!ReadLong(table.codes, found, window, symbol, number)) return false;
  if (found.bits() > 0) {
    at += found.moves();
  } else if (symbol.symbol % 16 == 0 && symbol.symbol != 0xF0) {
    at += kCoefficients;
  } else {
    at += symbol.symbol / 16 + 1;
  }
  return true;
}

// Coefficients by their places, not multiplied by the quantization; those that are 0 are not written. `block` has
// kNoPlace more value after its own, which may be written. False: the data are damaged.
// Inlined, because a call for each block costs 3% of a picture.
[[gnu::always_inline]] inline bool ReadBlock(const ComponentCodes& codes, BitWindow& window_in, int32_t& mean,
                                             int16_t* block) {
  BitWindow window = window_in;
  if (!ReadMean(*codes.means, window, mean)) return false;
  block[0] = static_cast<int16_t>(mean);
  int at = 0;
  bool ended = false;
  const uint64_t* const look_ups = codes.others->pairs.data();
  for (int filled = 0;; filled = filled == 2 ? 0 : filled + 1) {
    if (filled == 0) window.Fill();
    const uint32_t first = window.Peek(kLookUpBits);
    const FoundPair found{look_ups[first]};
    if (found.is_partly()) [[unlikely]] {
      int number = 0;
      const int before = at;
      const Found single{codes.others->found[first]};
      if (!ReadLongCoefficient(*codes.others, single, window, at, number)) return false;
      ended = at - before == kCoefficients;
      block[kPlaceOf[static_cast<size_t>(at)]] = static_cast<int16_t>(number);
      if (at >= kCoefficients - 1) break;
      filled = 2;
      continue;
    }
    const int middle = at + found.first_moves();
    at = middle + found.second_moves();
    block[kPlaceOf[static_cast<size_t>(middle)]] = found.first_number();
    block[kPlaceOf[static_cast<size_t>(at)]] = found.second_number();
    if (at < kCoefficients - 1) [[likely]] {
      window.Drop(found.bits());
      continue;
    }
    // The last coefficient ends a block without a code: what was found after it is not this block's.
    if (middle == kCoefficients - 1) [[unlikely]] {
      at = middle;
      window.Drop(Found{codes.others->found[first]}.bits());
    } else {
      window.Drop(found.bits());
      ended = (middle < kCoefficients ? found.second_moves() : found.first_moves()) == kCoefficients;
    }
    break;
  }
  window_in = window;
  return ended || at == kCoefficients - 1;
}

// The same without the coefficients.
[[gnu::always_inline]] inline bool PassBlock(const ComponentCodes& codes, BitWindow& window_in, int32_t& mean) {
  BitWindow window = window_in;
  if (!ReadMean(*codes.means, window, mean)) return false;
  int at = 0;
  const uint32_t* const look_ups = codes.others->passed.data();
  for (bool filled = false; at < kCoefficients - 1; filled = !filled) {
    if (!filled) window.Fill();
    const uint32_t first = window.Peek(kLookUpBits);
    const Found passed{look_ups[first]};
    // The last coefficient ends a block without a code: one that it may be among these is passed code by code.
    if (passed.bits() > 0 && at + passed.moves() % kCoefficients < kCoefficients - 1) [[likely]] {
      window.Drop(passed.bits());
      at += passed.moves();
      continue;
    }
    const Found found{codes.others->found[first]};
    if (filled) window.Fill();
    filled = true;
    const int before = at;
    int number = 0;
    if (found.is_partly()) {
      if (!ReadLongCoefficient(*codes.others, found, window, at, number)) return false;
    } else {
      window.Drop(found.bits());
      at += found.moves();
    }
    if (at - before == kCoefficients) break;
    if (at > kCoefficients - 1) return false;
  }
  window_in = window;
  return true;
}

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_BLOCKS_H_

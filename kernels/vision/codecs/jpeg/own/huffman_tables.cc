#include "kernels/vision/codecs/jpeg/own/huffman_tables.h"

#include <algorithm>
#include <utility>

namespace headrace::jpeg {
namespace {

constexpr int kMostMeanBits = 15;

// Calls set(first, count, bits, symbol) for each code that a look-up holds whole, with the look-ups that begin with it.
template <typename Set>
void ForShortCodes(const HuffmanCode& code, const Set& set) {
  uint32_t first = 0;
  size_t symbol = 0;
  for (int bits = 1; bits <= kLookUpBits; ++bits) {
    const uint32_t count = uint32_t{1} << (kLookUpBits - bits);
    for (int i = 0; i < code.counts[static_cast<size_t>(bits - 1)]; ++i, first += count) {
      set(first, count, bits, static_cast<int>(code.symbols[symbol++]));
    }
  }
}

uint32_t Packed(int bits, int moves, uint32_t flags, int number) {
  return static_cast<uint32_t>(bits) | static_cast<uint32_t>(moves) << 5 | flags |
         static_cast<uint32_t>(number) * Found::kNumber;
}

// The look-ups of a symbol whose number has `size` bits: each with its number, where that fits.
void SetNumbers(uint32_t* found, uint32_t count, int bits, int size, int moves) {
  const int left = kLookUpBits - bits - size;
  if (left < 0) {
    std::fill_n(found, count, Packed(bits + size, moves, Found::kPartly, size));
    return;
  }
  const uint32_t same = uint32_t{1} << left;
  for (int value = 0; value < 1 << size; ++value, found += same) {
    std::fill_n(found, same, Packed(bits + size, moves, 0, Extended(value, size)));
  }
}

uint64_t PairAt(const std::array<uint32_t, kLookUps>& found, uint32_t at) {
  const Found first{found[at]};
  if (first.is_partly()) return FoundPair::kPartly;
  const uint64_t number = static_cast<uint16_t>(first.number());
  const Found second{found[at << first.bits() & (kLookUps - 1)]};
  uint64_t pair = static_cast<uint64_t>(first.moves()) << 5 | number << 32;
  if (first.is_end() || second.is_partly() || first.bits() + second.bits() > kLookUpBits) {
    return pair | static_cast<uint64_t>(first.bits()) | number << 48;
  }
  pair |= static_cast<uint64_t>(first.bits() + second.bits()) | static_cast<uint64_t>(second.moves()) << 12;
  return pair | static_cast<uint64_t>(static_cast<uint16_t>(second.number())) << 48;
}

bool IsEnd(int symbol) { return symbol % 16 == 0 && symbol != 0xF0; }

}  // namespace

bool LongCodes::Make(const HuffmanCode& code, bool means) {
  code_ = &code;
  int32_t next = 0;
  int32_t symbol = 0;
  for (int bits = 1; bits <= kMostBits; ++bits, next *= 2) {
    const int count = code.counts[static_cast<size_t>(bits - 1)];
    offset_[static_cast<size_t>(bits)] = symbol - next;
    next += count;
    symbol += count;
    end_[static_cast<size_t>(bits)] = count == 0 ? 0 : next;
    // No code is all ones; libjpeg refuses such.
    if (count > 0 && next >= 1 << bits) return false;
  }
  if (!means) return true;
  return std::all_of(code.symbols.begin(), code.symbols.begin() + symbol,
                     [](int size) { return size <= kMostMeanBits; });
}

Symbol LongCodes::Find(uint32_t first_16_bits) const {
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const auto code = static_cast<int32_t>(first_16_bits >> (kMostBits - bits));
    if (code >= end_[static_cast<size_t>(bits)]) continue;
    return {bits, code_->symbols[static_cast<size_t>(code + offset_[static_cast<size_t>(bits)])]};
  }
  return {};
}

bool MeanTable::Make(const HuffmanCode& from) {
  if (from == code) return true;
  code = from;
  if (!codes.Make(code, true)) {
    code = {};
    return false;
  }
  found.fill(Found::kPartly);
  ForShortCodes(from, [&](uint32_t first, uint32_t count, int bits, int size) {
    SetNumbers(&found[first], count, bits, size, 0);
  });
  return true;
}

bool CoefficientTable::Make(const HuffmanCode& from) {
  if (from == code) return true;
  code = from;
  if (!codes.Make(code, false)) {
    code = {};
    return false;
  }
  found.fill(Found::kPartly);
  ForShortCodes(from, [&](uint32_t first, uint32_t count, int bits, int symbol) {
    if (IsEnd(symbol)) {
      std::fill_n(&found[first], count, Packed(bits, kCoefficients, Found::kEnd, 0));
    } else {
      SetNumbers(&found[first], count, bits, symbol % 16, symbol / 16 + 1);
    }
  });
  for (uint32_t first = 0; first < kLookUps; ++first) pairs[first] = PairAt(found, first);
  passed.fill(0);
  has_passed = false;
  return true;
}

void CoefficientTable::MakePassed() {
  if (std::exchange(has_passed, true)) return;
  // What a symbol alone passes.
  std::array<uint32_t, kLookUps> single;
  std::array<uint8_t, kLookUps> code_bits = {};
  single.fill(0);
  ForShortCodes(code, [&](uint32_t first, uint32_t count, int bits, int symbol) {
    const int moves = IsEnd(symbol) ? kCoefficients : symbol / 16 + 1;
    std::fill_n(&single[first], count, Packed(bits + symbol % 16, moves, 0, 0));
    std::fill_n(&code_bits[first], count, static_cast<uint8_t>(bits));
  });
  constexpr int kMostPassedBits = 22;
  for (uint32_t first = 0; first < kLookUps; ++first) {
    const Found one{single[first]};
    int bits = one.bits();
    int moves = one.moves();
    while (bits > 0 && bits < kLookUpBits && moves < kCoefficients) {
      const uint32_t rest = first << bits & (kLookUps - 1);
      const Found next{single[rest]};
      const int next_code = code_bits[rest];
      const int zeros = next.moves() % kCoefficients;
      if (next_code == 0 || next_code > kLookUpBits - bits || bits + next.bits() > kMostPassedBits) break;
      if (moves + zeros >= kCoefficients) break;
      bits += next.bits();
      moves += next.moves();
    }
    passed[first] = bits > kMostPassedBits ? 0 : Packed(bits, moves, 0, 0);
  }
}

}  // namespace headrace::jpeg

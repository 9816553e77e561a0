#include "kernels/vision/codecs/jpeg/own/huffman_tables.h"

#include <algorithm>
#include <utility>

namespace headrace::jpeg {
namespace {

constexpr int kMostMeanBits = 15;

// Calls set(first, count, bits, symbol) for each code that so many bits hold whole, with the values of these that begin
// with it. Returns the first value that begins with none.
template <typename Set>
uint32_t ForShortCodes(const HuffmanCode& code, int most_bits, const Set& set) {
  uint32_t first = 0;
  size_t symbol = 0;
  for (int bits = 1; bits <= most_bits; ++bits) {
    const uint32_t count = uint32_t{1} << (most_bits - bits);
    for (int i = 0; i < code.counts[static_cast<size_t>(bits - 1)]; ++i, first += count) {
      set(first, count, bits, static_cast<int>(code.symbols[symbol++]));
    }
  }
  return first;
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
  const int half = 1 << size >> 1;
  const auto set = [&](int value, int number) {
    const uint32_t packed = Packed(bits + size, moves, 0, number);
    for (uint32_t i = 0; i < same; ++i) found[static_cast<uint32_t>(value) * same + i] = packed;
  };
  for (int value = 0; value < half; ++value) set(value, value - (1 << size) + 1);
  for (int value = half; value < 1 << size; ++value) set(value, value);
}

bool IsEnd(int symbol) { return symbol % 16 == 0 && symbol != 0xF0; }

// The second coefficients of FoundPair: what is added to the first one, by the bits that it leaves. 0: they hold none
// whole.
class SecondCoefficients {
 public:
  explicit SecondCoefficients(const std::array<uint32_t, kLookUps>& found) {
    seconds_[0] = seconds_[1] = 0;
    constexpr uint32_t kMost = kLookUps / 2;
    for (uint32_t value = 0; value < kMost; ++value) {
      const Found second{found[2 * value]};
      const bool whole = !second.is_partly() && second.bits() < kLookUpBits;
      seconds_[kMost + value] = whole ? Added(second) : 0;
    }
    for (int left = kLookUpBits - 2; left > 0; --left) {
      const uint32_t values = uint32_t{1} << left;
      for (uint32_t at = values; at < 2 * values; ++at) {
        const uint64_t second = seconds_[2 * at];
        seconds_[at] = FoundPair{second}.bits() <= left ? second : 0;
      }
    }
  }
  // For each value of the bits that are left.
  const uint64_t* Of(int left) const { return seconds_.data() + (size_t{1} << left); }

 private:
  static uint64_t Added(Found second) {
    return static_cast<uint64_t>(second.bits()) | static_cast<uint64_t>(second.moves()) << 12 |
           static_cast<uint64_t>(static_cast<uint16_t>(second.number())) << 48;
  }

  std::array<uint64_t, kLookUps> seconds_;
};

// Fills look-ups with what several symbols pass at once.
class PassedSymbols {
 public:
  explicit PassedSymbols(const HuffmanCode& code) : code_(code) {}

  // Those for each value of the last `left` bits, where those before pass `bits` and `moves`.
  void Fill(uint32_t* to, int left, int bits, int moves) const {
    const uint32_t alone = Packed(bits, moves, 0, 0);
    const uint32_t coded = ForShortCodes(code_, left, [&](uint32_t first, uint32_t count, int code_bits, int symbol) {
      const bool ends = IsEnd(symbol);
      const int size = symbol % 16;
      const int zeros = ends ? 0 : symbol / 16 + 1;
      const int all_bits = bits + code_bits + size;
      if (all_bits > kMostPassedBits || moves + zeros >= kCoefficients) {
        std::fill_n(to + first, count, alone);
        return;
      }
      const int all_moves = moves + (ends ? kCoefficients : zeros);
      const int rest = left - code_bits - size;
      if (ends || rest <= 0) {
        std::fill_n(to + first, count, Packed(all_bits, all_moves, 0, 0));
        return;
      }
      // Any number of so many bits.
      Fill(to + first, rest, all_bits, all_moves);
      for (uint32_t done = uint32_t{1} << rest; done < count; done *= 2)
        std::copy_n(to + first, done, to + first + done);
    });
    std::fill(to + coded, to + (size_t{1} << left), alone);
  }

 private:
  static constexpr int kMostPassedBits = 22;

  const HuffmanCode& code_;
};

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
  ForShortCodes(from, kLookUpBits, [&](uint32_t first, uint32_t count, int bits, int size) {
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
  ForShortCodes(from, kLookUpBits, [&](uint32_t first, uint32_t count, int bits, int symbol) {
    if (IsEnd(symbol)) {
      std::fill_n(&found[first], count, Packed(bits, kCoefficients, Found::kEnd, 0));
    } else {
      SetNumbers(&found[first], count, bits, symbol % 16, symbol / 16 + 1);
    }
  });
  MakePairs();
  passed.fill(0);
  has_passed = false;
  return true;
}

void CoefficientTable::MakePairs() {
  const SecondCoefficients seconds(found);
  uint32_t same = 0;
  for (uint32_t first = 0; first < kLookUps; first += same) {
    const Found one{found[first]};
    if (one.is_partly()) {
      pairs[first] = FoundPair::kPartly;
      same = 1;
      continue;
    }
    const int left = kLookUpBits - one.bits();
    same = uint32_t{1} << left;
    const uint64_t number = static_cast<uint16_t>(one.number());
    const uint64_t here = static_cast<uint64_t>(one.bits()) | static_cast<uint64_t>(one.moves()) << 5 | number << 32;
    const uint64_t again = number << 48;
    if (one.is_end()) {
      std::fill_n(&pairs[first], same, here + again);
      continue;
    }
    const uint64_t* const second = seconds.Of(left);
    for (uint32_t i = 0; i < same; ++i) pairs[first + i] = here + (second[i] == 0 ? again : second[i]);
  }
}

void CoefficientTable::MakePassed() {
  if (!std::exchange(has_passed, true)) PassedSymbols(code).Fill(passed.data(), kLookUpBits, 0, 0);
}

}  // namespace headrace::jpeg

// Blocks of random data under random codes, decoded by look-ups and bit by bit.
#include "kernels/vision/codecs/jpeg/own/huffman_tables.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/philox.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "gtest/gtest.h"
#include "kernels/vision/codecs/jpeg/own/blocks.h"

namespace headrace::jpeg {
namespace {

const uint64_t kCodes = Rounds(300, {.quick = 60, .sanitized = 60});

// A code for these symbols, in a random order: lengths are drawn so that some bits are never a code's beginning.
HuffmanCode AnyCode(RowRandom& random, std::vector<uint8_t> symbols) {
  for (size_t i = symbols.size(); i > 1; --i) std::swap(symbols[i - 1], symbols[random.Below(i)]);
  HuffmanCode code;
  code.defined = true;
  // Free codes of the present length.
  uint64_t free = 1;
  size_t used = 0;
  for (size_t bits = 1; bits <= code.counts.size() && used < symbols.size(); ++bits) {
    free *= 2;
    const uint64_t left = symbols.size() - used;
    // One stays free: no code is all ones.
    const bool last = bits == code.counts.size();
    const uint64_t most = std::min<uint64_t>({left, free - 1, 255});
    const uint64_t count = last ? most : most == 0 ? 0 : random.Below(std::min<uint64_t>(most, 1 + bits) + 1);
    code.counts[bits - 1] = static_cast<uint8_t>(count);
    used += count;
    free -= count;
  }
  std::copy(symbols.begin(), symbols.begin() + static_cast<ptrdiff_t>(used), code.symbols.begin());
  return code;
}

std::vector<uint8_t> Range(int begin, int end) {
  std::vector<uint8_t> values(static_cast<size_t>(end - begin));
  std::iota(values.begin(), values.end(), static_cast<uint8_t>(begin));
  return values;
}

// The definition: one bit at a time (T.81, F.2.2).
class BitReader {
 public:
  explicit BitReader(const std::string& bytes) : bytes_(bytes) {}

  int Bit() {
    const int bit = static_cast<uint8_t>(bytes_[at_ / 8]) >> (7 - at_ % 8) & 1;
    ++at_;
    return bit;
  }
  int Bits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) value = value * 2 + Bit();
    return value;
  }
  std::optional<int> SymbolOf(const HuffmanCode& code) {
    int value = 0;
    int first = 0;
    int index = 0;
    for (const uint8_t count : code.counts) {
      value = value * 2 + Bit();
      first *= 2;
      if (value < first + count) return code.symbols[static_cast<size_t>(index + value - first)];
      first += count;
      index += count;
    }
    return std::nullopt;
  }
  size_t at() const { return at_; }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

struct Block {
  bool good = false;
  int32_t mean = 0;
  std::vector<int16_t> values = std::vector<int16_t>(kCoefficients);
  size_t bits = 0;
};

Block BlockByBits(const HuffmanCode& means, const HuffmanCode& others, const std::string& bytes) {
  BitReader reader(bytes);
  Block block;
  const auto size = reader.SymbolOf(means);
  if (!size.has_value()) return block;
  block.mean = Extended(reader.Bits(*size), *size);
  block.values[0] = static_cast<int16_t>(block.mean);
  for (int at = 1; at < kCoefficients; ++at) {
    const auto symbol = reader.SymbolOf(others);
    if (!symbol.has_value()) return block;
    const int bits = *symbol % 16;
    if (bits == 0 && *symbol != 0xF0) break;
    at += *symbol / 16;
    if (at >= kCoefficients) return block;
    block.values[kZigzag[static_cast<size_t>(at)]] = static_cast<int16_t>(Extended(reader.Bits(bits), bits));
  }
  block.good = true;
  block.bits = reader.at();
  return block;
}

TEST(HuffmanTables, DecodeBlocksAsBitByBit) {
  const auto mean_table = std::make_unique<MeanTable>();
  const auto table = std::make_unique<CoefficientTable>();
  int good = 0;
  for (uint64_t round = 0; round < kCodes; ++round) {
    RowRandom random(31, 0, {.key = round});
    const HuffmanCode means = AnyCode(random, Range(0, 16));
    // Few symbols have short codes, of which several fit a look-up.
    const HuffmanCode others = AnyCode(random, random.Below(2) == 0 ? Range(0, 256) : Range(0, 5));
    ASSERT_TRUE(mean_table->Make(means));
    ASSERT_TRUE(table->Make(others));
    if (round % 2 == 0) table->MakePassed();
    const ComponentCodes codes{mean_table.get(), table.get()};
    for (int i = 0; i < 30; ++i) {
      std::string bytes(600, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
      const Block wanted = BlockByBits(means, others, bytes);
      const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
      BitWindow window{.next = first};
      BitWindow passed{.next = first};
      int32_t mean = 0;
      int32_t passed_mean = 0;
      std::vector<int16_t> values(kCoefficients + 1);
      SCOPED_TRACE(Cat("round ", round, ", block ", i));
      ASSERT_EQ(ReadBlock(codes, window, mean, values.data()), wanted.good);
      ASSERT_EQ(PassBlock(codes, passed, passed_mean), wanted.good);
      if (!wanted.good) continue;
      ++good;
      values.resize(kCoefficients);
      ASSERT_EQ(values, wanted.values);
      ASSERT_EQ(mean, wanted.mean);
      ASSERT_EQ(passed_mean, wanted.mean);
      ASSERT_EQ(static_cast<size_t>(window.next - first) * 8 - static_cast<size_t>(window.held), wanted.bits);
      ASSERT_EQ(static_cast<size_t>(passed.next - first) * 8 - static_cast<size_t>(passed.held), wanted.bits);
    }
  }
  EXPECT_GT(good, static_cast<int>(kCodes));
}

TEST(HuffmanTables, PassAsManySymbolsAsHaveTheirCodesInALookUp) {
  const auto table = std::make_unique<CoefficientTable>();
  HuffmanCode code;
  code.defined = true;
  code.counts[0] = code.counts[1] = 1;
  code.symbols[0] = 0x01;  // 0 and a bit for the number
  code.symbols[1] = 0x00;  // 10: the end
  ASSERT_TRUE(table->Make(code));
  table->MakePassed();
  const auto passed = [&](uint32_t look_up) { return Found{table->passed[look_up]}; };
  // The number of the sixth lies after the look-up.
  EXPECT_EQ(passed(0b01000101000).moves(), 6);
  EXPECT_EQ(passed(0b01000101000).bits(), 12);
  EXPECT_EQ(passed(0b01001000000).moves(), 2 + kCoefficients);
  EXPECT_EQ(passed(0b01001000000).bits(), 6);
  EXPECT_EQ(passed(0b11000000000).bits(), 0);
}

TEST(HuffmanTables, RefuseCodesThatLibjpegRefuses) {
  const auto table = std::make_unique<CoefficientTable>();
  HuffmanCode code;
  code.defined = true;
  code.counts[0] = 2;  // 0 and 1: all ones
  EXPECT_FALSE(table->Make(code));
  code.counts[0] = 1;
  code.counts[1] = 2;
  EXPECT_FALSE(table->Make(code));
  code.counts[1] = 1;
  EXPECT_TRUE(table->Make(code));
  code.counts[1] = 3;
  EXPECT_FALSE(table->Make(code));
  const auto means = std::make_unique<MeanTable>();
  code.counts[1] = 1;
  code.symbols[1] = 15;
  EXPECT_TRUE(means->Make(code));
  code.symbols[1] = 16;
  EXPECT_FALSE(means->Make(code));
}

}  // namespace
}  // namespace headrace::jpeg

// Every CPU target gives the same samples, also of coefficients that no encoder writes, and those of the transform's
// definition where that is exact enough to tell. That they are libjpeg's is seen in crop_decoder_test.cc.
#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/philox.h"
#include "core/testing/dispatched_target.h"
#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace headrace::jpeg {
namespace {

const uint64_t kTransforms = Rounds(2000, {.quick = 300, .sanitized = 300});
constexpr int64_t kBlocks = 9;
constexpr int64_t kRowBytes = kBlocks * 8 + kMostBlocksAtOnce * 8;

struct Input {
  std::vector<int16_t> coefficients = std::vector<int16_t>(static_cast<size_t>(kBlocks + kMostBlocksAtOnce) * 64);
  std::array<int16_t, 64> quantization = {};
};

// Blocks with none, few or all coefficients, of any size.
Input AnyInput(RowRandom& random) {
  Input input;
  const int most = 1 << random.Below(16);
  const auto any = [&] { return static_cast<int16_t>(static_cast<int>(random.Below(2 * most + 1)) - most); };
  for (int16_t& factor : input.quantization) factor = static_cast<int16_t>(1 + random.Below(1 + most / 4));
  for (int64_t block = 0; block < kBlocks; ++block) {
    int16_t* const values = input.coefficients.data() + block * 64;
    const uint64_t kind = random.Below(4);
    values[0] = any();
    if (kind == 1) values[random.Below(8)] = any();
    if (kind == 2) values[random.Below(64)] = any();
    if (kind == 3) std::generate_n(values, 64, any);
  }
  return input;
}

std::vector<uint8_t> SamplesOf(const Input& input, int64_t blocks, int side = 8) {
  std::vector<uint8_t> samples(static_cast<size_t>(side * kRowBytes), 0);
  const int16_t* const coefficients = input.coefficients.data();
  if (side == 8) {
    InverseDct(coefficients, blocks, input.quantization.data(), samples.data(), kRowBytes);
  } else {
    ReducedInverseDct(coefficients, blocks, input.quantization.data(), side, samples.data(), kRowBytes);
  }
  // What lies after the blocks may be anything.
  for (int64_t y = 0; y < side; ++y) {
    std::fill(samples.begin() + y * kRowBytes + blocks * side, samples.begin() + (y + 1) * kRowBytes, uint8_t{0});
  }
  return samples;
}

TEST(InverseDct, IsTheSameOnEachTarget) {
  for (uint64_t round = 0; round < kTransforms; ++round) {
    RowRandom random(41, 0, {.key = round});
    const Input input = AnyInput(random);
    const int64_t blocks = 1 + static_cast<int64_t>(random.Below(kBlocks));
    const int side = 1 << random.Below(4);
    const std::vector<uint8_t> wanted = SamplesOf(input, blocks, side);
    for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      ASSERT_EQ(DispatchedTarget(), target);
      ASSERT_EQ(SamplesOf(input, blocks, side), wanted)
          << hwy::TargetName(target) << ", round " << round << ", side " << side;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// T.81, A.3.3.
double Exact(const int16_t* values, const std::array<int16_t, 64>& quantization, int y, int x) {
  double sum = 0;
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < 8; ++u) {
      const double scale = (u == 0 ? std::numbers::sqrt2 / 2 : 1) * (v == 0 ? std::numbers::sqrt2 / 2 : 1) / 4;
      const double value = static_cast<double>(values[v * 8 + u]) * quantization[static_cast<size_t>(v * 8 + u)];
      sum += scale * value * std::cos((2 * x + 1) * u * std::numbers::pi / 16) *
             std::cos((2 * y + 1) * v * std::numbers::pi / 16);
    }
  }
  return std::clamp(sum + 128, 0.0, 255.0);
}

TEST(InverseDct, IsWithinOneOfItsDefinition) {
  for (uint64_t round = 0; round < 100; ++round) {
    RowRandom random(43, 0, {.key = round});
    Input input;
    input.quantization.fill(static_cast<int16_t>(1 + random.Below(8)));
    for (int64_t i = 0; i < kBlocks * 64; ++i) {
      input.coefficients[static_cast<size_t>(i)] = static_cast<int16_t>(static_cast<int>(random.Below(21)) - 10);
    }
    const std::vector<uint8_t> samples = SamplesOf(input, kBlocks);
    for (int64_t i = 0; i < 8 * kBlocks * 8; ++i) {
      const auto y = static_cast<int>(i / (kBlocks * 8));
      const auto x = static_cast<int>(i % (kBlocks * 8));
      const double exact = Exact(input.coefficients.data() + x / 8 * 64, input.quantization, y, x % 8);
      ASSERT_NEAR(samples[static_cast<size_t>(y * kRowBytes + x)], exact, 1.0) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace headrace::jpeg

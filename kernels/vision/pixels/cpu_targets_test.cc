// The hot loops give the same bits on every CPU: each is run compiled for each target that this one has, over random
// inputs in memory that ends where they end, and compared with its definition, value by value.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "core/philox.h"
#include "core/testing/dispatched_target.h"
#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "kernels/numbers/convert.h"
#include "kernels/numbers/number.h"
#include "kernels/vision/image/pixel_mode.h"
#include "kernels/vision/pixels/blend_values.h"
#include "kernels/vision/pixels/luma_values.h"
#include "kernels/vision/pixels/noise_values.h"
#include "kernels/vision/pixels/normalize_values.h"
#include "kernels/vision/pixels/power_values.h"
#include "kernels/vision/pixels/resample.h"
#include "kernels/vision/pixels/rescale_values.h"
#include "kernels/vision/pixels/reverse_row.h"
#include "kernels/vision/pixels/split_channels.h"
#include "kernels/vision/pixels/turn_hue.h"
#include "kernels/vision/pixels/unit_colors.h"
#include "kernels/vision/pixels/unit_range.h"
#include "kernels/vision/pixels/unit_values.h"

namespace headrace {
namespace {

const uint64_t kRuns = Rounds(400, {.quick = 60, .sanitized = 60});

// Calls `check(random)` with the same draws on each target.
template <typename Check>
void OnEachTarget(uint64_t salt, Check check) {
  uint64_t runs = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_EQ(DispatchedTarget(), target);
    for (uint64_t run = 0; run < kRuns && !testing::Test::HasFailure(); ++run, ++runs) {
      SCOPED_TRACE(std::string(hwy::TargetName(target)) + ", run " + std::to_string(run));
      RowRandom random(3, salt, {.key = run});
      check(random);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  std::printf("HEADRACE-COUNT variants=%llu\n", static_cast<unsigned long long>(runs));
}

int64_t Between(RowRandom& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.Below(static_cast<uint64_t>(most - least + 1)));
}

std::vector<uint8_t> RandomBytes(RowRandom& random, int64_t count) {
  std::vector<uint8_t> bytes(count);
  // Extremes are frequent, as in images that are cut out.
  for (uint8_t& byte : bytes) {
    const uint64_t drawn = random.Below(512);
    byte = static_cast<uint8_t>(drawn < 256 ? drawn : drawn < 384 ? 0 : 255);
  }
  return bytes;
}

std::vector<float> RandomFloats(RowRandom& random, int64_t count) {
  std::vector<float> floats(count);
  for (float& value : floats) value = static_cast<float>((random.Uniform() - 0.5) * 600);
  return floats;
}

// Over the whole range, many of them at its ends.
std::vector<uint16_t> RandomWords(RowRandom& random, int64_t count) {
  std::vector<uint16_t> words(count);
  for (uint16_t& word : words) {
    const uint64_t drawn = random.Below(131072);
    word = static_cast<uint16_t>(drawn < 65536 ? drawn : drawn < 98304 ? 0 : 65535);
  }
  return words;
}

FilterTaps RandomTaps(RowRandom& random, int64_t in_size) {
  constexpr Filter kFilters[] = {Filter::kBox, Filter::kBilinear, Filter::kBicubic, Filter::kLanczos};
  const int64_t out_size = Between(random, 1, 60);
  const int64_t begin = Between(random, 0, out_size - 1);
  FilterTaps taps;
  MakeFilterTaps(kFilters[random.Below(std::size(kFilters))], in_size, out_size,
                 {begin, Between(random, 1, out_size - begin)}, 0, taps);
  return taps;
}

// Pillow's fixed point for bytes, double for floats; `at(i)` is the neighbour i.
template <typename At>
uint8_t Weighted(const FilterTaps& taps, int64_t position, uint8_t, At at) {
  int64_t sum = int64_t{1} << 21;
  for (int i = 0; i < taps.count[position]; ++i) {
    const double weight = taps.weights[position * taps.taps + i] * (1 << 22);
    sum += int64_t{at(i)} * static_cast<int64_t>(weight + (weight < 0 ? -0.5 : 0.5));
  }
  return static_cast<uint8_t>(std::clamp<int64_t>(sum >> 22, 0, 255));
}
template <typename At>
float Weighted(const FilterTaps& taps, int64_t position, float, At at) {
  double sum = 0;
  for (int i = 0; i < taps.count[position]; ++i) sum += double{at(i)} * taps.weights[position * taps.taps + i];
  return static_cast<float>(sum);
}

template <typename At>
uint16_t Weighted(const FilterTaps& taps, int64_t position, uint16_t, At at) {
  double sum = 0;
  for (int i = 0; i < taps.count[position]; ++i)
    sum += static_cast<double>(at(i)) * taps.weights[position * taps.taps + i];
  return static_cast<uint16_t>(std::clamp(sum + 0.5, 0.0, 65535.0));
}

template <typename T>
void CheckRows(RowRandom& random, const std::vector<T>& source, int64_t height, int64_t width, int64_t channels) {
  const FilterTaps taps = RandomTaps(random, width);
  const auto out_width = static_cast<int64_t>(taps.first.size());
  std::vector<T> found(height * out_width * channels);
  const int64_t stride = width * channels * static_cast<int64_t>(sizeof(T));
  FilterRows({reinterpret_cast<const uint8_t*>(source.data()), stride, width, channels}, height, taps, found.data());
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t c = static_cast<int64_t>(i) % channels;
    const int64_t x = static_cast<int64_t>(i) / channels % out_width;
    const int64_t y = static_cast<int64_t>(i) / channels / out_width;
    const auto at = [&](int k) { return source[(y * width + taps.first[x] + k) * channels + c]; };
    ASSERT_EQ(found[i], Weighted(taps, x, T(), at)) << height << " × " << width << " × " << channels << " at " << i;
  }
}

template <typename T>
void CheckColumns(RowRandom& random, const std::vector<T>& source, int64_t height, int64_t width, int64_t channels) {
  const FilterTaps taps = RandomTaps(random, height);
  const int64_t elements = width * channels;
  std::vector<T> found(taps.first.size() * elements);
  const int64_t stride = elements * static_cast<int64_t>(sizeof(T));
  FilterColumns({reinterpret_cast<const uint8_t*>(source.data()), stride, width, channels}, taps, found.data());
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t x = static_cast<int64_t>(i) % elements;
    const int64_t y = static_cast<int64_t>(i) / elements;
    const auto at = [&](int k) { return source[(taps.first[y] + k) * elements + x]; };
    ASSERT_EQ(found[i], Weighted(taps, y, T(), at)) << height << " × " << width << " × " << channels << " at " << i;
  }
}

TEST(CpuTargets, AreSeveral) { EXPECT_GT(hwy::SupportedAndGeneratedTargets().size(), 1u); }

TEST(CpuTargets, ResampleBytesAlike) {
  OnEachTarget(1, [](RowRandom& random) {
    // Rows so wide that they are not joined to rows of several channels, now and then.
    const bool wide = random.Below(40) == 0;
    const int64_t height = Between(random, 1, 40), channels = wide ? 1 : Between(random, 1, 5);
    const int64_t width = wide ? Between(random, 2040, 2056) : Between(random, 1, 70);
    const std::vector<uint8_t> source = RandomBytes(random, height * width * channels);
    CheckRows(random, source, height, width, channels);
    CheckColumns(random, source, height, width, channels);
  });
}

TEST(CpuTargets, ResampleFloatsAlike) {
  OnEachTarget(2, [](RowRandom& random) {
    const int64_t height = Between(random, 1, 20), width = Between(random, 1, 40), channels = Between(random, 1, 5);
    const std::vector<float> source = RandomFloats(random, height * width * channels);
    CheckRows(random, source, height, width, channels);
    CheckColumns(random, source, height, width, channels);
  });
}

TEST(CpuTargets, ResampleWordsAlike) {
  OnEachTarget(99, [](RowRandom& random) {
    const int64_t height = Between(random, 1, 20), width = Between(random, 1, 40), channels = Between(random, 1, 5);
    const std::vector<uint16_t> source = RandomWords(random, height * width * channels);
    CheckRows(random, source, height, width, channels);
    CheckColumns(random, source, height, width, channels);
  });
}

TEST(CpuTargets, ReverseRowsAlike) {
  OnEachTarget(3, [](RowRandom& random) {
    const int64_t width = Between(random, 1, 80), bytes = Between(random, 1, 17);
    const std::vector<uint8_t> source = RandomBytes(random, width * bytes);
    std::vector<uint8_t> found(source.size());
    ReverseRow(source.data(), width, bytes, found.data());
    for (int64_t i = 0; i < width * bytes; ++i) {
      ASSERT_EQ(found[i], source[(width - 1 - i / bytes) * bytes + i % bytes]) << bytes << " bytes, at " << i;
    }
  });
}

TEST(CpuTargets, SplitChannelsAlike) {
  OnEachTarget(4, [](RowRandom& random) {
    const int64_t width = Between(random, 1, 80), channels = Between(random, 1, 5), item = 1 << random.Below(4);
    const std::vector<uint8_t> source = RandomBytes(random, width * channels * item);
    std::vector<uint8_t> found(source.size());
    SplitChannels(source.data(), width, channels, item, width * item, found.data());
    for (int64_t i = 0; i < width * channels * item; ++i) {
      const int64_t x = i / item % width, c = i / item / width;
      ASSERT_EQ(found[i], source[(x * channels + c) * item + i % item]) << channels << " × " << item << ", at " << i;
    }
  });
}

template <typename T>
void CheckNormalize(RowRandom& random, const std::vector<T>& source, int64_t channels) {
  const bool one = random.Below(2) == 0;
  const std::vector<float> mean = RandomFloats(random, one ? 1 : channels);
  const std::vector<float> deviation = RandomFloats(random, random.Below(2) == 0 ? 1 : channels);
  const auto* bytes = reinterpret_cast<const uint8_t*>(source.data());
  const auto count = static_cast<int64_t>(source.size());
  std::vector<float> by_pattern(count), by_number(count);
  NormalizeValues(bytes, DTypeOf<T>::value, count, NormalizePattern(mean, deviation, channels), by_pattern.data());
  NormalizeValues(bytes, DTypeOf<T>::value, count, mean[0], deviation[0], by_number.data());
  for (int64_t i = 0; i < count; ++i) {
    const float x = source[i];
    const float centred = x - mean[mean.size() == 1 ? 0 : i % channels];
    ASSERT_EQ(by_pattern[i], centred / deviation[deviation.size() == 1 ? 0 : i % channels]) << "at " << i;
    ASSERT_EQ(by_number[i], (x - mean[0]) / deviation[0]) << "at " << i;
  }
}

TEST(CpuTargets, NormalizeAlike) {
  OnEachTarget(5, [](RowRandom& random) {
    const int64_t channels = Between(random, 1, 7), count = Between(random, 1, 60) * channels;
    CheckNormalize(random, RandomBytes(random, count), channels);
    CheckNormalize(random, RandomFloats(random, count), channels);
  });
}

TEST(CpuTargets, RescaleAlike) {
  OnEachTarget(6, [](RowRandom& random) {
    const std::vector<uint8_t> source = RandomBytes(random, Between(random, 1, 90));
    const float scale = RandomFloats(random, 1)[0], shift = RandomFloats(random, 1)[0];
    std::vector<float> found(source.size());
    RescaleValues(source.data(), DType::kUInt8, static_cast<int64_t>(source.size()), scale, shift, found.data());
    for (size_t i = 0; i < found.size(); ++i) {
      const float product = static_cast<float>(source[i]) * scale;
      ASSERT_EQ(found[i], product + shift) << "at " << i;
    }
  });
}

TEST(CpuTargets, BlendAlike) {
  OnEachTarget(8, [](RowRandom& random) {
    // Rows of which some are longer than the part that is made at once.
    const int64_t pixels = Between(random, 1, random.Below(8) == 0 ? 2500 : 90);
    const std::vector<uint8_t> source = RandomBytes(random, 3 * pixels);
    const auto other = static_cast<uint8_t>(random.Below(256));
    const auto factor = static_cast<float>(random.Uniform(-0.5, 3));
    const auto blended = [factor](uint8_t value, uint8_t with) {
      const float product = factor * static_cast<float>(value - with);
      return static_cast<uint8_t>(std::clamp(static_cast<float>(with) + product, 0.0f, 255.0f));
    };
    std::vector<uint8_t> with_value(source.size()), with_luma(source.size());
    BlendWithValue(source.data(), 3 * pixels, other, factor, with_value.data());
    BlendWithLuma(source.data(), pixels, factor, with_luma.data());
    std::vector<uint8_t> lumas(static_cast<size_t>(pixels));
    FillLuma(source.data(), pixels, lumas.data());
    int64_t sum = 0;
    for (int64_t i = 0; i < 3 * pixels; ++i) {
      const uint8_t luma = Luma(source.data() + i / 3 * 3);
      if (i % 3 == 0) sum += luma;
      ASSERT_EQ(lumas[i / 3], luma) << "at " << i;
      ASSERT_EQ(with_value[i], blended(source[i], other)) << "at " << i;
      ASSERT_EQ(with_luma[i], blended(source[i], luma)) << "at " << i;
    }
    ASSERT_EQ(SumLuma(source.data(), pixels), sum);
  });
}

TEST(CpuTargets, SharpenAlike) {
  OnEachTarget(10, [](RowRandom& random) {
    const int64_t channels = Between(random, 1, 3), count = channels * Between(random, 2, 90);
    std::vector<uint8_t> rows[3];
    for (std::vector<uint8_t>& row : rows) row = RandomBytes(random, count);
    const auto factor = static_cast<float>(random.Uniform(-0.5, 3));
    std::vector<uint8_t> found(rows[1].size());
    BlendWithSmooth(rows[0].data(), rows[1].data(), rows[2].data(), count, channels, factor, found.data());
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t value = rows[1][i];
      if (i < channels || i >= count - channels) {
        ASSERT_EQ(found[i], value) << "at " << i;
        continue;
      }
      int32_t sum = 4 * value;
      for (const std::vector<uint8_t>& row : rows) sum += row[i - channels] + row[i] + row[i + channels];
      const int32_t smooth = (2 * sum + 13) / 26;
      const float product = factor * static_cast<float>(value - smooth);
      const auto expected = static_cast<uint8_t>(std::clamp(static_cast<float>(smooth) + product, 0.0f, 255.0f));
      ASSERT_EQ(found[i], expected) << "at " << i;
    }
  });
}

template <typename T>
void CheckNoise(RowRandom& random, std::vector<T> values) {
  const std::vector<float> normal = RandomFloats(random, static_cast<int64_t>(values.size()));
  const Noise noise = {static_cast<float>(random.Uniform(-9, 9)), static_cast<float>(random.Uniform(0, 300)),
                       random.Below(2) == 0};
  std::vector<T> found = values;
  AddNoise(noise, normal.data(), static_cast<int64_t>(found.size()), found.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const float scaled = normal[i] * noise.sigma;
    const float added = noise.mean + scaled;
    T expected;
    if constexpr (std::is_same_v<T, float>) {
      const float sum = values[i] + added;
      expected = noise.clip ? std::clamp(sum, 0.0f, 1.0f) : sum;
    } else {
      constexpr int32_t kMost = std::numeric_limits<T>::max();
      const auto whole = static_cast<int32_t>(std::clamp(added, -1.0f * kMost, 1.0f * kMost));
      expected = static_cast<T>(std::clamp(values[i] + whole, 0, kMost));
    }
    ASSERT_EQ(found[i], expected) << "at " << i;
  }
}

TEST(CpuTargets, AddNoiseAlike) {
  OnEachTarget(11, [](RowRandom& random) {
    const int64_t count = Between(random, 1, 90);
    const std::vector<uint8_t> bytes = RandomBytes(random, 2 * count);
    std::vector<uint16_t> words(static_cast<size_t>(count));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    CheckNoise(random, bytes);
    CheckNoise(random, words);
    CheckNoise(random, RandomFloats(random, count));
  });
}

// Pillow's conversion of one pixel to HSV and back, with its mix of floats and doubles.
void TurnOne(const uint8_t* rgb, uint8_t turn, uint8_t* target) {
  const uint8_t most = std::max({rgb[0], rgb[1], rgb[2]});
  const uint8_t least = std::min({rgb[0], rgb[1], rgb[2]});
  if (most == least) {
    std::fill_n(target, 3, most);
    return;
  }
  const auto range = static_cast<float>(most - least);
  const float share = range / static_cast<float>(most);
  const float red = static_cast<float>(most - rgb[0]) / range;
  const float green = static_cast<float>(most - rgb[1]) / range;
  const float blue = static_cast<float>(most - rgb[2]) / range;
  float hue = rgb[0] == most   ? blue - green
              : rgb[1] == most ? static_cast<float>(2.0 + red - blue)
                               : static_cast<float>(4.0 + green - red);
  hue = static_cast<float>(std::fmod(hue / 6.0 + 1.0, 1.0));
  const auto turned = static_cast<uint8_t>(static_cast<int>(hue * 255.0) + turn);
  const auto saturation = static_cast<float>(static_cast<float>(static_cast<uint8_t>(share * 255.0)) / 255.0);
  const double sixths = static_cast<float>(turned) * 6.0 / 255.0;
  const int sector = static_cast<int>(std::floor(sixths));
  const auto rest = static_cast<float>(sixths - static_cast<float>(sector));
  const auto byte = [most](double part) { return static_cast<uint8_t>(std::round(most * part)); };
  const uint8_t p = byte(1.0 - saturation);
  const uint8_t q = byte(1.0 - saturation * rest);
  const uint8_t t = byte(1.0 - saturation * (1.0 - rest));
  const uint8_t made[6][3] = {{most, t, p}, {q, most, p}, {p, most, t}, {p, q, most}, {t, p, most}, {most, p, q}};
  std::copy_n(made[sector % 6], 3, target);
}

TEST(CpuTargets, TurnHueAlike) {
  OnEachTarget(9, [](RowRandom& random) {
    const int64_t pixels = Between(random, 1, 2500);
    const std::vector<uint8_t> source = RandomBytes(random, 3 * pixels);
    const auto turn = static_cast<uint8_t>(random.Below(256));
    std::vector<uint8_t> found(source.size());
    TurnHue(source.data(), pixels, turn, found.data());
    for (int64_t i = 0; i < 3 * pixels; i += 3) {
      uint8_t expected[3];
      TurnOne(source.data() + i, turn, expected);
      for (int64_t c = 0; c < 3; ++c) ASSERT_EQ(found[i + c], expected[c]) << "pixel " << i / 3 << ", channel " << c;
    }
  });
}

// Each shade of red turns by another amount.
void TurnEveryColour(int first_turn, int step) {
  std::vector<uint8_t> source(3 * 256 * 256), found(source.size());
  for (int red = 0; red < 256; red += step) {
    for (int i = 0; i < 256 * 256; ++i) {
      const uint8_t pixel[] = {static_cast<uint8_t>(red), static_cast<uint8_t>(i / 256), static_cast<uint8_t>(i % 256)};
      std::copy_n(pixel, 3, &source[3 * static_cast<size_t>(i)]);
    }
    const auto turn = static_cast<uint8_t>(first_turn + red * 7);
    TurnHue(source.data(), 256 * 256, turn, found.data());
    for (size_t i = 0; i < source.size(); i += 3) {
      uint8_t expected[3];
      TurnOne(&source[i], turn, expected);
      ASSERT_TRUE(std::equal(expected, expected + 3, &found[i])) << "red " << red << ", pixel " << i / 3;
    }
  }
}

TEST(TurnHue, IsPillowsForEveryColour) {
  const int step = OneIn({.quick = 17, .sanitized = 51});
  int first_turn = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_EQ(DispatchedTarget(), target);
    TurnEveryColour(first_turn, step);
    first_turn += 50;
  }
  hwy::SetSupportedTargetsForTest(0);
}

constexpr DType kNumbers[] = {DType::kBool,     DType::kInt8,    DType::kInt16,  DType::kInt32,  DType::kInt64,
                              DType::kUInt8,    DType::kUInt16,  DType::kUInt32, DType::kUInt64, DType::kFloat16,
                              DType::kBFloat16, DType::kFloat32, DType::kFloat64};

// Of each type: bits at random, or floats beyond the limits of integers and what is no number.
std::vector<uint8_t> RandomNumbers(RowRandom& random, DType dtype, int64_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kOdd[] = {0, -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 65519.9, 1e-8};
    const double sign = random.Below(2) == 0 ? 1 : -1;
    number = random.Below(8) == 0 ? kOdd[random.Below(std::size(kOdd))]
                                  : sign * random.Uniform() * std::exp2(static_cast<double>(random.Below(80)) - 10);
  }
  std::vector<uint8_t> bytes(count * ItemSize(dtype));
  VisitNumber(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    auto* target = reinterpret_cast<T*>(bytes.data());
    for (int64_t i = 0; i < count; ++i) target[i] = ConvertNumber<T>(numbers[i]);
  });
  return bytes;
}

// Of 0 … 1; ends, greys and zeros below zero are frequent.
std::vector<float> RandomUnits(RowRandom& random, int64_t count) {
  std::vector<float> units(count);
  for (size_t i = 0; i < units.size(); ++i) {
    const uint64_t kind = random.Below(8);
    const float ends[] = {0.0f, 1.0f, -0.0f};
    units[i] = kind == 0           ? ends[random.Below(3)]
               : kind < 3 && i > 0 ? units[i - 1]
                                   : static_cast<float>(random.Uniform());
  }
  return units;
}

using Units = std::vector<float>;

Units ChangedUnits(RowRandom& random) {
  const int64_t pixels = Between(random, 1, 70);
  const Units rows[] = {RandomUnits(random, 3 * pixels), RandomUnits(random, 3 * pixels),
                        RandomUnits(random, 3 * pixels)};
  const float* const row = rows[1].data();
  const int64_t count = 3 * pixels;
  const double factor = random.Uniform(0, 3);
  Units all;
  const auto keep = [&](int64_t values, const auto& change) {
    Units made(values);
    change(made.data());
    all.insert(all.end(), made.begin(), made.end());
  };
  keep(count, [&](float* to) { BlendWithValue(row, count, 0.3f, factor, to); });
  keep(count, [&](float* to) { BlendWithSmooth(rows[0].data(), row, rows[2].data(), count, 3, factor, to); });
  keep(count, [&](float* to) { BlendWithLuma(row, pixels, factor, to); });
  keep(pixels, [&](float* to) { FillLuma(row, pixels, to); });
  keep(count, [&](float* to) { TurnHue(row, pixels, random.Uniform(-0.5, 0.5), to); });
  keep(count, [&](float* to) { SolarizeValues(row, count, static_cast<float>(random.Uniform()), to); });
  keep(count, [&](float* to) { PosterizeValues(row, count, static_cast<int>(random.Below(9)), to); });
  keep(count, [&](float* to) { ShiftValues(row, count, 3, {0.1f, -0.4f, 0.7f}, to); });
  keep(count, [&](float* to) { RaiseValues(row, count, random.Uniform(0, 5), random.Uniform(0, 2), to); });
  all.push_back(static_cast<float>(SumValues(row, count)));
  return all;
}

// Their values are those of torchvision's definitions on one of the targets (unit_colors_test.cc).
TEST(CpuTargets, ChangeUnitsAlike) {
  std::map<uint64_t, Units> of_first_target;
  OnEachTarget(21, [&](RowRandom& random) {
    const uint64_t run = random.Next64();
    const Units found = ChangedUnits(random);
    const auto [kept, is_first] = of_first_target.try_emplace(run, found);
    if (is_first) return;
    ASSERT_EQ(found.size(), kept->second.size());
    ASSERT_EQ(std::memcmp(found.data(), kept->second.data(), found.size() * sizeof(float)), 0);
  });
}

TEST(CpuTargets, CheckTheUnitRangeAlike) {
  OnEachTarget(22, [](RowRandom& random) {
    Units units = RandomUnits(random, Between(random, 1, 200));
    ASSERT_TRUE(CheckUnitRange(units.data(), static_cast<int64_t>(units.size())).ok());
    constexpr float kOutside[] = {1.0000001f, -1e-45f, std::numeric_limits<float>::quiet_NaN()};
    units[random.Below(units.size())] = kOutside[random.Below(3)];
    ASSERT_FALSE(CheckUnitRange(units.data(), static_cast<int64_t>(units.size())).ok());
  });
}

TEST(CpuTargets, CastAlike) {
  OnEachTarget(7, [](RowRandom& random) {
    const DType from = kNumbers[random.Below(std::size(kNumbers))];
    const DType to = kNumbers[random.Below(std::size(kNumbers))];
    const int64_t count = Between(random, 1, 1200);
    const std::vector<uint8_t> source = RandomNumbers(random, from, count);
    std::vector<uint8_t> found(count * ItemSize(to)), expected(found.size());
    ConvertValues(source.data(), from, count, to, found.data());
    VisitNumber(from, [&](auto from_type) {
      VisitNumber(to, [&](auto to_type) {
        using From = typename decltype(from_type)::type;
        using To = typename decltype(to_type)::type;
        const auto* values = reinterpret_cast<const From*>(source.data());
        auto* results = reinterpret_cast<To*>(expected.data());
        for (int64_t i = 0; i < count; ++i) results[i] = ConvertNumber<To>(values[i]);
      });
    });
    ASSERT_EQ(found, expected) << DTypeName(from) << " to " << DTypeName(to);
  });
}

TEST(CpuTargets, UniformOfRows) {
  OnEachTarget(20, [](RowRandom& random) {
    const uint64_t key = random.Next64();
    const uint64_t first = random.Below(2) == 0 ? random.Next64() : (uint64_t{1} << 32) - random.Below(40);
    std::vector<double> draws(random.Below(40));
    UniformOfRows(key, first, absl::MakeSpan(draws));
    for (size_t i = 0; i < draws.size(); ++i) {
      ASSERT_EQ(draws[i], RowRandom(key, first + i).Uniform()) << "row " << first + i;
    }
  });
}

}  // namespace
}  // namespace headrace

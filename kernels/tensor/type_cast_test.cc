#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/numbers/half.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Golden;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

fixture::Given To(std::string_view dtype) { return {{"dtype", ir::StringValue(dtype)}}; }

template <typename To_, typename From>
To_ Cast(From value) {
  const Tensor result = *RunKernel("TypeCast", To(DTypeName(DTypeOf<To_>::value)), *Tensor::Scalar(value));
  return result.value<To_>();
}

TEST(TypeCast, EqualsNumPy) {
  for (const char* name : {"float32.float16", "float64.float16", "float64.float32", "int64.int8", "int64.uint8",
                           "int64.int16", "int64.uint16", "int64.int32", "int64.uint32", "int64.uint64",
                           "int64.float32", "int64.float64", "int64.bool"}) {
    const std::string from = std::string(name).substr(0, std::string(name).find('.'));
    const Tensor golden = Golden(Cat("cast.", name));
    const Tensor source = Golden(Cat("cast.", from));
    const Tensor result = *RunKernel("TypeCast", To(DTypeName(golden.dtype())), source);
    ASSERT_EQ(result.dtype(), golden.dtype());
    const size_t item = ItemSize(golden.dtype());
    for (int64_t i = 0; i < golden.elements(); ++i) {
      ASSERT_EQ(std::memcmp(result.raw() + i * item, golden.raw() + i * item, item), 0) << name << ", element " << i;
    }
  }
}

TEST(TypeCast, FindsItsWayBackFromEveryHalf) {
  for (const char* dtype : {"float16", "bfloat16"}) {
    Tensor halves = *Tensor::Allocate(*DTypeFromName(dtype), {65536});
    for (uint32_t i = 0; i < 65536; ++i) halves.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(i);
    const Tensor floats = *RunKernel("TypeCast", To("float32"), halves);
    const Tensor back = *RunKernel("TypeCast", To(dtype), floats);
    for (uint32_t i = 0; i < 65536; ++i) {
      if (std::isnan(floats.data<float>()[i])) continue;
      ASSERT_EQ(back.data<uint16_t>()[i], i) << dtype;
    }
  }
}

// Floats of every exponent, near all borders of rounding, in numbers that fill no whole vector.
std::vector<float> ManyFloats() {
  std::vector<float> floats;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 40961) {
    floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (uint32_t high = 0; high < 0x10000; ++high) {
    for (const uint32_t low : {0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
      floats.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  floats.resize(floats.size() / 16 * 16 + 13);
  return floats;
}

TEST(TypeCast, RoundsVectorsOfFloatsAsOneAlone) {
  const std::vector<float> floats = ManyFloats();
  const auto count = static_cast<int64_t>(floats.size());
  Tensor source = *Tensor::Allocate(DType::kFloat32, {count});
  std::copy(floats.begin(), floats.end(), source.mutable_data<float>());
  const Tensor halves = *RunKernel("TypeCast", To("float16"), source);
  const Tensor bfloats = *RunKernel("TypeCast", To("bfloat16"), source);
  const Tensor back = *RunKernel("TypeCast", To("float32"), halves);
  for (int64_t i = 0; i < count; ++i) {
    const Float16 half(floats[static_cast<size_t>(i)]);
    ASSERT_EQ(halves.data<uint16_t>()[i], half.bits) << i;
    ASSERT_EQ(bfloats.data<uint16_t>()[i], BFloat16(floats[static_cast<size_t>(i)]).bits) << i;
    ASSERT_EQ(std::bit_cast<uint32_t>(back.data<float>()[i]), std::bit_cast<uint32_t>(static_cast<float>(half))) << i;
  }
}

TEST(TypeCast, RoundsBFloat16ToTheNearestEven) {
  const auto bits = [](float value) { return BFloat16(value).bits; };
  EXPECT_EQ(bits(1.0f), 0x3F80);
  EXPECT_EQ(bits(1.0f + 0x1p-8f), 0x3F80);                   // tie, to even
  EXPECT_EQ(bits(1.0f + 3 * 0x1p-8f), 0x3F82);               // tie, to even
  EXPECT_EQ(bits(1.0f + 0x1p-8f + 0x1p-20f), 0x3F81);        // above the tie
  EXPECT_EQ(BFloat16(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3F81);  // above the tie by less than a float shows
  EXPECT_EQ(bits(std::numeric_limits<float>::infinity()), 0x7F80);
  EXPECT_EQ(bits(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(TypeCast, DefinesWhatCLeavesOpen) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((Cast<uint8_t, float>(300.7f)), 255);
  EXPECT_EQ((Cast<uint8_t, float>(-1.5f)), 0);
  EXPECT_EQ((Cast<int32_t, float>(3e9f)), std::numeric_limits<int32_t>::max());
  EXPECT_EQ((Cast<int64_t, double>(-1e30)), std::numeric_limits<int64_t>::min());
  EXPECT_EQ((Cast<uint64_t, double>(1e30)), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ((Cast<int16_t, float>(kNan)), 0);
  EXPECT_EQ((Cast<int8_t, float>(-1.9f)), -1);
  EXPECT_EQ((Cast<bool, float>(0.1f)), true);
  EXPECT_EQ((Cast<bool, float>(-0.0f)), false);
  EXPECT_EQ((Cast<float, bool>(true)), 1.0f);
}

TEST(TypeCast, ReadsViewsAndKeepsWhatFits) {
  const Tensor source = Golden("source");
  const Tensor cast = *RunKernel("TypeCast", To("int32"), fixture::WithGaps(source));
  EXPECT_TRUE(TensorsEqual(*RunKernel("TypeCast", To("uint8"), cast), source));
  EXPECT_EQ(RunKernel("TypeCast", To("uint8"), source)->raw(), source.raw());
}

TEST(TypeCast, RefusesTexts) {
  EXPECT_THAT(MessageOf(RunKernel("TypeCast", To("int32"), *Tensor::CopyBytes(DType::kBytes, "7"))),
              HasSubstr("cannot cast bytes () to int32"));
  EXPECT_FALSE(RunKernel("TypeCast", To("string"), *Tensor::Scalar(1)).ok());
  EXPECT_FALSE(RunKernel("TypeCast", To("int33"), *Tensor::Scalar(1)).ok());
  EXPECT_FALSE(fixture::InferType("TypeCast", To("int32"), {ir::ColumnType::Of(DType::kString, {})}).ok());
}

}  // namespace
}  // namespace headrace

#include "ops/source/tfrecord/feature_fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ir::Column ColumnOf(DType dtype, Shape shape) { return {"x", ir::ColumnType::Of(dtype, std::move(shape))}; }

FeatureFill FillOf(const std::string& json, DType dtype, Shape shape = {}) {
  const auto fill = ParseFeatureFill(json, ColumnOf(dtype, std::move(shape)));
  EXPECT_TRUE(fill.ok()) << fill.status();
  return fill.ok() ? *fill : FeatureFill();
}

std::string FillError(const std::string& json, DType dtype, Shape shape = {}) {
  const auto fill = ParseFeatureFill(json, ColumnOf(dtype, std::move(shape)));
  EXPECT_EQ(KindOf(fill.status()), ErrorKind::kGraph) << json;
  return std::string(ToStd(fill.status().message()));
}

std::string TypeError(DType dtype, Shape shape) {
  const absl::Status status = CheckFeatureTypes({ColumnOf(dtype, std::move(shape))});
  EXPECT_TRUE(status.ok() || KindOf(status) == ErrorKind::kGraph);
  return std::string(ToStd(status.message()));
}

constexpr int64_t kOpen = ir::kUnknownDim;

TEST(ParseFeatureFill, TakesValuesOfTheType) {
  EXPECT_THAT(FillOf("-7", DType::kInt64).ints, ElementsAre(-7));
  EXPECT_THAT(FillOf("9223372036854775807", DType::kInt64).ints, ElementsAre(INT64_MAX));
  EXPECT_THAT(FillOf("0.5", DType::kFloat32).floats, ElementsAre(0.5f));
  EXPECT_THAT(FillOf("3", DType::kFloat32).floats, ElementsAre(3.0f));
  EXPECT_TRUE(std::isnan(FillOf("\"nan\"", DType::kFloat32).floats.at(0)));
  EXPECT_THAT(FillOf("\"-inf\"", DType::kFloat32).floats, ElementsAre(-INFINITY));
  EXPECT_THAT(FillOf("\"\\u00ff\\u0000a\"", DType::kBytes).texts, ElementsAre(std::string("\xff\0a", 3)));
  EXPECT_THAT(FillOf("\"\\u00ff\"", DType::kString).texts, ElementsAre("\xc3\xbf"));
}

TEST(ParseFeatureFill, TakesLists) {
  const FeatureFill box = FillOf("[[1, 2], [3, 4]]", DType::kFloat32, {kOpen, 2});
  EXPECT_THAT(box.floats, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(box.shape, ElementsAre(2, 2));
  EXPECT_THAT(FillOf("[]", DType::kInt64, {kOpen}).shape, ElementsAre(0));
  const FeatureFill empty = FillOf("[]", DType::kInt64, {kOpen, 3});
  EXPECT_THAT(empty.shape, ElementsAre(0, 3));
  EXPECT_THAT(empty.ints, IsEmpty());
  EXPECT_THAT(FillOf("[\"a\", \"\"]", DType::kString, {2}).texts, ElementsAre("a", ""));
}

TEST(ParseFeatureFill, FillsAKnownShapeWithOneValue) {
  const FeatureFill fill = FillOf("5", DType::kInt64, {1000, 1000});
  EXPECT_THAT(fill.shape, ElementsAre(1000, 1000));
  EXPECT_THAT(fill.ints, ElementsAre(5)) << "which takes no memory before it is needed";
  EXPECT_THAT(FillError("5", DType::kInt64, {kOpen}), HasSubstr("a value of its type, int64 (None,)"));
}

TEST(ParseFeatureFill, RefusesWhatIsNotOfTheType) {
  for (const char* json : {"1.0", "\"1\"", "true", "null", "[1]", "9223372036854775808", "", "{", "1 2"}) {
    EXPECT_THAT(FillError(json, DType::kInt64), HasSubstr("the default of the feature \"x\" is ")) << json;
  }
  for (const char* json : {"\"x\"", "1e39", "16777217", "true"}) FillError(json, DType::kFloat32);
  for (const char* json : {"1", "\"\\u0100\"", "[\"a\"]"}) FillError(json, DType::kBytes);
  for (const char* json : {"[1, 2, 3]", "[[1], [2]]", "[1, [2]]", "[]"}) FillError(json, DType::kInt64, {2});
  FillError("[[1, 2], [3]]", DType::kInt64, {kOpen, kOpen});
  FillError(std::string(100'000, '[') + std::string(100'000, ']'), DType::kInt64, {kOpen});
}

TEST(CheckFeatureTypes, RefusesWhatNoFeatureHas) {
  for (const DType dtype : {DType::kInt64, DType::kFloat32, DType::kBytes, DType::kString}) {
    for (const Shape& shape : {Shape{}, Shape{kOpen}, Shape{0, 3}, Shape{kOpen, kOpen, 3}, Shape{3, kOpen}}) {
      EXPECT_EQ(TypeError(dtype, shape), "");
    }
  }
  EXPECT_THAT(TypeError(DType::kInt32, {}), HasSubstr("features are int64, float32 or bytes"));
  EXPECT_THAT(TypeError(DType::kInt64, {2, 2, kOpen}), HasSubstr("None stands for the length of the first axis"));
  EXPECT_THAT(TypeError(DType::kInt64, {int64_t{1} << 40, int64_t{1} << 40}), HasSubstr("fits no memory"));
  EXPECT_EQ(KindOf(CheckFeatureTypes({{"x", ir::ColumnType::AnyShape(DType::kInt64)}})), ErrorKind::kGraph);
}

}  // namespace
}  // namespace headrace

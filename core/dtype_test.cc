#include "core/dtype.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

// The numbers and names are part of saved graphs.
TEST(DType, KeepsItsNumbersAndNames) {
  const std::pair<std::string_view, size_t> types[] = {{"unknown", 0}, {"bool", 1},    {"int8", 1},    {"int16", 2},
                                                       {"int32", 4},   {"int64", 8},   {"uint8", 1},   {"uint16", 2},
                                                       {"uint32", 4},  {"uint64", 8},  {"float16", 2}, {"bfloat16", 2},
                                                       {"float32", 4}, {"float64", 8}, {"bytes", 0},   {"string", 0}};
  for (size_t i = 0; i < std::size(types); ++i) {
    const DType dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeName(dtype), types[i].first);
    EXPECT_EQ(ItemSize(dtype), types[i].second);
    EXPECT_EQ(DTypeFromName(types[i].first), dtype);
  }
  EXPECT_EQ(DTypeFromName("float128"), std::nullopt);
  EXPECT_EQ(DTypeFromName(""), std::nullopt);
}

TEST(DType, KnowsItsFamilies) {
  EXPECT_TRUE(IsVariableLength(DType::kBytes));
  EXPECT_TRUE(IsVariableLength(DType::kString));
  EXPECT_FALSE(IsVariableLength(DType::kUInt8));
  EXPECT_TRUE(IsFloating(DType::kBFloat16));
  EXPECT_FALSE(IsFloating(DType::kInt64));
  EXPECT_TRUE(IsInteger(DType::kUInt16));
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_FALSE(IsInteger(DType::kFloat16));
}

}  // namespace
}  // namespace headrace

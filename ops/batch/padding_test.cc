#include "ops/batch/padding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace headrace {
namespace {

using ::testing::ElementsAre;

Tensor Texts(const Shape& shape, const std::vector<std::string_view>& texts) {
  return *Tensor::CopyBytesArray(DType::kString, shape, texts);
}

std::vector<std::string> TextsOf(const Tensor& tensor) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < tensor.elements(); ++i) texts.emplace_back(tensor.bytes_at(i));
  return texts;
}

TEST(StackPadded, PadsTextsWithEmptyOnes) {
  const absl::StatusOr<Tensor> stacked = StackPadded({Texts({1}, {"a"}), Texts({3}, {"b", "", "c"})}, ir::Number());
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  EXPECT_EQ(stacked->shape(), (Shape{2, 3}));
  EXPECT_THAT(TextsOf(*stacked), ElementsAre("a", "", "", "b", "", "c"));
}

TEST(StackPadded, PadsEachAxisOfTexts) {
  const absl::StatusOr<Tensor> stacked =
      StackPadded({Texts({2, 1}, {"a", "b"}), Texts({1, 2}, {"c", "d"})}, ir::Number(), /*least=*/3);
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  EXPECT_EQ(stacked->shape(), (Shape{2, 3, 2}));
  EXPECT_THAT(TextsOf(*stacked), ElementsAre("a", "", "b", "", "", "", "c", "d", "", "", "", ""));
}

}  // namespace
}  // namespace headrace

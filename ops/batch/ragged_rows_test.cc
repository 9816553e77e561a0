#include "ops/batch/ragged_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

Tensor Consecutive(Shape shape, int64_t first) {
  Tensor numbers = *Tensor::Allocate(DType::kInt64, shape);
  std::iota(numbers.mutable_data<int64_t>(), numbers.mutable_data<int64_t>() + numbers.elements(), first);
  return numbers;
}

std::vector<int64_t> Numbers(const Tensor& tensor) {
  return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.elements()};
}

TEST(RaggedRows, JoinsRunsAsItJoinsRows) {
  const Tensor values = Consecutive({500, 2}, 0);
  const std::vector<int64_t> splits = {3, 5, 5, 490};
  RaggedRows runs;
  RaggedRows rows;
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(runs.AddRun(values, splits).ok());
    ASSERT_TRUE(runs.Add(Consecutive({1, 2}, 7)).ok());
    for (size_t i = 1; i < splits.size(); ++i) {
      ASSERT_TRUE(rows.Add(values.Slice(0, splits[i - 1], splits[i] - splits[i - 1])).ok());
      EXPECT_TRUE(i + 1 < splits.size() || rows.last().dim(0) == 485);
    }
    ASSERT_TRUE(rows.Add(Consecutive({1, 2}, 7)).ok());
  }
  EXPECT_EQ(Numbers(*runs.Splits()), Numbers(*rows.Splits()));
  EXPECT_TRUE(TensorsEqual(*runs.TakeValues(), *rows.TakeValues()));
}

TEST(RaggedRows, KnowsTheLastRowOfARun) {
  RaggedRows numbers;
  ASSERT_TRUE(numbers.AddRun(Consecutive({6}, 0), std::vector<int64_t>{0, 1, 4}).ok());
  EXPECT_EQ(Numbers(numbers.last()), (std::vector<int64_t>{1, 2, 3}));
  const std::vector<std::string_view> texts = {"a", "b", "c"};
  RaggedRows strings;
  ASSERT_TRUE(strings.AddRun(*Tensor::CopyBytesArray(DType::kBytes, {3}, texts), std::vector<int64_t>{0, 1, 3}).ok());
  EXPECT_EQ(strings.last().dim(0), 2);
  EXPECT_EQ(strings.last().bytes_at(1), "c");
  EXPECT_EQ(strings.TakeValues()->joined_bytes(), "abc");
}

TEST(RaggedRows, NamesTheFirstRowOfARunThatDiffers) {
  RaggedRows rows;
  ASSERT_TRUE(rows.Add(Consecutive({2, 2}, 0)).ok());
  const absl::Status wrong = rows.AddRun(Consecutive({9, 3}, 0), std::vector<int64_t>{1, 3, 9});
  EXPECT_EQ(KindOf(wrong), ErrorKind::kGraph);
  EXPECT_THAT(ToStd(wrong.message()),
              ::testing::HasSubstr("rows of a batch differ: int64 (None, 2) before, and here int64 (2, 3)"));
}

}  // namespace
}  // namespace headrace

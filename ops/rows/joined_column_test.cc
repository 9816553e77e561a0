#include "ops/rows/joined_column.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {
namespace {

// Values from `first` on.
Tensor Numbers(Shape shape, int64_t first) {
  Tensor numbers = *Tensor::Allocate(DType::kInt64, shape);
  std::iota(numbers.mutable_data<int64_t>(), numbers.mutable_data<int64_t>() + numbers.elements(), first);
  return numbers;
}

Tensor Strings(const std::vector<std::string_view>& strings) {
  return *Tensor::CopyBytesArray(DType::kBytes, {static_cast<int64_t>(strings.size())}, strings);
}

BlockColumn Rows(std::vector<Tensor> rows) {
  BlockColumn column;
  for (Tensor& row : rows) column.Append(std::move(row));
  return column;
}

BlockColumn Lists(Tensor values, const std::vector<int64_t>& splits) {
  Tensor ends = *Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(splits.size())});
  std::copy(splits.begin(), splits.end(), ends.mutable_data<int64_t>());
  return BlockColumn::Ragged(std::move(values), std::move(ends));
}

// Joins the runs, and compares each row with what it was.
BlockColumn JoinedAndCompared(std::vector<BlockColumn> runs) {
  std::vector<Tensor> rows;
  for (const BlockColumn& run : runs) {
    for (int i = 0; i < run.rows(); ++i) rows.push_back(run.row(i));
  }
  BlockColumn joined = JoinedColumn(absl::MakeSpan(runs));
  EXPECT_EQ(joined.rows(), static_cast<int>(rows.size()));
  for (int i = 0; i < joined.rows(); ++i) EXPECT_TRUE(TensorsEqual(joined.row(i), rows[static_cast<size_t>(i)])) << i;
  return joined;
}

TEST(JoinedColumn, LeavesOneRunAsItIs) {
  const Tensor numbers = Numbers({2, 3}, 0);
  const BlockColumn joined = JoinedAndCompared({BlockColumn::Stacked(numbers)});
  EXPECT_EQ(joined.stack().raw(), numbers.raw());
}

TEST(JoinedColumn, PutsNumbersInOneBuffer) {
  EXPECT_TRUE(JoinedAndCompared({BlockColumn::Stacked(Numbers({2, 3}, 0)), Rows({Numbers({3}, 6)}),
                                 BlockColumn::Stacked(Numbers({1, 3}, 9))})
                  .stacked());
}

TEST(JoinedColumn, PutsStringsInOneBuffer) {
  EXPECT_TRUE(JoinedAndCompared({BlockColumn::Stacked(Strings({"a", ""})),
                                 Rows({*Tensor::CopyBytes(DType::kBytes, "b")}), BlockColumn::Stacked(Strings({"cd"}))})
                  .stacked());
}

TEST(JoinedColumn, PutsRaggedRowsInOneBuffer) {
  EXPECT_TRUE(JoinedAndCompared({Lists(Numbers({6, 2}, 0), {1, 1, 4}), Rows({Numbers({2, 2}, 50)}),
                                 Lists(Numbers({2, 2}, 90), {0, 2})})
                  .ragged());
  EXPECT_TRUE(
      JoinedAndCompared({Lists(Strings({"a", "b", "c"}), {0, 2, 3}), Lists(Strings({"d", "e"}), {1, 1, 2})}).ragged());
  EXPECT_TRUE(JoinedAndCompared({Lists(Numbers({0}, 0), {0, 0}), Lists(Numbers({0}, 0), {0, 0, 0})}).ragged());
}

TEST(JoinedColumn, KeepsRowsThatDiffer) {
  const BlockColumn shapes = JoinedAndCompared({Rows({Numbers({2}, 0)}), Rows({Numbers({3}, 0), Numbers({}, 7)})});
  EXPECT_FALSE(shapes.stacked() || shapes.ragged());
  const BlockColumn axes = JoinedAndCompared({Lists(Numbers({2, 2}, 0), {0, 2}), Lists(Numbers({2, 3}, 0), {0, 1, 2})});
  EXPECT_FALSE(axes.stacked() || axes.ragged());
  const BlockColumn forms =
      JoinedAndCompared({BlockColumn::Stacked(Numbers({2, 2}, 0)), Lists(Numbers({3}, 0), {0, 3})});
  EXPECT_FALSE(forms.stacked() || forms.ragged());
}

}  // namespace
}  // namespace headrace

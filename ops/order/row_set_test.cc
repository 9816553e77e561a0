#include "ops/order/row_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace headrace {
namespace {

void ExpectRows(const RowSet& rows, const std::set<uint64_t>& expected) {
  ASSERT_EQ(rows.count(), expected.size());
  uint64_t rank = 0;
  for (const uint64_t row : expected) {
    if (rank > 0) {
      ASSERT_EQ(rows.Next(rows.At(rank - 1)), row);
    }
    ASSERT_EQ(rows.At(rank++), row);
  }
}

TEST(RowSet, GivesItsRowsInOrder) {
  std::mt19937_64 random(3);
  for (const uint64_t size : {1, 63, 64, 65, 511, 512, 513, 5000}) {
    for (const uint64_t every : {1, 2, 50, 6000}) {
      RowSet rows(size);
      std::set<uint64_t> added;
      std::set<uint64_t> left;
      for (uint64_t row = 0; row < size; ++row) {
        if (random() % every == 0) {
          rows.Add(row);
          added.insert(row);
        } else {
          left.insert(row);
        }
      }
      rows.Count();
      ExpectRows(rows, added);
      rows.Invert();
      rows.Count();
      ExpectRows(rows, left);
    }
  }
}

TEST(RowSet, OfNoRowsIsEmpty) {
  RowSet rows(0);
  rows.Invert();
  rows.Count();
  EXPECT_EQ(rows.count(), 0u);
}

}  // namespace
}  // namespace headrace

#include "core/row_warning.h"

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(RowWarning, KeepsTheFirstOfItsOwnRow) {
  RowWarning::Raise("lost");
  RowWarning outer;
  EXPECT_EQ(outer.text(), "");
  {
    RowWarning inner;
    RowWarning::Raise("inner");
    EXPECT_EQ(inner.text(), "inner");
  }
  RowWarning::Raise("first");
  RowWarning::Raise("second");
  EXPECT_EQ(outer.text(), "first");
}

}  // namespace
}  // namespace headrace

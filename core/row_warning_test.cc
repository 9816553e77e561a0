#include "core/row_warning.h"

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(RowWarning, IsPrintable) {
  const RowWarning warning;
  RowWarning::Raise("lost\n\x1B");
  EXPECT_EQ(warning.text(), "lost\\n\\x1b");
}

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

#include "io/files/plainly_missing.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace headrace {
namespace {

TEST(PlainlyMissing, IsAMarkAndNotAMatterOfWords) {
  EXPECT_EQ(MissingError("s3://b/k").message(), "s3://b/k: not found");
  EXPECT_EQ(KindOf(MissingError("s3://b/k")), ErrorKind::kNotFound);
  EXPECT_TRUE(IsPlainlyMissing(MissingError("s3://b/k")));
  EXPECT_TRUE(IsPlainlyMissing(PlainlyMissing(NotFoundError("nothing here"))));
  EXPECT_FALSE(IsPlainlyMissing(NotFoundError("s3://b/k: the profile: not found")));
  EXPECT_FALSE(IsPlainlyMissing(absl::OkStatus()));
}

TEST(PlainlyMissing, IsNoErrorOfAnotherKind) {
  EXPECT_FALSE(IsPlainlyMissing(PlainlyMissing(UnsupportedError("refused"))));
  EXPECT_TRUE(PlainlyMissing(absl::OkStatus()).ok());
}

TEST(PlainlyMissing, StaysWhereTheErrorIsReworded) {
  EXPECT_TRUE(IsPlainlyMissing(Reworded(MissingError("a"), "b: not found")));
}

}  // namespace
}  // namespace headrace

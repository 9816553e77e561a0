#include "io/files/s3/store_reply.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/plainly_missing.h"

namespace headrace::s3 {
namespace {

absl::Status ErrorOf(int status, std::string_view code) {
  http::Reply reply;
  reply.head.status = status;
  if (!code.empty()) reply.body = Cat("<Error><Code>", code, "</Code></Error>");
  return RefusedError("s3://bucket/key", "read", reply, {});
}

TEST(RefusedError, IsPlainlyMissingOfAnObjectAlone) {
  EXPECT_TRUE(IsPlainlyMissing(ErrorOf(404, "NoSuchKey")));
  EXPECT_TRUE(IsPlainlyMissing(ErrorOf(404, "")));
  EXPECT_FALSE(IsPlainlyMissing(ErrorOf(404, "NoSuchBucket")));
  EXPECT_EQ(KindOf(ErrorOf(404, "NoSuchBucket")), ErrorKind::kNotFound);
  EXPECT_FALSE(IsPlainlyMissing(ErrorOf(403, "AccessDenied")));
}

}  // namespace
}  // namespace headrace::s3

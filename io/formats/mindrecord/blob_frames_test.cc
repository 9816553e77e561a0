#include "io/formats/mindrecord/blob_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string RefusalOfFrames(std::string_view blob, size_t fields) {
  std::vector<std::string_view> found(fields);
  return DescribeError(BlobFrames(blob, absl::MakeSpan(found)));
}

TEST(BlobFrames, FindsEachField) {
  std::vector<std::string_view> found(3);
  const std::string blob = MindFrames({"one", "", "three"});
  ASSERT_TRUE(BlobFrames(blob, absl::MakeSpan(found)).ok());
  EXPECT_THAT(found, ElementsAre("one", "", "three"));
  ASSERT_TRUE(BlobFrames("all of it", absl::MakeSpan(found).first(1)).ok());
  EXPECT_EQ(found[0], "all of it");
}

TEST(BlobFrames, NamesLengthsThatAreWrong) {
  const std::string blob = MindFrames({"one", "two"});
  EXPECT_THAT(RefusalOfFrames(blob, 3), HasSubstr("ends before its field number 2"));
  EXPECT_THAT(RefusalOfFrames(blob + "x", 2), HasSubstr("1 bytes after its last field"));
  EXPECT_THAT(RefusalOfFrames(std::string(15, '\xff'), 2), HasSubstr("field number 0 of the blob claims"));
  EXPECT_THAT(RefusalOfFrames(blob.substr(0, blob.size() - 1), 2), HasSubstr("claims 3 bytes, and 2 are left"));
}

}  // namespace
}  // namespace headrace

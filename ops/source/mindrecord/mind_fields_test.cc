#include "ops/source/mindrecord/mind_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

TEST(MindFields, AreReadBackAsTheyWereWritten) {
  const std::vector<std::pair<MindField, std::string>> fields = {
      {{"label", DType::kInt32}, "label int32"},
      {{"image", DType::kBytes}, "image bytes"},
      {{"a name (1,)", DType::kString}, "a name (1,) string"},
      {{"ids", DType::kInt64, true, {-1}}, "ids int64 (None,)"},
      {{"box", DType::kFloat32, true, {2, -1, 4}}, "box float32 (2, None, 4)"},
  };
  for (const auto& [field, text] : fields) {
    EXPECT_EQ(MindFieldText(field), text);
    const absl::StatusOr<MindField> parsed = ParseMindField(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, field) << text;
  }
}

TEST(MindFields, AreOfTypesThatFilesHave) {
  for (const char* text : {"", "x", "x uint8", "x int32 ()", "x int32 (0,)", "x int32 (None, None)", "x bytes (2,)",
                           "x int32 (a,)", "x (2,)", "x int32(2,)"}) {
    EXPECT_THAT(DescribeError(ParseMindField(text).status()), HasSubstr("has no type of a MindRecord field")) << text;
  }
}

}  // namespace
}  // namespace headrace

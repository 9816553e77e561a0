#include "ir/suggestion.h"

#include <gtest/gtest.h>

namespace headrace::ir {
namespace {

TEST(Suggestion, IsTheNearestNameThatIsNearEnough) {
  const std::vector<std::string> names = {"image", "label", "path"};
  EXPECT_EQ(Nearest("imge", names), "image");
  EXPECT_EQ(Nearest("lable", names), "label");
  EXPECT_EQ(Nearest("IMAGE", names), "image");
  EXPECT_EQ(Nearest("paths", names), "path");
  EXPECT_EQ(Nearest("weather", names), std::nullopt);
  EXPECT_EQ(Nearest("", names), std::nullopt);
  EXPECT_EQ(Nearest("x", {"y"}), std::nullopt);
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), names), std::nullopt);
}

TEST(Suggestion, NamesTheColumnsThereAre) {
  const Schema schema = {{{"image", ColumnType::Unknown()}, {"label", ColumnType::Unknown()}}};
  EXPECT_TRUE(FindColumn(schema, "label").ok());
  EXPECT_EQ(FindColumn(schema, "imge").status().message(),
            "no column \"imge\"; did you mean \"image\"? (columns: image, label)");
  EXPECT_EQ(FindColumn(schema, "zebra").status().message(), "no column \"zebra\" (columns: image, label)");
}

}  // namespace
}  // namespace headrace::ir

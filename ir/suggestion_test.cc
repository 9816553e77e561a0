#include "ir/suggestion.h"

#include <gtest/gtest.h>

#include "ir/declaration.h"

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

TEST(Suggestion, NamesThePluginThatIsMissing) {
  EXPECT_EQ(PluginOf("myops.Blur"), "myops");
  EXPECT_EQ(PluginOf("Resize"), "");
  EXPECT_EQ(MissingPlugin("Resize"), "");
  EXPECT_EQ(MissingPlugin("myops.Blur"),
            "the plugin myops is not loaded; call hr.load_plugin() with the path of its library first");
  EXPECT_EQ(UpgradeOf("Resize"), "upgrade Headrace");
  EXPECT_EQ(UpgradeOf("myops.Blur"), "load a newer version of the plugin myops");
  ASSERT_TRUE(Registry::Global().Register({.name = "otherops.Blur"}).ok());
  EXPECT_EQ(MissingPlugin("otherops.Blurr"),
            "the plugin otherops, as it is loaded here, has no Blurr; did you mean \"otherops.Blur\"?");
}

}  // namespace
}  // namespace headrace::ir

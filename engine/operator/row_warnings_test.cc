#include "engine/operator/row_warnings.h"

#include <memory>
#include <string>

#include "core/text.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

Provenance At(std::string_view file) { return {std::make_shared<const std::string>(file)}; }

TEST(RowWarnings, CountsAllAndNamesEachOfTheFirstOnce) {
  RowWarnings warnings("map[1]");
  EXPECT_EQ(warnings.report().rows, 0u);
  warnings.Add({.epoch = 0, .key = 3}, At("a.jpg"), "is damaged");
  warnings.Add({.epoch = 1, .key = 3}, At("a.jpg"), "is damaged");
  warnings.Add({.epoch = 0, .key = 4}, {}, "too");
  WarningReport report = warnings.report();
  EXPECT_EQ(report.name, "map[1]");
  EXPECT_EQ(report.rows, 3u);
  EXPECT_EQ(report.first, (std::vector<std::string>{"a.jpg: is damaged", "epoch 0, key 4: too"}));
  for (int i = 0; i < 100; ++i) warnings.Add({}, At(Cat(i, ".jpg")), "is damaged");
  EXPECT_EQ(warnings.report().rows, 103u);
  EXPECT_EQ(warnings.report().first.size(), RowWarnings::kNamed);
}

TEST(RowWarnings, NamesFilesInPrintableText) {
  RowWarnings warnings("map[1]");
  warnings.Add({}, At("caf\xe9\x1b[31m\n.jpg"), "is damaged");
  EXPECT_EQ(warnings.report().first, std::vector<std::string>{"caf\\xe9\\x1b[31m\\n.jpg: is damaged"});
}

}  // namespace
}  // namespace headrace

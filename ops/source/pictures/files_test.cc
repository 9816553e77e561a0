#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::StringsValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class Files : public ::testing::Test {
 protected:
  Files() {
    folder_.Write("b.txt", "B");
    folder_.Write("a.txt", "A");
    folder_.Write("deep/er/c.txt", "");
    folder_.Write("d.bin", "D");
  }
  GraphBuilder Source(const std::vector<std::string>& patterns, GraphBuilder::Given attributes = {}) const {
    std::vector<std::string> paths;
    for (const std::string& pattern : patterns) paths.push_back(folder_ / pattern);
    attributes.push_back({"patterns", StringsValue(paths)});
    GraphBuilder builder;
    builder.Add("Files", {}, attributes);
    return builder;
  }
  std::string Row(std::string_view name, std::string_view data) const {
    return Cat("path='", folder_ / name, "', data='", data, "'");
  }

  TemporaryFolder folder_;
};

TEST_F(Files, GivesFilesByPatternInOrderOfPath) {
  const Ran ran = RunEveryWay(Source({"**/*.txt"}));
  EXPECT_THAT(ran.Texts(1), ElementsAre(Row("a.txt", "A"), Row("b.txt", "B"), Row("deep/er/c.txt", "")));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2));
}

TEST_F(Files, GivesAFileOfSeveralPatternsOnce) {
  EXPECT_THAT(RunEveryWay(Source({"d.bin", "*.txt", "a*"})).Texts(),
              ElementsAre(Row("a.txt", "A"), Row("b.txt", "B"), Row("d.bin", "D")));
}

TEST_F(Files, ReadsOnlyWhatIsAskedFor) {
  const auto graph = Source({"*.txt"}, {{"columns", StringsValue({"path"})}}).Build();
  auto pipeline = Pipeline::Make(*graph, OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  std::filesystem::remove(folder_ / "a.txt");
  ResultRow row;
  EXPECT_TRUE((*pipeline)->Next(std::chrono::seconds(1), row).ok());
}

TEST_F(Files, Shuffles) {
  for (int i = 0; i < 20; ++i) folder_.Write(Cat("more", i, ".txt"));
  const Ran plain = RunEveryWay(Source({"*.txt"}));
  const Ran ran = RunEveryWay(Source({"*.txt"}, {{"shuffle", ir::BoolValue(true)}}));
  EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(plain.Texts(1)));
  EXPECT_NE(ran.Texts(1), plain.Texts(1));
}

TEST_F(Files, TellsWhenTheDataChanged) {
  const Fingerprint before = RunEveryWay(Source({"*.txt"})).fingerprints.at(0);
  EXPECT_EQ(before.count, 2u);
  folder_.Write("a.txt", "longer");
  EXPECT_NE(RunEveryWay(Source({"*.txt"})).fingerprints.at(0).hash, before.hash);
}

TEST_F(Files, NamesAFileThatIsGone) {
  const auto graph = Source({"*.txt"}).Build();
  auto pipeline = Pipeline::Make(*graph, OptionsOf({}));
  ASSERT_TRUE(pipeline.ok());
  std::filesystem::remove(folder_ / "b.txt");
  ResultRow row;
  EXPECT_TRUE((*pipeline)->Next(std::chrono::seconds(1), row).ok());
  const absl::Status error = (*pipeline)->Next(std::chrono::seconds(1), row).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kNotFound);
  EXPECT_EQ(GetErrorField(error, ErrorField::kFile), folder_ / "b.txt");
}

TEST_F(Files, RefusesPatternsThatMatchNothing) {
  EXPECT_THAT(Refusal(Source({"*.tar"})), HasSubstr("*.tar"));
  EXPECT_THAT(Refusal(Source({})), HasSubstr("patterns is empty"));
  EXPECT_THAT(Refusal(Source({"*.txt"}, {{"columns", StringsValue({"bytes"})}})),
              HasSubstr("no column \"bytes\" (columns: path, data)"));
}

}  // namespace
}  // namespace headrace

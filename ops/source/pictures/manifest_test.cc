#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class ManifestSource : public ::testing::Test {
 protected:
  ManifestSource() {
    folder_.Write("photos/a.jpg", "A");
    folder_.Write("photos/b.jpg", "B");
    folder_.Write("photos/deep/c.jpg", "C");
  }

  GraphBuilder Source(GraphBuilder::Given attributes = {}) const {
    const auto given = [&attributes](std::string_view name) {
      return std::any_of(attributes.begin(), attributes.end(), [name](const auto& each) { return each.first == name; });
    };
    if (!given("root")) attributes.push_back({"root", StringValue(folder_ / "photos")});
    if (!given("path_column")) attributes.push_back({"path_column", StringValue("path")});
    attributes.push_back({"arrays", ir::ReferenceValue("table")});
    attributes.push_back({"types", ir::ColumnsValue({{{"path", ir::ColumnType::Of(DType::kString, {})},
                                                      {"label", ir::ColumnType::Of(DType::kInt64, {})}}})});
    GraphBuilder builder;
    builder.Add("Manifest", {}, attributes);
    return builder;
  }

  static RunSpec Table(const std::vector<std::string>& paths) {
    std::vector<int64_t> labels;
    for (size_t i = 0; i < paths.size(); ++i) labels.push_back(static_cast<int64_t>(10 * i));
    RunSpec spec;
    const std::vector<std::string_view> views(paths.begin(), paths.end());
    spec.bindings.arrays["table"].columns = {{"path", Strings(views)}, {"label", Int64s(labels)}};
    return spec;
  }

  TemporaryFolder folder_;
};

TEST_F(ManifestSource, GivesTheFilesInOrderOfTheTable) {
  const Ran ran = RunEveryWay(Source(), Table({"b.jpg", "deep/c.jpg", "b.jpg", "a.jpg"}));
  EXPECT_THAT(ran.Texts(1), ElementsAre("path='b.jpg', label=0, data='B'", "path='deep/c.jpg', label=10, data='C'",
                                        "path='b.jpg', label=20, data='B'", "path='a.jpg', label=30, data='A'"));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(4));
}

TEST_F(ManifestSource, KnowsNoOtherFileSystemThanThePipelines) {
  const FaultyFileSystem files(LocalFileSystem(), [](std::string_view call, const std::string&) {
    return call == "Read" || call == "ReadAt" ? DataError("as told") : absl::OkStatus();
  });
  PipelineOptions options = OptionsOf(Table({"a.jpg"}));
  options.files = &files;
  const absl::StatusOr<Ran> ran = RunOnce(*Source().Build(), options);
  EXPECT_THAT(DescribeError(ran.ok() ? ran->error : ran.status()), HasSubstr("as told"));
}

TEST_F(ManifestSource, GivesTheColumnsAskedFor) {
  EXPECT_THAT(RunEveryWay(Source({{"columns", StringsValue({"data", "label"})}}), Table({"a.jpg"})).Texts(),
              ElementsAre("data='A', label=0"));
  EXPECT_THAT(RunEveryWay(Source({{"output", StringValue("path")}}), Table({"a.jpg"})).Texts(),
              ElementsAre("path='A', label=0"));
  // Files are not opened where nothing needs their bytes.
  EXPECT_THAT(RunEveryWay(Source({{"columns", StringsValue({"label"})}}), Table({"missing.jpg"})).Texts(),
              ElementsAre("label=0"));
}

TEST_F(ManifestSource, TakesAbsolutePathsAndUris) {
  const std::string path = folder_ / "photos/a.jpg";
  for (const std::string& root : {std::string(), folder_ / "elsewhere"}) {
    const Ran ran = RunEveryWay(Source({{"root", StringValue(root)}, {"columns", StringsValue({"data"})}}),
                                Table({path, Cat("file://", path)}));
    EXPECT_THAT(ran.Texts(), ElementsAre("data='A'", "data='A'"));
  }
}

TEST_F(ManifestSource, Shuffles) {
  std::vector<std::string> paths;
  for (int i = 0; i < 30; ++i) paths.emplace_back(i % 2 == 0 ? "a.jpg" : "b.jpg");
  const Ran plain = RunEveryWay(Source(), Table(paths));
  const Ran ran = RunEveryWay(Source({{"shuffle", BoolValue(true)}}), Table(paths));
  EXPECT_THAT(ran.Texts(0), UnorderedElementsAreArray(plain.Texts(0)));
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
}

TEST_F(ManifestSource, FailsTheRowOfAFileThatIsMissing) {
  const Ran ran = RunEveryWay(Source(), Table({"a.jpg", "no/b.jpg", "b.jpg"}));
  EXPECT_THAT(ran.Texts(), ElementsAre("path='a.jpg', label=0, data='A'"));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kNotFound);
  EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr("no/b.jpg"), HasSubstr("row 1 of the table")));
}

TEST_F(ManifestSource, RefusesPathsThatNameNothing) {
  EXPECT_THAT(Refusal(Source(), Table({"a.jpg", ""})), HasSubstr("the path of row 1 is empty"));
  EXPECT_THAT(Refusal(Source(), Table({std::string("a\0.jpg", 6)})), HasSubstr("row 0"));
  EXPECT_THAT(Refusal(Source({{"root", StringValue("")}}), Table({"/a.jpg", "b.jpg"})),
              HasSubstr("the path of row 1, b.jpg, is relative: say with root= to which folder"));
}

TEST_F(ManifestSource, RefusesColumnsThatDoNotFit) {
  const RunSpec table = Table({"a.jpg"});
  EXPECT_THAT(Refusal(Source({{"path_column", StringValue("file")}}), table), HasSubstr("file"));
  EXPECT_THAT(Refusal(Source({{"path_column", StringValue("label")}}), table), HasSubstr("paths are texts"));
  EXPECT_THAT(Refusal(Source({{"output", StringValue("label")}}), table),
              HasSubstr("the table has a column \"label\" already"));
}

TEST_F(ManifestSource, NoticesFilesThatChanged) {
  const RunSpec table = Table({"a.jpg", "b.jpg"});
  const Ran before = RunEveryWay(Source(), table);
  folder_.Write("photos/b.jpg", "longer");
  EXPECT_NE(RunEveryWay(Source(), table).fingerprints, before.fingerprints);
  EXPECT_NE(RunEveryWay(Source(), Table({"b.jpg", "a.jpg"})).fingerprints, before.fingerprints);
}

}  // namespace
}  // namespace headrace

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class ImageListSource : public ::testing::Test {
 protected:
  ImageListSource() {
    folder_.Write("photos/a.jpg", "A");
    folder_.Write("photos/b.jpg", "B");
    folder_.Write("photos/deep/c.jpg", "C");
    folder_.Write("list.lst", "7\t1.000000\tb.jpg\n3\t0.5\tdeep/c.jpg\n9\t2\ta.jpg\n");
  }
  GraphBuilder Source(GraphBuilder::Given attributes = {}) const {
    attributes.push_back({"listing", StringValue(folder_ / "list.lst")});
    attributes.push_back({"root", StringValue(folder_ / "photos")});
    GraphBuilder builder;
    builder.Add("ImageList", {}, attributes);
    return builder;
  }

  TemporaryFolder folder_;
};

TEST_F(ImageListSource, GivesTheImagesInOrderOfTheLines) {
  const Ran ran = RunEveryWay(Source());
  EXPECT_THAT(ran.Texts(1), ElementsAre("image='B', label=1", "image='C', label=0.5", "image='A', label=2"));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2));
  EXPECT_EQ(ran.rows[0].columns[1].dtype(), DType::kFloat32);
  EXPECT_EQ(ran.cardinality, Cardinality::Of(3));
}

TEST_F(ImageListSource, GivesTheColumnsAskedFor) {
  const Ran ran = RunEveryWay(Source({{"columns", StringsValue({"path", "id"})}}));
  EXPECT_THAT(ran.Texts(), ElementsAre(Cat("path='", folder_ / "photos/b.jpg", "', id=7"),
                                       Cat("path='", folder_ / "photos/deep/c.jpg", "', id=3"),
                                       Cat("path='", folder_ / "photos/a.jpg", "', id=9")));
  EXPECT_EQ(ran.rows[0].columns[1].dtype(), DType::kInt64);
}

TEST_F(ImageListSource, GivesSeveralLabelsAndAnyNumber) {
  folder_.Write("list.lst", "0\t1\t2\ta.jpg\n1\t3\t4\tb.jpg\n");
  EXPECT_THAT(RunEveryWay(Source({{"label_width", IntValue(2)}})).Texts(),
              ElementsAre("image='A', label=float32 (2,) [1 2]", "image='B', label=float32 (2,) [3 4]"));
  EXPECT_THAT(Refusal(Source()), AllOf(HasSubstr("2 labels, and label_width is 1"), HasSubstr("a.jpg")));
  folder_.Write("list.lst", "0\t1\t2\ta.jpg\n1\t3\tb.jpg\n");
  EXPECT_THAT(RunEveryWay(Source({{"label_width", IntValue(-1)}})).Texts(),
              ElementsAre("image='A', label=float32 (2,) [1 2]", "image='B', label=float32 (1,) [3]"));
  EXPECT_THAT(Refusal(Source({{"label_width", IntValue(0)}})), HasSubstr("label_width is 0"));
}

TEST_F(ImageListSource, ShufflesAndTakesAbsolutePaths) {
  std::string list;
  for (int i = 0; i < 30; ++i) list += Cat(i, "\t", i, "\t", folder_ / "photos/a.jpg", "\n");
  folder_.Write("list.lst", list);
  const Ran plain = RunEveryWay(Source());
  const Ran ran = RunEveryWay(Source({{"shuffle", BoolValue(true)}}));
  EXPECT_THAT(ran.Texts(0), UnorderedElementsAreArray(plain.Texts(0)));
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
}

TEST_F(ImageListSource, FailsTheRowOfAnImageThatIsMissing) {
  std::filesystem::remove(folder_ / "photos/deep/c.jpg");
  const Ran ran = RunEveryWay(Source());
  EXPECT_EQ(ran.rows.size(), 1u);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kNotFound);
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), folder_ / "photos/deep/c.jpg");
  GraphBuilder skipping = Source();
  skipping.SkipFailed(1);
  EXPECT_THAT(RunEveryWay(skipping).Texts(1), ElementsAre("image='B', label=1", "image='A', label=2"));
}

TEST_F(ImageListSource, TellsWhenTheListChanged) {
  const Fingerprint before = RunEveryWay(Source()).fingerprints.at(0);
  EXPECT_EQ(before.count, 3u);
  folder_.Write("list.lst", "7\t1\tb.jpg\n3\t0.5\tdeep/c.jpg\n9\t3\ta.jpg\n");
  EXPECT_NE(RunEveryWay(Source()).fingerprints.at(0), before);
}

TEST_F(ImageListSource, RefusesListsThatAreWrong) {
  folder_.Write("list.lst", "1\t0\ta.jpg\n1\t0\tb.jpg\n");
  EXPECT_THAT(Refusal(Source()), AllOf(HasSubstr("the index 1 comes twice"), HasSubstr("a.jpg and b.jpg")));
  folder_.Write("list.lst", "1\t0\ta.jpg\nno line\n");
  EXPECT_THAT(Refusal(Source()), AllOf(HasSubstr("list.lst"), HasSubstr("2")));
  std::filesystem::remove(folder_ / "list.lst");
  EXPECT_THAT(Refusal(Source()), HasSubstr("list.lst"));
}

}  // namespace
}  // namespace headrace

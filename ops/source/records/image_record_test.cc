#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/testing/record_bytes.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ImageRecordSource : public ::testing::Test {
 protected:
  GraphBuilder Source(GraphBuilder::Given attributes = {}) const {
    attributes.emplace_back("paths", StringsValue({folder_ / "*.rec"}));
    GraphBuilder builder;
    builder.Add("ImageRecord", {}, attributes);
    return builder;
  }
  // With an index and without.
  std::vector<GraphBuilder> Ways(GraphBuilder::Given attributes = {}) const {
    std::vector<GraphBuilder> ways = {Source(attributes)};
    attributes.emplace_back("index", StringsValue({"build"}));
    ways.push_back(Source(attributes));
    return ways;
  }
  void Write(const std::vector<std::string>& payloads) { folder_.Write("a.rec", RecordBytes(payloads)); }

  TemporaryFolder folder_;
};

TEST_F(ImageRecordSource, GivesImagesLabelsAndIds) {
  Write({ImagePayload(7, {3}, "A"), ImagePayload(1ull << 40, {0.5}, ""), ImagePayload(2, {4}, "C", /*behind=*/true)});
  for (const GraphBuilder& builder : Ways()) {
    const Ran ran = RunEveryWay(builder);
    EXPECT_THAT(ran.Texts(1), ElementsAre("image='A', label=3, id=7", "image='', label=0.5, id=1099511627776",
                                          "image='C', label=4, id=2"));
    EXPECT_EQ(ran.rows[0].columns[1].dtype(), DType::kFloat32);
    EXPECT_EQ(ran.rows[0].columns[2].dtype(), DType::kInt64);
  }
}

TEST_F(ImageRecordSource, GivesTheColumnsAskedFor) {
  Write({ImagePayload(7, {3}, "A"), ImagePayload(8, {4, 5}, "B")});
  for (const GraphBuilder& builder : Ways({{"columns", StringsValue({"id", "image"})}})) {
    EXPECT_THAT(RunEveryWay(builder).Texts(), ElementsAre("id=7, image='A'", "id=8, image='B'"))
        << "labels that nobody reads may be of any width";
  }
}

TEST_F(ImageRecordSource, GivesSeveralLabelsAndAnyNumber) {
  Write({ImagePayload(0, {1, 2, 3}, "A"), ImagePayload(1, {4, 5, 6}, "B")});
  for (const GraphBuilder& builder : Ways({{"label_width", IntValue(3)}, {"columns", StringsValue({"label"})}})) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("label=float32 (3,) [1 2 3]", "label=float32 (3,) [4 5 6]"));
  }
  Write({ImagePayload(0, {1, 2, 3}, "A"), ImagePayload(1, {4}, "B")});
  for (const GraphBuilder& builder : Ways({{"label_width", IntValue(-1)}, {"columns", StringsValue({"label"})}})) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("label=float32 (3,) [1 2 3]", "label=float32 (1,) [4]"));
  }
}

TEST_F(ImageRecordSource, NamesARecordWithOtherLabels) {
  Write({ImagePayload(0, {1}, "A"), ImagePayload(1, {1, 2}, "B"), ImagePayload(2, {3}, "C")});
  for (GraphBuilder& builder : Ways()) {
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.rows.size(), 1u);
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
    EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr("the image has 2 labels, and label_width is 1"),
                                                HasSubstr(folder_ / "a.rec"), HasSubstr("byte 36")));
    builder.SkipFailed(1);
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("image='A', label=1, id=0", "image='C', label=3, id=2"));
  }
}

TEST_F(ImageRecordSource, NamesARecordThatIsNoImageRecord) {
  Write({ImagePayload(0, {1}, "A"), "short"});
  for (const GraphBuilder& builder : Ways()) {
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.rows.size(), 1u);
    EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr("header of 24 bytes"), HasSubstr("byte 36")));
  }
}

TEST_F(ImageRecordSource, TakesLabelsFromAList) {
  Write({ImagePayload(5, {1}, "A"), ImagePayload(3, {1}, "B")});
  const std::string list = folder_.Write("x.lst", "3\t10\tb.jpg\n5\t20\ta.jpg\n9\t30\tc.jpg\n");
  for (const GraphBuilder& builder : Ways({{"path_imglist", StringValue(list)}})) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("image='A', label=20, id=5", "image='B', label=10, id=3"));
  }
  folder_.Write("x.lst", "5\t20\t21\ta.jpg\n3\t1\t2\tb.jpg\n");
  const GraphBuilder::Given two = {
      {"path_imglist", StringValue(list)}, {"label_width", IntValue(2)}, {"columns", StringsValue({"label"})}};
  for (const GraphBuilder& builder : Ways(two)) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("label=float32 (2,) [20 21]", "label=float32 (2,) [1 2]"));
  }
  folder_.Write("x.lst", "5\t20\ta.jpg\n");
  for (const GraphBuilder& builder : Ways({{"path_imglist", StringValue(list)}})) {
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.rows.size(), 1u);
    EXPECT_THAT(DescribeError(ran.error), HasSubstr("x.lst has no line for the record's id 3"));
  }
}

TEST_F(ImageRecordSource, LeavesOutWhatFaceSetsHaveBesideImages) {
  Write({ImagePayload(0, {4, 6}, ""), ImagePayload(1, {0}, "A"), ImagePayload(2, {0}, "B"), ImagePayload(3, {1}, "C"),
         ImagePayload(4, {1, 3}, ""), ImagePayload(5, {3, 4}, "")});
  for (const GraphBuilder& builder : Ways()) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1),
                ElementsAre("image='A', label=0, id=1", "image='B', label=0, id=2", "image='C', label=1, id=3"));
    std::vector<std::string> all;
    for (const Ran& rank : RunRanks(builder, 2)) {
      for (const std::string& text : rank.Texts(1)) all.push_back(text);
    }
    EXPECT_THAT(
        all, UnorderedElementsAre("image='A', label=0, id=1", "image='B', label=0, id=2", "image='C', label=1, id=3"));
  }
}

TEST_F(ImageRecordSource, RefusesWhatCannotBe) {
  Write({ImagePayload(0, {1}, "A")});
  EXPECT_THAT(Refusal(Source({{"label_width", IntValue(0)}})), HasSubstr("label_width is 0"));
  EXPECT_THAT(Refusal(Source({{"columns", StringsValue({"pixels"})}})), HasSubstr("columns: image, label, id"));
  EXPECT_THAT(Refusal(Source({{"path_imglist", StringValue(folder_ / "no.lst")}})), HasSubstr("no.lst"));
}

}  // namespace
}  // namespace headrace

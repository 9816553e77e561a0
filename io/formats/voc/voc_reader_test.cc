#include "io/formats/voc/voc_reader.h"

#include <string>

#include "core/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/files/testing/temporary_folder.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kBox = "<bndbox><ymin>2</ymin><xmin>1</xmin><xmax>45.70</xmax><ymax>4</ymax></bndbox>";

std::string Annotation(std::string_view objects) {
  return Cat("<?xml version=\"1.0\"?>\n<!-- a > b -->\n<annotation>\n<folder>x</folder><size><width>5</width></size>",
             objects, "\n</annotation>\n");
}

std::string MessageOf(std::string_view xml) {
  VocTable table;
  const absl::Status status = AddVocXml(xml, table);
  EXPECT_EQ(KindOf(status), ErrorKind::kData);
  return std::string(status.message());
}

TEST(VocReader, GivesObjectsAndTheirParts) {
  const std::string part =
      "<part><name>head</name><bndbox><xmin>9</xmin><ymin>8</ymin><xmax>7</xmax><ymax>6</ymax>"
      "</bndbox></part>";
  VocTable table;
  const absl::Status status = AddVocXml(
      Annotation(Cat("<object><name> dog </name><difficult>1</difficult><truncated>Unspecified</truncated>", kBox,
                     "</object><object><name>person</name>", part, kBox, "<occluded>1</occluded><pose/></object>")),
      table);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(AddVocXml("<annotation/>", table).ok());
  EXPECT_THAT(table.object_splits, ElementsAre(0, 2, 2));
  EXPECT_THAT(table.width, ElementsAre(5, 0));
  EXPECT_THAT(table.height, ElementsAre(0, 0));
  EXPECT_THAT(table.name, ElementsAre("dog", "person"));
  EXPECT_THAT(table.boxes, ElementsAre(1, 2, 45.7, 4, 1, 2, 45.7, 4));
  EXPECT_THAT(table.difficult, ElementsAre(1, 0));
  EXPECT_THAT(table.truncated, ElementsAre(0, 0));
  EXPECT_THAT(table.occluded, ElementsAre(0, 1));
  EXPECT_THAT(table.part_splits, ElementsAre(0, 1, 1));
  EXPECT_THAT(table.part_name, ElementsAre("head"));
  EXPECT_THAT(table.part_boxes, ElementsAre(9, 8, 7, 6));
  EXPECT_THAT(table.part_object, ElementsAre(1));
}

TEST(VocReader, TakesSizesForUnknownThatAreNoNumbers) {
  VocTable table;
  for (const std::string_view side : {"", "-3", "5 px", "nan", "1e99", "7.5"}) {
    ASSERT_TRUE(AddVocXml(Cat("<annotation><size><height>", side, "</height></size></annotation>"), table).ok());
  }
  EXPECT_THAT(table.height, ElementsAre(0, 0, 0, 0, 0, 7.5));
}

TEST(VocReader, ReadsTextsOfXml) {
  VocTable table;
  const std::string text = "a&lt;&#233;&#x1F600;<![CDATA[<b>&]]>";
  ASSERT_TRUE(AddVocXml(Cat("\xef\xbb\xbf<annotation><object a='>' b=\"/>\"><name>", text, "</name>", kBox,
                            "</object></annotation>"),
                        table)
                  .ok());
  EXPECT_THAT(table.name, ElementsAre("a<é😀<b>&"));
}

TEST(VocReader, RefusesDamage) {
  EXPECT_THAT(MessageOf(""), HasSubstr("no element"));
  EXPECT_THAT(MessageOf("<annotation>"), HasSubstr("cut off"));
  EXPECT_THAT(MessageOf("<annotation></object>"), HasSubstr("not open"));
  EXPECT_THAT(MessageOf("<annotation></annotation>x"), HasSubstr("outside"));
  EXPECT_THAT(MessageOf("<annotation/><annotation/>"), HasSubstr("second"));
  EXPECT_THAT(MessageOf("<annotation>&nbsp;</annotation>"), HasSubstr("entity"));
  EXPECT_THAT(MessageOf("<annotation>\xff</annotation>"), HasSubstr("UTF-8"));
  EXPECT_THAT(MessageOf("<annotation><!-- "), HasSubstr("cut off"));
  EXPECT_THAT(MessageOf("<data/>"), HasSubstr("outermost element is <data>"));
  EXPECT_THAT(MessageOf(Annotation("<object><name>dog</name></object>")), HasSubstr("object 0, dog, has no <bndbox>"));
  EXPECT_THAT(MessageOf(Annotation(Cat("<object>", kBox, "</object>"))), HasSubstr("object 0 has no <name>"));
  EXPECT_THAT(MessageOf(Annotation("<object><bndbox><xmin>a</xmin></bndbox></object>")), HasSubstr("not a number: a"));
  const std::string text(1 << 20, 'a');
  EXPECT_LT(MessageOf(Annotation(Cat("<object><bndbox><xmin>", text, "</xmin></bndbox></object>"))).size(), 200u);
  EXPECT_LT(MessageOf(Annotation(Cat("<object><name>", text, "</name></object>"))).size(), 200u);
  EXPECT_LT(MessageOf(Cat("<", text, "/>")).size(), 200u);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_THAT(MessageOf(Annotation(deep)), HasSubstr("too deep"));
}

// Blanks between comments are looked at once.
TEST(VocReader, PassesOverManyComments) {
  std::string comments;
  for (int i = 0; i < 1'000'000; ++i) comments += "<!---->\n";
  VocTable table;
  EXPECT_TRUE(AddVocXml(Cat(comments, "<annotation>", comments, "</annotation>", comments), table).ok());
  EXPECT_TRUE(table.name.empty());
}

TEST(VocReader, NamesTheFileThatIsDamaged) {
  const TemporaryFolder folder;
  const std::string good = folder.Write("a.xml", Annotation(Cat("<object><name>dog</name>", kBox, "</object>")));
  const std::string bad = folder.Write("b.xml", "<annotation>");
  EXPECT_THAT(ReadVoc(*LocalFileSystem(), {good, good})->object_splits, ElementsAre(0, 1, 2));
  const absl::Status status = ReadVoc(*LocalFileSystem(), {good, bad}).status();
  EXPECT_EQ(GetErrorField(status, ErrorField::kFile), bad);
}

}  // namespace
}  // namespace headrace

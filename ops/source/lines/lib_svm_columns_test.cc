#include "ops/source/lines/lib_svm_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "core/error.h"
#include "io/files/testing/one_file.h"
#include "io/formats/text/line_format.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using LibSvmColumnsTexts = std::vector<std::string>;

template <typename T>
std::string Numbers(const Tensor& vector) {
  std::string text = "[";
  for (int64_t i = 0; i < vector.elements(); ++i) text = Cat(text, i == 0 ? "" : " ", vector.data<T>()[i]);
  return text + "]";
}

LibSvmColumnsTexts TextsOf(const Block& block) {
  const auto& [labels, indices, values] = std::tie(block.columns[0], block.columns[1], block.columns[2]);
  EXPECT_TRUE(labels.stacked());
  LibSvmColumnsTexts rows;
  for (int i = 0; i < labels.rows(); ++i) {
    rows.push_back(Cat("label=", *labels.row(i).data<float>(), ", index=", Numbers<int64_t>(indices.row(i)),
                       ", value=", Numbers<float>(values.row(i))));
  }
  return rows;
}

// The rows of one message made of each `step`-th line of a text, and the errors of the lines that fail.
struct Made {
  LibSvmColumnsTexts rows;
  LibSvmColumnsTexts errors;
};

Made RowsOf(RecordColumns& columns, const std::string& text, size_t step = 1) {
  const OneFile file(text);
  const LineFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, size_t{1} << 20);
  Made made;
  RecordBlock records;
  size_t rows = 0;
  while (reader->Next(records).ok() && !records.records.empty()) {
    columns.Choose(records);
    for (size_t at = 0; at < records.records.size();) {
      absl::Status wrong;
      const size_t added = columns.Add(records, at, step, (records.records.size() - at - 1) / step + 1, wrong);
      rows += added;
      at += (added + (wrong.ok() ? 0 : 1)) * step;
      if (wrong.ok()) continue;
      EXPECT_EQ(KindOf(wrong), ErrorKind::kData);
      made.errors.emplace_back(wrong.message());
    }
  }
  if (rows == 0) return made;
  Block block;
  EXPECT_TRUE(columns.Take(block).ok());
  made.rows = TextsOf(block);
  EXPECT_EQ(made.rows.size(), rows);
  return made;
}

Made RowsOf(const LibSvmLines& lines, const std::string& text, size_t step = 1) {
  return RowsOf(*MakeLibSvmColumns(lines), text, step);
}

TEST(LibSvmColumns, HaveLabelsIndicesAndValues) {
  EXPECT_THAT(RowsOf({}, "1.0 0:0.5 2:1.2\n-2\r\n+3 7:-1e2\t9:.25").rows,
              ElementsAre("label=1, index=[0 2], value=[0.5 1.2]", "label=-2, index=[], value=[]",
                          "label=3, index=[7 9], value=[-100 0.25]"));
  EXPECT_THAT(RowsOf({}, "1\n2\n3\n4 0:1\n5", 2).rows,
              ElementsAre("label=1, index=[], value=[]", "label=3, index=[], value=[]", "label=5, index=[], value=[]"));
}

TEST(LibSvmColumns, LeaveOutWhatIsNoFeature) {
  const Made made = RowsOf({}, "  1:0.5 qid:3\t0:4 5  # 6:7\n\n \t\n# 2 3:4\n2 # c\n");
  EXPECT_THAT(made.rows, ElementsAre("label=1, index=[0 5], value=[4 1]", "label=2, index=[], value=[]"));
  EXPECT_TRUE(made.errors.empty());
}

TEST(LibSvmColumns, CountFromZeroWhateverTheFileDoes) {
  const LibSvmLines lines = {.features = 3, .zero_based = false};
  const Made made = RowsOf(lines, "1 1:5 3:6\n1 0:5\n1 4:5\n1 3:1 2:1\n");
  EXPECT_THAT(made.rows, ElementsAre("label=1, index=[0 2], value=[5 6]"));
  EXPECT_THAT(made.errors,
              ElementsAre(HasSubstr("field 2 has the index 0; indices are 1 to 3"),
                          HasSubstr("field 2 has the index 4; indices are 1 to 3"),
                          HasSubstr("field 3 has the index 2 after 3; the indices of a line must ascend")));
}

TEST(LibSvmColumns, NameTheFieldThatIsWrong) {
  const Made made = RowsOf({.features = 9},
                           "x 1:2\n1:y 1:2\n1 0:1 z\n1 0:1 1:\n1 :2\n1 -1:2\n1 9:2\n1 2:1 2:1\n1 1:2 qid:3\n"
                           "1 0:1:2\n1 1.0:2\n1,2 0:1\n1 0:1e99\n7 8:9\n");
  EXPECT_THAT(made.errors,
              ElementsAre(HasSubstr("field 1 is x; it must be a label, a number: x 1:2"), HasSubstr("field 1 is 1:y"),
                          HasSubstr("field 3 is z; it must be index:value, such as 7:0.5: 1 0:1 z"),
                          HasSubstr("field 3 is 1:;"), HasSubstr("field 2 is :2"),
                          HasSubstr("field 2 has the index -1; indices are 0 to 8"),
                          HasSubstr("field 2 has the index 9; indices are 0 to 8"),
                          HasSubstr("field 3 has the index 2 after 2; the indices of a line must ascend"),
                          HasSubstr("field 3 is qid:3"), HasSubstr("field 2 is 0:1:2"), HasSubstr("field 2 is 1.0:2"),
                          HasSubstr("field 1 is 1,2"), HasSubstr("field 2 is 0:1e99")));
  // Features of lines that failed are not those of the next one.
  EXPECT_THAT(made.rows, ElementsAre("label=7, index=[8], value=[9]"));
}

TEST(LibSvmColumns, KeepNothingOfTheMessageBefore) {
  const auto columns = MakeLibSvmColumns({});
  for (const int i : {1, 2}) {
    columns->Expect(4);
    const std::string label = std::to_string(i);
    EXPECT_THAT(RowsOf(*columns, label + " 3:" + label + "\n" + label).rows,
                ElementsAre("label=" + label + ", index=[3], value=[" + label + "]",
                            "label=" + label + ", index=[], value=[]"));
  }
}

TEST(LibSvmColumns, HoldMoreFeaturesThanExpected) {
  std::string text;
  for (int row = 0; row < 40; ++row) {
    text += std::to_string(row);
    for (int i = 0; i < 100 * (row % 3); ++i) text += " " + std::to_string(i) + ":" + std::to_string(row);
    text += "\n";
  }
  const Made made = RowsOf({}, text);
  ASSERT_EQ(made.rows.size(), 40);
  EXPECT_THAT(made.rows[38], HasSubstr("label=38, index=[0 1 2"));
  EXPECT_THAT(made.rows[38], HasSubstr("198 199], value=[38 38"));
}

}  // namespace
}  // namespace headrace

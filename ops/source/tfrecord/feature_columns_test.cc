#include "ops/source/tfrecord/feature_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/block.h"
#include "io/files/testing/one_file.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "io/formats/tfrecord/tf_record_format.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using TypedFeatures = std::vector<std::pair<std::string, ir::ColumnType>>;
using FeatureTexts = std::vector<std::string>;

constexpr int64_t kAny = ir::kUnknownDim;

ir::ColumnType IntsOf(Shape shape = {}) { return ir::ColumnType::Of(DType::kInt64, std::move(shape)); }
ir::ColumnType FloatsOfShape(Shape shape = {}) { return ir::ColumnType::Of(DType::kFloat32, std::move(shape)); }
ir::ColumnType BytesOfShape(Shape shape = {}) { return ir::ColumnType::Of(DType::kBytes, std::move(shape)); }
ir::ColumnType TextsOfShape(Shape shape = {}) { return ir::ColumnType::Of(DType::kString, std::move(shape)); }

// The rows of one message made of records, and the errors of those that fail.
struct MadeRows {
  FeatureTexts rows;
  FeatureTexts errors;
  std::vector<bool> stacked;  // whether the columns are
};

class FeatureColumnsTest : public ::testing::Test {
 protected:
  void Features(const TypedFeatures& features) {
    schema_ = ir::Schema();
    for (const auto& [name, type] : features) schema_.columns.push_back({name, type});
    fills_.assign(features.size(), std::nullopt);
  }
  void Fill(size_t column, const std::string& json) {
    fills_[column] = *ParseFeatureFill(json, schema_.columns[column]);
  }
  std::unique_ptr<RecordColumns> Columns() const {
    return MakeFeatureColumns(schema_.columns, fills_, PayloadCrc::kCheck);
  }

  MadeRows Make(RecordColumns& columns, const std::string& bytes, size_t step = 1, size_t block_bytes = 1 << 20) const {
    const OneFile file(bytes);
    const TfRecordFormat format;
    const auto reader = *format.Open(file, "f", {}, 0, block_bytes);
    MadeRows made;
    RecordBlock records;
    size_t rows = 0;
    while (reader->Next(records).ok() && !records.records.empty()) {
      for (size_t at = 0; at < records.records.size();) {
        absl::Status wrong;
        const size_t added = columns.Add(records, at, step, (records.records.size() - at - 1) / step + 1, wrong);
        rows += added;
        at += (added + (wrong.ok() ? 0 : 1)) * step;
        if (wrong.ok()) continue;
        EXPECT_EQ(KindOf(wrong), ErrorKind::kData) << wrong;
        made.errors.emplace_back(ToStd(wrong.message()));
      }
    }
    if (rows == 0) return made;
    Block block;
    EXPECT_TRUE(columns.Take(block).ok());
    for (size_t i = 0; i < rows; ++i) {
      std::vector<Tensor> row;
      for (const BlockColumn& column : block.columns) row.push_back(column.row(static_cast<int>(i)));
      made.rows.push_back(RowText(schema_, row));
      EXPECT_TRUE(ir::FitsSchema(schema_, row)) << made.rows.back();
    }
    for (const BlockColumn& column : block.columns) {
      EXPECT_EQ(column.rows(), static_cast<int>(rows));
      made.stacked.push_back(column.stacked());
    }
    return made;
  }
  MadeRows Make(const std::vector<NamedMessages>& examples, size_t step = 1) const {
    std::vector<std::string> payloads;
    for (const NamedMessages& example : examples) payloads.push_back(ExampleBytes(example));
    return Make(*Columns(), TfRecordBytes(payloads), step);
  }
  FeatureTexts Errors(const std::vector<NamedMessages>& examples) const { return Make(examples).errors; }

  ir::Schema schema_;
  std::vector<std::optional<FeatureFill>> fills_;
};

TEST_F(FeatureColumnsTest, HaveTheValuesOfFeatures) {
  Features({{"i", IntsOf()}, {"f", FloatsOfShape({2})}, {"b", BytesOfShape()}, {"t", TextsOfShape()}});
  const MadeRows made = Make({{{"t", BytesFeature({"\xc3\xa4"})},
                               {"i", Int64Feature({-1})},
                               {"f", FloatFeature({0.5f, 2})},
                               {"b", BytesFeature({std::string("\0\xff", 2)})}},
                              {{"other", Int64Feature({5})},
                               {"b", BytesFeature({""})},
                               {"f", FloatFeature({1, -1}, Packing::kSingle)},
                               {"i", Int64Feature({300}, Packing::kSingle)},
                               {"t", BytesFeature({""})}}});
  EXPECT_THAT(made.errors, IsEmpty());
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_THAT(made.rows[0], HasSubstr("i=-1, f=float32 (2,) [0.5 2]"));
  EXPECT_THAT(made.rows[1], HasSubstr("i=300, f=float32 (2,) [1 -1], b='', t=''"));
  EXPECT_THAT(made.stacked, ElementsAre(true, true, true, true)) << "nothing is allocated for a row";
}

TEST_F(FeatureColumnsTest, HaveRowsOfOtherLengths) {
  Features({{"i", IntsOf({kAny})}, {"f", FloatsOfShape({kAny, 2})}, {"b", BytesOfShape({kAny})}});
  const MadeRows made =
      Make({{{"i", Int64Feature({1, 2, 3})}, {"f", FloatFeature({1, 2, 3, 4})}, {"b", BytesFeature({"x", "", "yz"})}},
            {{"i", Int64Feature({})}, {"f", FloatFeature({})}, {"b", BytesFeature({})}},
            {{"b", BytesFeature({"a"})}, {"i", Int64Feature({4})}, {"f", FloatFeature({5, 6})}}});
  EXPECT_THAT(made.errors, IsEmpty());
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_THAT(made.rows[0], HasSubstr("i=int64 (3,) [1 2 3], f=float32 (2, 2) [1 2 3 4]"));
  EXPECT_THAT(made.rows[1], HasSubstr("i=int64 (0,) []"));
  EXPECT_THAT(made.rows[2], HasSubstr("i=int64 (1,) [4], f=float32 (1, 2) [5 6]"));
}

TEST_F(FeatureColumnsTest, TakeEachStepOfAFeatureListAsTheFirstAxis) {
  Features({{"id", IntsOf()}, {"s", IntsOf({kAny})}, {"v", FloatsOfShape({kAny, 2})}, {"w", IntsOf({kAny, kAny})}});
  const auto sequence = [](int64_t id, const std::vector<std::string>& s, const std::vector<std::string>& v,
                           const std::vector<std::string>& w) {
    return SequenceExampleBytes({{"id", Int64Feature({id})}},
                                {{"s", FeatureListBytes(s)}, {"v", FeatureListBytes(v)}, {"w", FeatureListBytes(w)}});
  };
  const MadeRows made =
      Make(*Columns(), TfRecordBytes({sequence(1, {Int64Feature({7}), Int64Feature({8})}, {FloatFeature({1, 2})},
                                               {Int64Feature({1, 2, 3}), Int64Feature({4, 5, 6})}),
                                      sequence(2, {}, {}, {Int64Feature({1}), Int64Feature({2})})}));
  EXPECT_THAT(made.errors, IsEmpty());
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_EQ(made.rows[0], "id=1, s=int64 (2,) [7 8], v=float32 (1, 2) [1 2], w=int64 (2, 3) [1 2 3 4 5 6]");
  EXPECT_THAT(made.rows[1], HasSubstr("w=int64 (2, 1) [1 2]"));
}

TEST_F(FeatureColumnsTest, SayWhatIsWrongWithAFeatureList) {
  Features({{"s", IntsOf({kAny})}});
  const auto error = [&](const std::vector<std::string>& steps) {
    const MadeRows made = Make(*Columns(), TfRecordBytes({SequenceExampleBytes({}, {{"s", FeatureListBytes(steps)}})}));
    return made.errors.empty() ? "" : made.errors[0];
  };
  EXPECT_EQ(error({Int64Feature({1})}), "");
  EXPECT_THAT(
      error({Int64Feature({1, 2}), Int64Feature({3, 4})}),
      HasSubstr("a feature list with 2 values in each step; the column's type is int64 (None,); if the values are "
                "right, state features={\"s\": (\"int64\", (None, 2)), …}"));
  EXPECT_THAT(error({Int64Feature({1}), Int64Feature({})}), HasSubstr("different numbers of values, 1 in 2 steps"));
  EXPECT_THAT(error({Int64Feature({1}), FloatFeature({1})}), HasSubstr("steps of int64 and of float32 values"));
  Features({{"s", IntsOf()}});
  EXPECT_THAT(error({Int64Feature({1})}), HasSubstr("a feature list of 1 step; the column's type is int64 ()"));
  Features({{"s", IntsOf({3})}});
  EXPECT_THAT(error({Int64Feature({1})}), HasSubstr("a feature list of 1 step"));
  Features({{"s", IntsOf({kAny, kAny})}});
  EXPECT_THAT(Errors({{{"s", Int64Feature({1, 2})}}}), ElementsAre(HasSubstr("\"s\" is not a feature list")));
}

TEST_F(FeatureColumnsTest, SayWhatIsWrongWithAFeature) {
  Features({{"x", IntsOf()}});
  EXPECT_THAT(Errors({{{"x", FloatFeature({1})}},
                      {{"x", BytesFeature({"1"})}},
                      {{"x", Int64Feature({})}},
                      {{"x", Int64Feature({1, 2})}},
                      {{"a", Int64Feature({1})}, {"b", Int64Feature({1})}},
                      {{"x", ""}}}),
              ElementsAre(HasSubstr("\"x\" has float32 values; the column's type is int64 (); if the values are right, "
                                    "state features={\"x\": \"float32\", …}"),
                          HasSubstr("\"x\" has bytes values"),
                          HasSubstr("\"x\" has 0 values; the column's type is int64 (); if the values are right, state "
                                    "features={\"x\": (\"int64\", (None,)), …}"),
                          HasSubstr("\"x\" has 2 values"),
                          HasSubstr("the record has no feature \"x\"; say what stands for it, such as features={\"x\": "
                                    "(\"int64\", (), 0), …}; it has a, b"),
                          HasSubstr("the record's feature \"x\" has no values of any kind; say what")));
  Features({{"x", FloatsOfShape({2, 3})}});
  EXPECT_THAT(Errors({{{"x", FloatFeature({1, 2, 3})}}, {}}),
              ElementsAre(HasSubstr("\"x\" has 3 values; the column's type is float32 (2, 3)"),
                          HasSubstr("(\"float32\", (2, 3), 0)")));
  Features({{"x", FloatsOfShape({kAny, 2})}});
  EXPECT_THAT(Errors({{{"x", FloatFeature({1, 2, 3})}}}), ElementsAre(HasSubstr("\"x\" has 3 values")));
  Features({{"x", TextsOfShape()}});
  EXPECT_THAT(
      Errors({{{"x", BytesFeature({"\xff"})}}}),
      ElementsAre(HasSubstr("\"x\" is not UTF-8: \\xff; read it as bytes: state features={\"x\": \"bytes\", …}")));
}

TEST_F(FeatureColumnsTest, FillWhatIsMissing) {
  Features({{"i", IntsOf()},
            {"f", FloatsOfShape({3})},
            {"b", BytesOfShape()},
            {"r", IntsOf({kAny})},
            {"n", IntsOf({kAny, 2})}});
  Fill(0, "-1");
  Fill(1, "0.5");
  Fill(2, "\"none\"");
  Fill(3, "[1, 2]");
  const MadeRows made =
      Make({{}, {{"i", Int64Feature({4})}, {"b", ""}, {"f", FloatFeature({1, 2, 3})}, {"r", Int64Feature({})}}});
  EXPECT_THAT(made.errors, IsEmpty());
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_THAT(made.rows[0],
              HasSubstr("i=-1, f=float32 (3,) [0.5 0.5 0.5], b='none', r=int64 (2,) [1 2], n=int64 (0, 2)"));
  EXPECT_THAT(made.rows[1], HasSubstr("i=4, f=float32 (3,) [1 2 3], b='none', r=int64 (0,) []"));
}

// A row that fails leaves nothing behind, whichever of its columns is wrong.
TEST_F(FeatureColumnsTest, GoOnAfterARowThatFails) {
  Features({{"i", IntsOf()}, {"r", IntsOf({kAny})}, {"t", TextsOfShape({kAny})}, {"b", BytesOfShape()}});
  const auto row = [](int64_t i, const std::string& text, const std::vector<std::string>& bytes) {
    return NamedMessages{{"i", Int64Feature({i})},
                         {"r", Int64Feature({i, i})},
                         {"t", BytesFeature({"good", text})},
                         {"b", BytesFeature(bytes)}};
  };
  const MadeRows made = Make({row(1, "a", {"x"}), row(2, "\xff", {"y"}), row(3, "c", {}), row(4, "d", {"z"})});
  EXPECT_EQ(made.errors.size(), 2u);
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_THAT(made.rows[0], HasSubstr("i=1, r=int64 (2,) [1 1]"));
  EXPECT_THAT(made.rows[0], HasSubstr("b='x'"));
  EXPECT_THAT(made.rows[1], HasSubstr("i=4, r=int64 (2,) [4 4]"));
  EXPECT_THAT(made.rows[1], HasSubstr("b='z'"));
}

TEST_F(FeatureColumnsTest, TakeEachStepThRecord) {
  Features({{"i", IntsOf()}});
  std::vector<NamedMessages> examples;
  for (int64_t i = 0; i < 7; ++i) examples.push_back({{"i", Int64Feature({i})}});
  EXPECT_THAT(Make(examples, 3).rows, ElementsAre("i=0", "i=3", "i=6"));
}

TEST_F(FeatureColumnsTest, CheckTheChecksum) {
  Features({{"i", IntsOf()}});
  std::string bytes =
      TfRecordBytes({ExampleBytes({{"i", Int64Feature({1})}}), ExampleBytes({{"i", Int64Feature({2})}})});
  bytes[bytes.size() - 5] ^= 1;
  const MadeRows made = Make(*Columns(), bytes);
  EXPECT_THAT(made.rows, ElementsAre("i=1"));
  EXPECT_THAT(made.errors, ElementsAre(HasSubstr("the record's CRC is not that")));
  const auto payload = MakePayloadColumn(PayloadCrc::kCheck);
  schema_ = {{{"record", BytesOfShape()}}};
  EXPECT_THAT(Make(*payload, bytes).errors, ElementsAre(HasSubstr("the record's CRC is not that")));
}

TEST_F(FeatureColumnsTest, NameTheByteThatIsNotPartOfAnExample) {
  Features({{"i", IntsOf()}});
  const MadeRows made =
      Make(*Columns(), TfRecordBytes({"no message", ExampleBytes({{"i", FieldBytes(3, "\x0a\x09")}})}));
  EXPECT_THAT(made.errors, ElementsAre(HasSubstr("what is wrong begins at its byte 0 of 10"),
                                       HasSubstr("what is wrong begins at its byte 11 of 13")));
}

TEST_F(FeatureColumnsTest, KeepNothingOfTheMessageBefore) {
  Features({{"i", IntsOf({kAny})}, {"b", BytesOfShape()}});
  const auto columns = Columns();
  for (const int64_t i : {1, 2}) {
    const MadeRows made = Make(
        *columns, TfRecordBytes({ExampleBytes({{"i", Int64Feature({i})}, {"b", BytesFeature({std::to_string(i)})}})}));
    EXPECT_THAT(made.rows, ElementsAre(Cat("i=int64 (1,) [", i, "], b='", i, "'")));
  }
}

// Long byte strings stay where they were read, short ones are copied.
TEST_F(FeatureColumnsTest, GiveViewsOfLongBytes) {
  Features({{"b", BytesOfShape()}});
  const std::string longer(100'000, 'x');
  std::vector<std::string> payloads(3, ExampleBytes({{"b", BytesFeature({longer})}}));
  const OneFile file(TfRecordBytes(payloads));
  const TfRecordFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, 1 << 20);
  RecordBlock records;
  ASSERT_TRUE(reader->Next(records).ok());
  const auto columns = Columns();
  absl::Status wrong;
  const size_t added = columns->Add(records, 0, 1, records.records.size(), wrong);
  ASSERT_GT(added, 1u);
  Block block;
  ASSERT_TRUE(columns->Take(block).ok());
  EXPECT_EQ(block.columns[0].row(0).buffer().get(), records.buffer.get());
}

TEST(PayloadColumn, HasTheBytesOfRecords) {
  const OneFile file(TfRecordBytes({"one", "", "three"}));
  const TfRecordFormat format;
  const auto reader = *format.Open(file, "f", {}, 0, 4096);
  RecordBlock records;
  ASSERT_TRUE(reader->Next(records).ok());
  const auto columns = MakePayloadColumn(PayloadCrc::kCheck);
  absl::Status wrong;
  EXPECT_EQ(columns->Add(records, 0, 1, 3, wrong), 3u);
  Block block;
  ASSERT_TRUE(columns->Take(block).ok());
  EXPECT_EQ(block.columns[0].row(2).bytes_value(), "three");
}

}  // namespace
}  // namespace headrace

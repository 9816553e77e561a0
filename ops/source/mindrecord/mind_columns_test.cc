#include "ops/source/mindrecord/mind_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/mindrecord/packed_integers.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A blob with the bytes of numbers.
template <typename T>
std::string BytesOfNumbers(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

// Rows that are made of a layout, and what came of them.
class MadeRows {
 public:
  // Fields are in order of their names; those in blobs come in that order, too.
  explicit MadeRows(std::vector<MindField> fields, bool packed = true) {
    layout_.packed = packed;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].in_blob()) layout_.blob_fields.push_back(i);
    }
    layout_.fields = std::move(fields);
  }
  // As texts, one a row; an error is the last of them.
  std::vector<std::string> Make(const std::vector<MindBytesRow>& rows, std::vector<int> wanted = {}) {
    if (wanted.empty()) {
      for (size_t i = 0; i < layout_.fields.size(); ++i) wanted.push_back(static_cast<int>(i));
    }
    ir::Schema schema;
    for (const int field : wanted) {
      const MindField& of = layout_.fields[static_cast<size_t>(field)];
      schema.columns.push_back({of.name, ir::ColumnType::Of(of.dtype, of.shape)});
    }
    std::vector<BufferRef> buffers;
    std::vector<MindRowBytes> bytes;
    buffers.reserve(rows.size());
    for (const MindBytesRow& row : rows) {
      buffers.push_back(BufferPool::Global().Allocate(row.blob.size()));
      if (!row.blob.empty()) std::memcpy(buffers.back()->data(), row.blob.data(), row.blob.size());
      const auto* const blob = reinterpret_cast<const char*>(buffers.back()->data());
      bytes.push_back({row.scalars, {blob, row.blob.size()}, &buffers.back()});
    }
    MindBlockColumns columns;
    MindDamage damage;
    const size_t good = MindColumns(layout_, wanted).Make(bytes, columns, damage);
    std::vector<std::string> texts;
    for (size_t row = 0; row < good; ++row) {
      std::vector<Tensor> values;
      for (const BlockColumn& column : columns) {
        EXPECT_EQ(column.rows(), static_cast<int>(good));
        values.push_back(column.row(static_cast<int>(row)));
      }
      EXPECT_TRUE(ir::FitsSchema(schema, values));
      texts.push_back(RowText(schema, values));
    }
    EXPECT_EQ(good == rows.size(), damage.status.ok());
    if (!damage.status.ok()) texts.push_back(std::string(ToStd(damage.status.message())));
    columns_ = std::move(columns);
    return texts;
  }
  const MindBlockColumns& columns() const { return columns_; }

 private:
  MindLayout layout_;
  MindBlockColumns columns_;
};

MindBytesRow ScalarRow(const std::string& value) { return {MindMap({{"x", value}}), std::string(4, '\0')}; }

TEST(MindColumns, HaveScalarsInOneBuffer) {
  MadeRows made({{"a", DType::kInt32}, {"b", DType::kFloat64}, {"t", DType::kString}});
  const auto row = [](int64_t a, double b, std::string_view t) {
    return MindBytesRow{MindMap({{"a", MindWhole(a)}, {"b", MindReal(b)}, {"t", MindText(t)}}), ""};
  };
  EXPECT_THAT(made.Make({row(1, 0.5, "one"), row(-2, -3, "")}), ElementsAre("a=1, b=0.5, t='one'", "a=-2, b=-3, t=''"));
  for (const BlockColumn& column : made.columns()) EXPECT_TRUE(column.stacked());
  EXPECT_THAT(made.Make({row(7, 1, "x")}), ElementsAre("a=7, b=1, t='x'"));
  EXPECT_THAT(made.Make({row(7, 1, "x"), row(8, 2, "y")}, {2, 0}), ElementsAre("t='x', a=7", "t='y', a=8"));
}

TEST(MindColumns, TakeKeysInAnyOrderAndLeaveOthersOut) {
  MadeRows made({{"a", DType::kInt32}, {"b", DType::kInt32}});
  const std::string nested("\x92\x01\x80", 3);
  EXPECT_THAT(
      made.Make({{MindMap({{"b", MindWhole(2)}, {"id", nested}, {"a", MindWhole(1)}, {"zz", MindText("")}}), ""}}),
      ElementsAre("a=1, b=2"));
  EXPECT_THAT(made.Make({{MindMap({{"a", MindWhole(1)}, {"b", MindWhole(2)}, {"a", MindWhole(3)}}), ""}}),
              ElementsAre("a=3, b=2"));
}

TEST(MindColumns, ConvertEachFormOfNumbersThatFits) {
  const auto of = [](DType dtype, const std::string& value) {
    return MadeRows({{"x", dtype}}).Make({ScalarRow(value)})[0];
  };
  EXPECT_EQ(of(DType::kInt32, MindReal(3)), "x=3");
  EXPECT_EQ(of(DType::kInt64, MindReal(-9223372036854775808.0)), "x=-9223372036854775808");
  EXPECT_EQ(of(DType::kInt64, MindWhole(INT64_MAX)), "x=9223372036854775807");
  EXPECT_EQ(of(DType::kFloat32, MindWhole(-3)), "x=-3");
  EXPECT_EQ(of(DType::kFloat64, MindWhole(-3)), "x=-3");
  EXPECT_EQ(of(DType::kFloat32, MindReal(0.5)), "x=0.5");
  EXPECT_EQ(of(DType::kFloat32, MindReal(std::numeric_limits<double>::infinity())), "x=inf");
  for (const auto& [dtype, value] :
       std::vector<std::pair<DType, std::string>>{{DType::kInt32, MindWhole(int64_t{1} << 31)},
                                                  {DType::kInt32, MindWhole(-(int64_t{1} << 31) - 1)},
                                                  {DType::kInt32, MindReal(1.5)},
                                                  {DType::kInt64, MindReal(9223372036854775808.0)},
                                                  {DType::kInt64, MindReal(std::numeric_limits<double>::quiet_NaN())},
                                                  {DType::kFloat32, MindReal(1e300)},
                                                  {DType::kFloat32, MindWhole(16777217)},
                                                  {DType::kFloat64, MindWhole((int64_t{1} << 53) + 1)},
                                                  {DType::kInt32, MindText("3")},
                                                  {DType::kFloat64, "\xc3"},
                                                  {DType::kString, MindWhole(3)}}) {
    EXPECT_THAT(of(dtype, value), HasSubstr(Cat("the field's type is ", DTypeName(dtype))));
  }
  EXPECT_THAT(of(DType::kString, MindText("\xff")), HasSubstr("not UTF-8"));
}

TEST(MindColumns, NameScalarsThatAreDamaged) {
  MadeRows made({{"x", DType::kInt32}});
  const std::vector<MindBytesRow> rows = {ScalarRow(MindWhole(1)), ScalarRow(MindWhole(2))};
  const auto with = [&](std::string scalars) {
    std::vector<MindBytesRow> damaged = rows;
    damaged.push_back({std::move(scalars), ""});
    damaged.push_back(rows[0]);
    return made.Make(damaged);
  };
  EXPECT_THAT(with(MindMap({})), ElementsAre("x=1", "x=2", HasSubstr("the row has no value of \"x\"")));
  EXPECT_THAT(with(""), ElementsAre("x=1", "x=2", HasSubstr("they are no map of MessagePack")));
  EXPECT_THAT(with("\x81"), ElementsAre("x=1", "x=2", HasSubstr("begins at their byte 1")));
  EXPECT_THAT(with(rows[0].scalars + "x"), ElementsAre("x=1", "x=2", HasSubstr("begins at their byte")));
}

TEST(MindColumns, HaveArraysOfTheirShape) {
  MadeRows made({{"v", DType::kInt64, true, {2, 2}}});
  const auto packed = [](std::vector<int64_t> values) { return MindBytesRow{"", PackedIntegers::Pack(values)}; };
  EXPECT_THAT(made.Make({packed({1, 300, -70000, 4}), packed({5, 6, 7, 8})}),
              ElementsAre("v=int64 (2, 2) [1 300 -70000 4]", "v=int64 (2, 2) [5 6 7 8]"));
  EXPECT_TRUE(made.columns()[0].stacked());
  EXPECT_THAT(
      made.Make({packed({5, 6, 7, 8}), packed({1, 2})}),
      ElementsAre("v=int64 (2, 2) [5 6 7 8]", HasSubstr("it has 2 elements, which do not make the shape (2, 2)")));
  MadeRows any({{"v", DType::kInt32, true, {2, -1}}});
  EXPECT_THAT(any.Make({packed({1, 2}), packed({}), packed({1, 2, 3, 4})}),
              ElementsAre("v=int32 (2, 1) [1 2]", "v=int32 (2, 0) []", "v=int32 (2, 2) [1 2 3 4]"));
  EXPECT_THAT(any.Make({packed({1, 2, 3})}), ElementsAre(HasSubstr("the array \"v\": it has 3 elements")));
  EXPECT_THAT(any.Make({packed({1, 2}), packed({1, int64_t{1} << 40})}),
              ElementsAre("v=int32 (2, 1) [1 2]", HasSubstr("element 1 is 1099511627776")));
}

TEST(MindColumns, HaveArraysThatAreNotPacked) {
  MadeRows second({{"v", DType::kInt32, true, {-1}}}, false);
  EXPECT_THAT(second.Make({{"", BytesOfNumbers<int32_t>({1, -2, 3})}}), ElementsAre("v=int32 (3,) [1 -2 3]"));
  EXPECT_THAT(second.Make({{"", "abc"}}), ElementsAre(HasSubstr("its 3 bytes are no whole number of int32")));
  MadeRows reals({{"v", DType::kFloat32, true, {-1}}});
  EXPECT_THAT(reals.Make({{"", BytesOfNumbers<float>({0.5f, -1})}}), ElementsAre("v=float32 (2,) [0.5 -1]"));
}

TEST(MindColumns, HaveFieldsOfOneBlob) {
  MadeRows made({{"b", DType::kBytes}, {"n", DType::kInt32}, {"v", DType::kFloat64, true, {1}}});
  const auto row = [](int64_t n, const std::string& b, double v) {
    return MindBytesRow{MindMap({{"n", MindWhole(n)}}), MindFrames({b, BytesOfNumbers<double>({v})})};
  };
  EXPECT_THAT(made.Make({row(1, "one", 0.5), row(2, "", -1)}),
              ElementsAre("b='one', n=1, v=float64 (1,) [0.5]", "b='', n=2, v=float64 (1,) [-1]"));
  EXPECT_THAT(made.Make({row(1, "one", 0.5)}, {0}), ElementsAre("b='one'"));
  EXPECT_THAT(made.Make({row(1, "one", 0.5), {MindMap({{"n", MindWhole(2)}}), "?"}}),
              ElementsAre("b='one', n=1, v=float64 (1,) [0.5]", HasSubstr("ends before its field number 0")));
}

TEST(MindColumns, EndAtTheFirstRowThatIsDamagedInAnyColumn) {
  MadeRows made({{"a", DType::kFloat32, true, {1}}, {"b", DType::kFloat32, true, {1}}, {"n", DType::kInt32}});
  const std::string good = BytesOfNumbers<float>({1});
  const std::string scalars = MindMap({{"n", MindWhole(1)}});
  const std::vector<MindBytesRow> rows = {{scalars, MindFrames({good, good})},
                                          {scalars, MindFrames({good, "bad"})},
                                          {scalars, MindFrames({"bad", good})},
                                          {"", MindFrames({good, good})}};
  EXPECT_THAT(made.Make(rows),
              ElementsAre("a=float32 (1,) [1], b=float32 (1,) [1], n=1", HasSubstr("the array \"b\"")));
}

TEST(MindColumns, NeedWhatTheirFieldsNeed) {
  MindLayout layout;
  layout.fields = {{"b", DType::kBytes}, {"n", DType::kInt32}};
  layout.blob_fields = {0};
  EXPECT_TRUE(MindColumns(layout, {1}).needs_scalars());
  EXPECT_FALSE(MindColumns(layout, {1}).needs_blobs());
  EXPECT_FALSE(MindColumns(layout, {0}).needs_scalars());
  EXPECT_TRUE(MindColumns(layout, {0}).needs_blobs());
}

}  // namespace
}  // namespace headrace

#include "io/formats/arrow/arrow_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/error.h"
#include "io/formats/arrow/arrow_metadata.h"
#include "io/formats/arrow/arrow_owner.h"
#include "io/formats/arrow/arrow_table.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Int32Tensor(absl::Span<const int64_t> shape) {
  Tensor tensor = *Tensor::Allocate(DType::kInt32, shape);
  std::iota(tensor.mutable_data<int32_t>(), tensor.mutable_data<int32_t>() + tensor.elements(), 0);
  return tensor;
}

Tensor Splits(const std::vector<int64_t>& splits) {
  Tensor tensor = *Tensor::Allocate(DType::kInt64, {static_cast<int64_t>(splits.size())});
  std::copy(splits.begin(), splits.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

// What was exported, read again.
std::shared_ptr<const ArrowTable> ReadAgain(const std::vector<ExportedColumn>& columns,
                                            const ArrowChoices& choices = {}) {
  ArrowOwner<ArrowSchema> schema;
  ArrowOwner<ArrowArray> array;
  EXPECT_TRUE(ExportArrowSchema(columns, *schema.get()).ok());
  EXPECT_TRUE(ExportArrow(columns, *ExportedRows(columns), *array.get()).ok());
  auto table = ArrowTable::Of(*ArrowMapping::Of(*schema, choices), {KeepArrow(std::move(array))});
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

Tensor RowOfTable(const ArrowTable& table, uint64_t row) {
  const ArrowTable::Place place = table.Find(row);
  return *place.batch->column(0).Row(place.row);
}

absl::Status Refusal(const std::vector<ExportedColumn>& columns) {
  const auto rows = ExportedRows(columns);
  if (!rows.ok()) return rows.status();
  ArrowOwner<ArrowSchema> schema;
  ArrowOwner<ArrowArray> array;
  absl::Status exported = ExportArrowSchema(columns, *schema.get());
  return exported.ok() ? ExportArrow(columns, *rows, *array.get()) : exported;
}

TEST(ArrowExport, SharesNumbers) {
  const Tensor numbers = Int32Tensor({3});
  const auto table = ReadAgain({{"x", numbers}});
  EXPECT_EQ(table->rows(), 3u);
  EXPECT_EQ(RowOfTable(*table, 1).raw(), numbers.raw() + 4);
}

TEST(ArrowExport, GivesFurtherAxesAsTensors) {
  const Tensor images = Int32Tensor({2, 2, 3});
  ArrowOwner<ArrowSchema> schema;
  ASSERT_TRUE(ExportArrowSchema({{"x", images}}, *schema.get()).ok());
  EXPECT_STREQ(schema->children[0]->format, "+w:6");
  const auto metadata = *ArrowMetadata(schema->children[0]->metadata);
  EXPECT_EQ(metadata[0].second, "arrow.fixed_shape_tensor");
  EXPECT_EQ(metadata[1].second, "{\"shape\":[2,3]}");
  const auto table = ReadAgain({{"x", images}}, {.shapes = {{"x", {2, 3}}}});
  EXPECT_TRUE(TensorsEqual(RowOfTable(*table, 1), images.Index(1)));
}

TEST(ArrowExport, PacksBools) {
  Tensor bools = *Tensor::Allocate(DType::kBool, {9});
  for (int i = 0; i < 9; ++i) bools.mutable_raw()[i] = i % 2;
  const auto table = ReadAgain({{"x", bools}});
  for (int i = 0; i < 9; ++i) EXPECT_EQ(RowOfTable(*table, static_cast<uint64_t>(i)).raw()[0], i % 2);
}

TEST(ArrowExport, GivesTextsAndListsOfThem) {
  const std::vector<std::string_view> texts = {"a", "", "ccc", "d"};
  const Tensor flat = *Tensor::CopyBytesArray(DType::kString, {4}, texts);
  EXPECT_EQ(RowOfTable(*ReadAgain({{"x", flat}}), 2).bytes_value(), "ccc");
  // Of a part of an array.
  EXPECT_EQ(RowOfTable(*ReadAgain({{"x", flat.Slice(0, 2, 2)}}), 1).bytes_value(), "d");
  const Tensor pairs = *Tensor::CopyBytesArray(DType::kString, {2, 2}, texts);
  EXPECT_EQ(RowOfTable(*ReadAgain({{"x", pairs}}), 1).bytes_at(0), "ccc");
}

TEST(ArrowExport, GivesRaggedColumnsAsLists) {
  const Tensor values = Int32Tensor({4});
  const auto table = ReadAgain({{"x", values, Splits({0, 1, 1, 4})}});
  EXPECT_EQ(table->rows(), 3u);
  EXPECT_THAT(RowOfTable(*table, 1).shape(), ElementsAre(0));
  EXPECT_TRUE(TensorsEqual(RowOfTable(*table, 2), values.Slice(0, 1, 3)));
}

TEST(ArrowExport, LeavesWhatItsConsumerMovedAway) {
  ArrowOwner<ArrowArray> child;
  const Tensor numbers = Int32Tensor({3});
  {
    ArrowOwner<ArrowArray> array;
    ASSERT_TRUE(ExportArrow({{"x", numbers}}, 3, *array.get()).ok());
    child = ArrowOwner<ArrowArray>::Take(*array->children[0]);
  }
  EXPECT_EQ(static_cast<const int32_t*>(child->buffers[1])[2], 2);
}

TEST(ArrowExport, RefusesWhatArrowLacks) {
  EXPECT_THAT(std::string(Refusal({{"x", *Tensor::Scalar<int32_t>(1)}}).message()),
              HasSubstr("column \"x\" is one value; write batch(n)"));
  EXPECT_THAT(std::string(Refusal({{"x", Int32Tensor({2})}, {"y", Int32Tensor({3})}}).message()),
              HasSubstr("columns \"x\" and \"y\" have 2 and 3 rows"));
  EXPECT_THAT(std::string(Refusal({{"x", *Tensor::Allocate(DType::kBFloat16, {2})}}).message()),
              HasSubstr("bfloat16, which Arrow does not have"));
  EXPECT_THAT(std::string(Refusal({{"x", *Tensor::CopyBytesArray(DType::kString, {1}, {"\xFF"})}}).message()),
              HasSubstr("not UTF-8"));
}

TEST(ArrowMetadata, RefusesMoreEntriesThanItMayHave) {
  const int32_t count = 0x7FFFFFFF;
  const std::string block(reinterpret_cast<const char*>(&count), sizeof(count));
  EXPECT_EQ(KindOf(ArrowMetadata(block.data()).status()), ErrorKind::kData);
}

}  // namespace
}  // namespace headrace

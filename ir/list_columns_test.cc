#include "ir/list_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace headrace::ir {
namespace {

using testing::ElementsAre;

Column ColumnOf(const std::string& name, Shape shape, bool ragged = false) {
  Column column;
  column.name = name;
  column.type.dtype = ragged ? DType::kInt64 : DType::kFloat32;
  column.type.shape = std::move(shape);
  column.type.ragged = ragged;
  return column;
}

Schema SchemaOf(std::initializer_list<Column> columns) {
  Schema schema;
  schema.columns = Columns(columns);
  return schema;
}

TEST(ListColumnsTest, ListTakesThePlaceOfItsValuesAndSplits) {
  const Schema schema =
      SchemaOf({ColumnOf("boxes", {kUnknownDim, 4}), ColumnOf("boxes[splits]", {9}, true), ColumnOf("label", {8})});
  const std::vector<DeliveredColumn> delivered = DeliveredColumns(schema);
  ASSERT_EQ(delivered.size(), 2u);
  EXPECT_EQ(delivered[0].column, 0u);
  EXPECT_EQ(delivered[0].splits, 1);
  EXPECT_EQ(delivered[1].column, 2u);
  EXPECT_EQ(delivered[1].splits, -1);
  EXPECT_THAT(*DeliveredShape(schema, delivered[0]), ElementsAre(8, kUnknownDim, 4));
  EXPECT_THAT(*DeliveredShape(schema, delivered[1]), ElementsAre(8));
}

TEST(ListColumnsTest, RowsOfAnUnknownNumberStayUnknown) {
  const Schema schema = SchemaOf({ColumnOf("boxes", {kUnknownDim, 4}), ColumnOf("boxes[splits]", {kUnknownDim}, true)});
  EXPECT_THAT(*DeliveredShape(schema, DeliveredColumns(schema)[0]), ElementsAre(kUnknownDim, kUnknownDim, 4));
}

TEST(ListColumnsTest, SplitsNeedNoShape) {
  Schema schema = SchemaOf({ColumnOf("boxes", {3, 4}), ColumnOf("boxes[splits]", {}, true)});
  EXPECT_THAT(*DeliveredShape(schema, DeliveredColumns(schema)[0]), ElementsAre(kUnknownDim, 3, 4));
  schema.columns.type(1).shape.reset();
  EXPECT_THAT(*DeliveredShape(schema, DeliveredColumns(schema)[0]), ElementsAre(kUnknownDim, 3, 4));
}

TEST(ListColumnsTest, NameAloneMakesNoSplits) {
  const Schema schema = SchemaOf({ColumnOf("boxes", {4}), ColumnOf("boxes[splits]", {9})});
  EXPECT_EQ(DeliveredColumns(schema).size(), 2u);
}

}  // namespace
}  // namespace headrace::ir

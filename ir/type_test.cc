#include "ir/type.h"

#include <gtest/gtest.h>

#include "ir/graph.pb.h"
#include "ir/schema_proto.h"

namespace headrace::ir {
namespace {

TEST(Type, IsNamedAsUsersKnowIt) {
  EXPECT_EQ(TypeName(ColumnType::Of(DType::kUInt8, {kUnknownDim, kUnknownDim, 3})), "uint8 (None, None, 3)");
  EXPECT_EQ(TypeName(ColumnType::Of(DType::kInt32, {})), "int32 ()");
  EXPECT_EQ(TypeName(ColumnType::Of(DType::kInt32, {5})), "int32 (5,)");
  EXPECT_EQ(TypeName(ColumnType::AnyShape(DType::kFloat32)), "float32 of any shape");
  EXPECT_EQ(TypeName(ColumnType::Unknown()), "unknown");
  ColumnType type = ColumnType::Of(DType::kInt64, {kUnknownDim});
  type.ragged = type.optional = true;
  EXPECT_EQ(TypeName(type), "optional ragged int64 (None,)");
  ColumnType box;
  box.shape.emplace();
  box.fields = {{"x", ColumnType::Of(DType::kInt32, {})}, {"name", ColumnType::Of(DType::kString, {})}};
  EXPECT_EQ(TypeName(box), "struct {x: int32 (), name: string ()} ()");
}

TEST(Type, IsFullyKnownWhenEveryRowHasOneDTypeAndShape) {
  EXPECT_TRUE(ColumnType::Of(DType::kUInt8, {224, 224, 3}).fully_known());
  EXPECT_TRUE(ColumnType::Of(DType::kInt32, {}).fully_known());
  EXPECT_FALSE(ColumnType::Of(DType::kUInt8, {kUnknownDim, 3}).fully_known());
  EXPECT_FALSE(ColumnType::AnyShape(DType::kUInt8).fully_known());
  EXPECT_FALSE(ColumnType::Of(DType::kUnknown, {3}).fully_known());
  ColumnType optional = ColumnType::Of(DType::kInt32, {});
  optional.optional = true;
  EXPECT_FALSE(optional.fully_known());
}

TEST(Schema, FindsColumnsByName) {
  const Schema schema = {{{"a", ColumnType::Unknown()}, {"b", ColumnType::Of(DType::kInt8, {})}}};
  EXPECT_EQ(schema.IndexOf("b"), 1);
  EXPECT_EQ(schema.IndexOf("c"), -1);
  EXPECT_EQ(schema.Find("b")->type.dtype, DType::kInt8);
  EXPECT_EQ(schema.Find("c"), nullptr);
  EXPECT_EQ(schema.Names(), (std::vector<std::string>{"a", "b"}));
}

TEST(Schema, FindsEachOfManyColumns) {
  Schema schema;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "c" + std::to_string(i);
    EXPECT_EQ(schema.IndexOf(name), -1);
    schema.columns.push_back({name, ColumnType::Unknown()});
    EXPECT_EQ(schema.IndexOf(name), i);
    EXPECT_EQ(schema.IndexOf("c0"), 0);
  }
  schema.columns.type(70) = ColumnType::Of(DType::kInt8, {});
  const Schema copy = schema;
  EXPECT_EQ(copy.Find("c70")->type.dtype, DType::kInt8);
  EXPECT_EQ(copy, schema);
  EXPECT_EQ(copy.Find("c100"), nullptr);
}

// Every look-up that went through all columns would take hours here.
TEST(Schema, OfManyColumnsComesFromTheWire) {
  Schema schema;
  for (int i = 0; i < 200'000; ++i) schema.columns.push_back({"column " + std::to_string(i), ColumnType::Unknown()});
  absl::StatusOr<Schema> back = SchemaFromProto(SchemaToProto(schema));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->IndexOf("column 199999"), 199'999);
}

TEST(Schema, SurvivesTheWire) {
  ColumnType ragged = ColumnType::Of(DType::kFloat32, {kUnknownDim, 4});
  ragged.ragged = ragged.optional = true;
  ColumnType box;
  box.shape.emplace(1, 2);
  box.fields = {{"x", ragged}};
  const Schema schema = {
      {{"a", ColumnType::Unknown()}, {"b", ragged}, {"c", box}, {"d", ColumnType::Of(DType::kBool, {})}}};
  absl::StatusOr<Schema> back = SchemaFromProto(SchemaToProto(schema));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, schema);
}

TEST(Schema, FromTheWireIsChecked) {
  proto::Columns wire;
  proto::Column* column = wire.add_columns();
  column->set_name("a");
  column->mutable_type()->set_dtype("floaty");
  EXPECT_EQ(SchemaFromProto(wire).status().message(), "column \"a\": no dtype \"floaty\"");
  column->mutable_type()->set_dtype("int8");
  column->mutable_type()->add_shape(-2);
  EXPECT_FALSE(SchemaFromProto(wire).ok());
  column->mutable_type()->clear_shape();
  *wire.add_columns() = wire.columns(0);
  EXPECT_EQ(SchemaFromProto(wire).status().message(), "column \"a\" occurs twice");
}

TEST(Type, OfMoreValuesThanAnyMachineHoldsIsRefused) {
  const auto status_of = [](const Shape& shape) {
    return TypeFromProto(TypeToProto(ColumnType::Of(DType::kUInt8, shape))).status();
  };
  constexpr int64_t kMost = int64_t{1} << 48;
  EXPECT_TRUE(status_of({kMost}).ok());
  EXPECT_TRUE(status_of({kUnknownDim, kMost / 8, 8}).ok());
  EXPECT_EQ(status_of({kMost + 1}).message(),
            "a shape has more than 281474976710656 values; write -1 for a dimension that is not known");
  EXPECT_FALSE(status_of({int64_t{1} << 32, int64_t{1} << 32, 3}).ok());
  EXPECT_FALSE(status_of({0, int64_t{1} << 62, int64_t{1} << 62}).ok());
}

TEST(Type, OfStructsTooDeepIsRefused) {
  proto::ColumnType type;
  type.set_dtype("int32");
  for (int i = 0; i < 500; ++i) {
    proto::ColumnType outer;
    outer.set_dtype("struct");
    outer.add_fields()->mutable_type()->Swap(&type);
    type.Swap(&outer);
  }
  EXPECT_EQ(TypeFromProto(type).status().message(), "structs are nested more than 32 deep");
}

}  // namespace
}  // namespace headrace::ir

#include "ir/schema_proto.h"

#include "core/error.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"

namespace headrace::ir {
namespace {

constexpr std::string_view kStruct = "struct";
// More than any machine holds; products with sizes of values and numbers of rows stay within 64 bits.
constexpr int64_t kMostValues = int64_t{1} << 48;

absl::StatusOr<ColumnType> ReadType(const proto::ColumnType& wire, int depth);

absl::Status ReadFields(const proto::ColumnType& wire, int depth, ColumnType& type) {
  if (depth == kDeepestType) return GraphError("structs are nested more than ", kDeepestType, " deep");
  if (wire.fields().empty()) return GraphError("a struct has no fields");
  for (const proto::Column& field : wire.fields()) {
    HEADRACE_ASSIGN_OR_RETURN(ColumnType field_type, ReadType(field.type(), depth + 1));
    type.fields.emplace_back(field.name(), std::move(field_type));
  }
  return absl::OkStatus();
}

absl::Status ReadDType(const proto::ColumnType& wire, int depth, ColumnType& type) {
  if (wire.dtype() == kStruct) return ReadFields(wire, depth, type);
  std::optional<DType> dtype = DTypeFromName(wire.dtype());
  if (!dtype.has_value()) return GraphError("no dtype \"", wire.dtype(), "\"");
  if (!wire.fields().empty()) return GraphError("a column of ", wire.dtype(), " has fields; only a struct may");
  type.dtype = *dtype;
  return absl::OkStatus();
}

absl::Status CheckDimensions(const proto::ColumnType& wire) {
  int64_t values = 1;
  for (const int64_t dim : wire.shape()) {
    if (dim < kUnknownDim) return GraphError("a dimension is ", dim, "; it must be at least 0, or -1 for unknown");
    if (dim <= 0) continue;
    // Dimensions of 0 do not make the others small.
    if (dim > kMostValues / values) {
      return GraphError("a shape has more than ", kMostValues, " values; write -1 for a dimension that is not known");
    }
    values *= dim;
  }
  return absl::OkStatus();
}

absl::StatusOr<ColumnType> ReadType(const proto::ColumnType& wire, int depth) {
  ColumnType type;
  HEADRACE_RETURN_IF_ERROR(ReadDType(wire, depth, type));
  HEADRACE_RETURN_IF_ERROR(CheckDimensions(wire));
  if (!wire.unknown_rank()) type.shape = Shape(wire.shape().begin(), wire.shape().end());
  type.optional = wire.optional();
  type.ragged = wire.ragged();
  return type;
}

}  // namespace

proto::ColumnType TypeToProto(const ColumnType& type) {
  proto::ColumnType wire;
  wire.set_dtype(std::string(type.fields.empty() ? DTypeName(type.dtype) : kStruct));
  if (type.shape.has_value()) {
    wire.mutable_shape()->Add(type.shape->begin(), type.shape->end());
  } else {
    wire.set_unknown_rank(true);
  }
  wire.set_optional(type.optional);
  wire.set_ragged(type.ragged);
  for (const auto& [name, field] : type.fields) {
    proto::Column* column = wire.add_fields();
    column->set_name(name);
    *column->mutable_type() = TypeToProto(field);
  }
  return wire;
}

proto::Columns SchemaToProto(const Schema& schema) {
  proto::Columns wire;
  for (const Column& column : schema.columns) {
    proto::Column* added = wire.add_columns();
    added->set_name(column.name);
    *added->mutable_type() = TypeToProto(column.type);
  }
  return wire;
}

absl::StatusOr<ColumnType> TypeFromProto(const proto::ColumnType& wire) { return ReadType(wire, 0); }

absl::StatusOr<Schema> SchemaFromProto(const proto::Columns& wire) {
  Schema schema;
  for (const proto::Column& column : wire.columns()) {
    if (column.name().empty()) return GraphError("a column has no name");
    if (schema.Find(column.name()) != nullptr) return GraphError("column \"", column.name(), "\" occurs twice");
    absl::StatusOr<ColumnType> type = TypeFromProto(column.type());
    if (!type.ok()) return GraphError("column \"", column.name(), "\": ", type.status().message());
    schema.columns.push_back({column.name(), *std::move(type)});
  }
  return schema;
}

}  // namespace headrace::ir

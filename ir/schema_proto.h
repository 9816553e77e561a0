// `TypeToProto`, `SchemaToProto` and their counterparts convert column types to and from protos.
// Threads: pure functions.
#ifndef HEADRACE_IR_SCHEMA_PROTO_H_
#define HEADRACE_IR_SCHEMA_PROTO_H_

#include "absl/status/statusor.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace::ir {

proto::ColumnType TypeToProto(const ColumnType& type);
proto::Columns SchemaToProto(const Schema& schema);

// kGraph if a dtype is unknown, a dimension is below -1, the dimensions make more than 2^48 values, or a name occurs
// twice.
absl::StatusOr<ColumnType> TypeFromProto(const proto::ColumnType& type);
absl::StatusOr<Schema> SchemaFromProto(const proto::Columns& columns);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_SCHEMA_PROTO_H_

// `GraphSchema` describes the messages of ir/graph.proto: their fields by name, number and type. Use it to convert the
// bytes of a graph to and from other forms: the messages are those of protobuf-lite and do not know their own fields,
// so that two libraries that hold them can live in one process. It is read from the descriptor that protoc writes of
// the file.
// Threads: any; made by the first call and kept for the process.
#ifndef HEADRACE_IR_GRAPH_SCHEMA_H_
#define HEADRACE_IR_GRAPH_SCHEMA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::ir {

// By the numbers that descriptors have for them.
enum class FieldType {
  kDouble = 1,
  kInt64 = 3,
  kUint64 = 4,
  kInt32 = 5,
  kBool = 8,
  kString = 9,
  kMessage = 11,
  kUint32 = 13
};

struct MessageSchema;

struct FieldSchema {
  std::string name;
  std::string camel_name;
  uint32_t number = 0;
  FieldType type = FieldType::kMessage;
  bool repeated = false;
  // Tells zero and absent apart; or it is a message, a list or one of a oneof.
  bool explicit_presence = false;
  // The oneof that it belongs to; "": none.
  std::string choice;
  // The type of a message.
  const MessageSchema* message = nullptr;
};

struct MessageSchema {
  // "Node", and "headrace.ir.proto.Node".
  std::string name;
  std::string full_name;
  std::vector<FieldSchema> fields;

  // Null: it has no such field.
  const FieldSchema* Find(uint32_t number) const;
  const FieldSchema* Find(std::string_view name) const;
};

// That of the message Graph, from which all others are reached.
const MessageSchema& GraphSchema();

}  // namespace headrace::ir

#endif  // HEADRACE_IR_GRAPH_SCHEMA_H_

#include "ir/graph_schema.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <map>
#include <utility>

namespace headrace::ir {
namespace {

namespace pb = google::protobuf;

// A FileDescriptorSet (google/protobuf/descriptor.proto), as protoc --descriptor_set_out writes it.
constexpr uint8_t kDescriptor[] = {
#include "ir/graph.descriptor.inc"
};

// The numbers of its fields.
constexpr int kSetFile = 1;
constexpr int kFilePackage = 2, kFileMessage = 4;
constexpr int kMessageName = 1, kMessageField = 2, kMessageChoice = 8;
constexpr int kFieldName = 1, kFieldNumber = 3, kFieldLabel = 4, kFieldType = 5, kFieldTypeName = 6;
constexpr int kFieldChoice = 9, kFieldJsonName = 10, kFieldOptional = 17;
constexpr int kChoiceName = 1;
constexpr uint64_t kRepeated = 3;

// The fields of one message of the descriptor, of which there are only varints and bytes, in order.
struct DescriptorField {
  int number = 0;
  uint64_t value = 0;
  std::string_view bytes;
};

std::vector<DescriptorField> FieldsOf(std::string_view message) {
  std::vector<DescriptorField> fields;
  pb::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(message.data()), static_cast<int>(message.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    DescriptorField& field = fields.emplace_back();
    field.number = static_cast<int>(tag >> 3);
    stream.ReadVarint64(&field.value);
    if ((tag & 7) == 0) continue;
    field.bytes = message.substr(static_cast<size_t>(stream.CurrentPosition()), field.value);
    stream.Skip(static_cast<int>(field.value));
  }
  return fields;
}

// All messages by their full names, which do not move.
using Schemas = std::map<std::string, MessageSchema, std::less<>>;

FieldSchema ReadField(std::string_view descriptor, const std::vector<std::string>& choices, Schemas& schemas) {
  FieldSchema field;
  bool optional = false;
  for (const DescriptorField& part : FieldsOf(descriptor)) {
    if (part.number == kFieldName) field.name = part.bytes;
    if (part.number == kFieldJsonName) field.camel_name = part.bytes;
    if (part.number == kFieldNumber) field.number = static_cast<uint32_t>(part.value);
    if (part.number == kFieldLabel) field.repeated = part.value == kRepeated;
    if (part.number == kFieldType) field.type = static_cast<FieldType>(part.value);
    // ".headrace.ir.proto.Node"
    if (part.number == kFieldTypeName) field.message = &schemas[std::string(part.bytes.substr(1))];
    if (part.number == kFieldChoice) field.choice = choices[part.value];
    if (part.number == kFieldOptional) optional = part.value != 0;
  }
  field.explicit_presence = field.repeated || field.message != nullptr || !field.choice.empty();
  // An optional field is the only one of a oneof that protoc makes up.
  if (optional) field.choice.clear();
  return field;
}

void ReadMessage(std::string_view package, std::string_view descriptor, Schemas& schemas) {
  std::string name;
  std::vector<std::string_view> fields;
  std::vector<std::string> choices;
  for (const DescriptorField& part : FieldsOf(descriptor)) {
    if (part.number == kMessageName) name = part.bytes;
    if (part.number == kMessageField) fields.push_back(part.bytes);
    if (part.number != kMessageChoice) continue;
    for (const DescriptorField& choice : FieldsOf(part.bytes)) {
      if (choice.number == kChoiceName) choices.emplace_back(choice.bytes);
    }
  }
  std::string full_name = std::string(package) + "." + name;
  MessageSchema& schema = schemas[full_name];
  schema.name = std::move(name);
  schema.full_name = std::move(full_name);
  for (const std::string_view field : fields) schema.fields.push_back(ReadField(field, choices, schemas));
}

Schemas ReadSchemas() {
  Schemas schemas;
  for (const DescriptorField& file : FieldsOf({reinterpret_cast<const char*>(kDescriptor), sizeof(kDescriptor)})) {
    if (file.number != kSetFile) continue;
    std::string_view package;
    for (const DescriptorField& part : FieldsOf(file.bytes)) {
      if (part.number == kFilePackage) package = part.bytes;
      if (part.number == kFileMessage) ReadMessage(package, part.bytes, schemas);
    }
  }
  return schemas;
}

}  // namespace

const FieldSchema* MessageSchema::Find(uint32_t number) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.number == number; });
  return found == fields.end() ? nullptr : &*found;
}

const FieldSchema* MessageSchema::Find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

const MessageSchema& GraphSchema() {
  // Never destroyed: a thread may still need it while the process ends.
  static const Schemas& schemas = *new Schemas(ReadSchemas());
  static const MessageSchema& graph = schemas.find("headrace.ir.proto.Graph")->second;
  return graph;
}

}  // namespace headrace::ir

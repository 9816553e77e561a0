// `MessageReader` goes over the values in the bytes of a message of ir/graph.proto, and `MessageWriter` writes such
// bytes. Use them to convert graphs to and from other forms; what merely reads or changes a graph uses its messages.
// Threads: one thread at a time.
#ifndef HEADRACE_IR_MESSAGE_BYTES_H_
#define HEADRACE_IR_MESSAGE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph_schema.h"

namespace headrace::ir {

// One value of a field.
struct WireValue {
  // Of a whole number or a bool; the bits of a double.
  uint64_t number = 0;
  // Of a string or a message.
  std::string_view bytes;
};

class MessageReader {
 public:
  // Both are kept.
  MessageReader(std::string_view bytes, const MessageSchema& schema) : rest_(bytes), schema_(schema) {}

  // Goes to the next value of a field, which may be one of a list; false: there is none, or the bytes are not a field.
  bool Next();
  uint32_t number() const { return number_; }
  // Null: the message has no field of this number, or it is not written in this way.
  const FieldSchema* field() const { return field_; }
  // If the field is known.
  const WireValue& value() const { return value_; }

 private:
  bool ReadField();

  std::string_view rest_;
  // Whether the field is a list of numbers whose values follow each other, perhaps none; and those to come.
  bool listed_ = false;
  std::string_view packed_;
  const MessageSchema& schema_;
  uint32_t number_ = 0;
  const FieldSchema* field_ = nullptr;
  WireValue value_;
};

class MessageWriter {
 public:
  // As in WireValue; a whole number below zero has the bits of its int64_t.
  void PutNumber(const FieldSchema& field, uint64_t number);
  void PutText(const FieldSchema& field, std::string_view text);
  // What is put from now to End is part of a message in the field.
  void Begin(const FieldSchema& field);
  void End();
  std::string Take() const;

 private:
  // A message whose length is not written yet. Lengths are inserted at the end: otherwise the bytes of nested messages
  // would be moved once for each message around them.
  struct Length {
    size_t at;
    size_t size;
  };
  struct Open {
    size_t length;
    size_t inserted;
  };

  std::string bytes_;
  std::vector<Length> lengths_;
  std::vector<Open> open_;
  // How many bytes the lengths known so far will take.
  size_t inserted_ = 0;
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_MESSAGE_BYTES_H_

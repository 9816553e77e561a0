// `WireFields` reads the fields of a protobuf message one after the other, as views of its bytes. Use it for messages
// whose fields are known and few: fields of other numbers, and of other wire types, are the caller's to leave out.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_WIRE_WIRE_FIELDS_H_
#define HEADRACE_IO_FORMATS_WIRE_WIRE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headrace {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kEndOfGroup = 4, kFixed32 = 5 };

// Reads a varint of up to 10 bytes and returns where it ends; null: the bytes end within it, or it is longer. Bits
// above the 64th are dropped, as protobuf drops them.
const uint8_t* ReadLongVarint(const uint8_t* at, const uint8_t* end, uint64_t& value);
inline const uint8_t* ReadVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
  if (at == end || *at >= 0x80) return ReadLongVarint(at, end, value);
  value = *at;
  return at + 1;
}

class WireFields {
 public:
  explicit WireFields(std::string_view message)
      : at_(reinterpret_cast<const uint8_t*>(message.data())), end_(at_ + message.size()) {}

  // Goes to the next field; false: there is none, or the bytes are not a field.
  bool Next() {
    if (at_ == end_) return false;
    const uint8_t* const after = ReadField();
    damaged_ = after == nullptr;
    if (damaged_) return false;
    at_ = after;
    return true;
  }
  bool damaged() const { return damaged_; }
  // After Next: where the field after this one begins; where damaged, the field that is not one.
  const char* at() const { return reinterpret_cast<const char*>(at_); }

  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  bool Is(uint32_t number, WireType type) const { return number_ == number && type_ == type; }
  // Of a field of this wire type.
  uint64_t varint() const { return number_value_; }
  std::string_view bytes() const { return bytes_; }
  template <typename T>
  T fixed() const {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    return value;
  }

 private:
  const uint8_t* ReadField() {
    uint64_t tag = 0;
    const uint8_t* at = ReadVarint(at_, end_, tag);
    if (at == nullptr || tag < 8 || tag > 0xffffffff) return nullptr;
    number_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::kVarint:
        return ReadVarint(at, end_, number_value_);
      case WireType::kFixed64:
        return Take(at, 8);
      case WireType::kBytes: {
        uint64_t length = 0;
        at = ReadVarint(at, end_, length);
        return at == nullptr ? nullptr : Take(at, length);
      }
      case WireType::kFixed32:
        return Take(at, 4);
      case WireType::kGroup:
        return PassGroup(at, end_, number_);
      default:
        return nullptr;
    }
  }
  const uint8_t* Take(const uint8_t* at, uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(end_ - at)) return nullptr;
    bytes_ = {reinterpret_cast<const char*>(at), static_cast<size_t>(bytes)};
    return at + bytes;
  }
  // Where the group ends whose first field begins at `at`; null: it does not.
  static const uint8_t* PassGroup(const uint8_t* at, const uint8_t* end, uint32_t number);

  const uint8_t* at_;
  const uint8_t* const end_;
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  bool damaged_ = false;
  uint64_t number_value_ = 0;
  std::string_view bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_WIRE_WIRE_FIELDS_H_

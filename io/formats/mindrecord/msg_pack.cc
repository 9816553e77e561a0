#include "io/formats/mindrecord/msg_pack.h"

#include <bit>

namespace headrace {

bool MsgPackReader::TakeByte(uint8_t& byte) {
  if (at_end()) return false;
  byte = static_cast<uint8_t>(bytes_[at_++]);
  return true;
}

bool MsgPackReader::TakeNumber(size_t bytes, uint64_t& number) {
  if (bytes > left()) return false;
  number = 0;
  for (size_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<uint8_t>(bytes_[at_ + i]);
  at_ += bytes;
  return true;
}

bool MsgPackReader::TakeBytes(uint64_t bytes, std::string_view& taken) {
  if (bytes > left()) return false;
  taken = bytes_.substr(at_, static_cast<size_t>(bytes));
  at_ += static_cast<size_t>(bytes);
  return true;
}

bool MsgPackReader::TakeSized(size_t length_bytes, std::string_view& taken) {
  uint64_t length = 0;
  return TakeNumber(length_bytes, length) && TakeBytes(length, taken);
}

bool MsgPackReader::TakeMap(uint32_t& entries) {
  uint8_t tag = 0;
  uint64_t count = 0;
  if (!TakeByte(tag)) return false;
  if (tag >= 0x80 && tag <= 0x8f) {
    count = tag & 0x0f;
  } else if ((tag != 0xde && tag != 0xdf) || !TakeNumber(tag == 0xde ? 2 : 4, count)) {
    return false;
  }
  entries = static_cast<uint32_t>(count);
  return true;
}

bool MsgPackReader::TakeText(std::string_view& text) {
  uint8_t tag = 0;
  if (!TakeByte(tag)) return false;
  if (tag >= 0xa0 && tag <= 0xbf) return TakeBytes(tag & 0x1f, text);
  return tag >= 0xd9 && tag <= 0xdb && TakeSized(size_t{1} << (tag - 0xd9), text);
}

// Values within lists and maps are counted, not nested: `open` of them are still to come.
bool MsgPackReader::Take(MsgPackValue& value) {
  uint8_t tag = 0;
  uint64_t open = 0;
  if (!TakeByte(tag) || !TakeTagged(tag, value, open)) return false;
  MsgPackValue passed;
  while (open > 0) {
    // Each takes a byte at least.
    if (open > left()) return false;
    uint64_t inside = 0;
    if (!TakeByte(tag) || !TakeTagged(tag, passed, inside)) return false;
    open += inside;
    --open;
  }
  return true;
}

// The value whose first byte is `tag`; `inside`: how many values of a list or a map follow.
bool MsgPackReader::TakeTagged(uint8_t tag, MsgPackValue& value, uint64_t& inside) {
  using Kind = MsgPackValue::Kind;
  value.kind = Kind::kOther;
  if (tag <= 0x7f || tag >= 0xe0) {
    value.kind = tag <= 0x7f ? Kind::kUnsigned : Kind::kNegative;
    value.whole = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(tag)));
    return true;
  }
  if (tag <= 0x8f) {
    inside = 2 * (tag & 0x0fu);
    return true;
  }
  if (tag <= 0x9f) {
    inside = tag & 0x0fu;
    return true;
  }
  if (tag <= 0xbf) {
    value.kind = Kind::kText;
    return TakeBytes(tag & 0x1f, value.text);
  }
  switch (tag) {
    case 0xc0:  // null
    case 0xc2:  // false
    case 0xc3:  // true
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6: {
      std::string_view bytes;
      return TakeSized(size_t{1} << (tag - 0xc4), bytes);
    }
    case 0xc7:
    case 0xc8:
    case 0xc9: {
      uint64_t length = 0;
      return TakeNumber(size_t{1} << (tag - 0xc7), length) && PassExtension(length);
    }
    case 0xca:
    case 0xcb:
      return TakeReal(tag, value);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return TakeWhole(size_t{1} << (tag - 0xcc), false, value);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return TakeWhole(size_t{1} << (tag - 0xd0), true, value);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return PassExtension(uint64_t{1} << (tag - 0xd4));
    case 0xd9:
    case 0xda:
    case 0xdb:
      value.kind = Kind::kText;
      return TakeSized(size_t{1} << (tag - 0xd9), value.text);
    case 0xdc:
    case 0xdd:
      return TakeInside(size_t{2} << (tag - 0xdc), 1, inside);
    case 0xde:
    case 0xdf:
      return TakeInside(size_t{2} << (tag - 0xde), 2, inside);
    default:
      return false;  // 0xc1, which no value begins with
  }
}

bool MsgPackReader::TakeWhole(size_t bytes, bool is_signed, MsgPackValue& value) {
  if (!TakeNumber(bytes, value.whole)) return false;
  value.kind = MsgPackValue::Kind::kUnsigned;
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  if (!is_signed || (value.whole & sign) == 0) return true;
  value.kind = MsgPackValue::Kind::kNegative;
  // Fills the bits above.
  value.whole = (value.whole ^ sign) - sign;
  return true;
}

bool MsgPackReader::TakeReal(uint8_t tag, MsgPackValue& value) {
  uint64_t bits = 0;
  if (!TakeNumber(tag == 0xca ? sizeof(float) : sizeof(double), bits)) return false;
  if (tag == 0xca) {
    value.kind = MsgPackValue::Kind::kFloat32;
    value.real32 = std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    value.kind = MsgPackValue::Kind::kFloat64;
    value.real64 = std::bit_cast<double>(bits);
  }
  return true;
}

bool MsgPackReader::TakeInside(size_t length_bytes, uint64_t each, uint64_t& inside) {
  if (!TakeNumber(length_bytes, inside)) return false;
  inside *= each;
  return true;
}

// Its type is a byte in front of its bytes.
bool MsgPackReader::PassExtension(uint64_t bytes) {
  std::string_view passed;
  return TakeBytes(bytes + 1, passed);
}

}  // namespace headrace

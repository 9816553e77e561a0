#include "io/formats/wire/wire_fields.h"

#include <array>

namespace headrace {

const uint8_t* ReadLongVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
  constexpr int kMostBits = 64;
  value = 0;
  for (int shift = 0; shift < kMostBits; shift += 7) {
    if (at == end) return nullptr;
    const uint8_t byte = *at++;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

// Groups within it are counted, not entered.
const uint8_t* WireFields::PassGroup(const uint8_t* at, const uint8_t* end, uint32_t number) {
  // As deep as protobuf reads them.
  std::array<uint32_t, 100> open = {number};
  size_t depth = 1;
  while (depth > 0) {
    uint64_t tag = 0, value = 0;
    at = ReadVarint(at, end, tag);
    if (at == nullptr || tag < 8 || tag > 0xffffffff) return nullptr;
    const auto field = static_cast<uint32_t>(tag >> 3);
    uint64_t bytes = 0;
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        at = ReadVarint(at, end, value);
        if (at == nullptr) return nullptr;
        break;
      case WireType::kFixed64:
        bytes = 8;
        break;
      case WireType::kBytes:
        at = ReadVarint(at, end, bytes);
        if (at == nullptr) return nullptr;
        break;
      case WireType::kFixed32:
        bytes = 4;
        break;
      case WireType::kGroup:
        if (depth == open.size()) return nullptr;
        open[depth++] = field;
        break;
      case WireType::kEndOfGroup:
        if (open[--depth] != field) return nullptr;
        break;
      default:
        return nullptr;
    }
    if (bytes > static_cast<uint64_t>(end - at)) return nullptr;
    at += bytes;
  }
  return at;
}

}  // namespace headrace

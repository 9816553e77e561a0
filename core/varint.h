// `PutVarint` writes a number as protobuf's varint: 7 bits a byte, the lowest first, and a set high bit in all bytes
// but the last; `FoldSign` makes a small whole number of a small one of either sign. Threads: pure functions.
#ifndef HEADRACE_CORE_VARINT_H_
#define HEADRACE_CORE_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace {

inline void PutVarint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

// The bytes that it takes, from 1 to 10.
inline size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// As protobuf's ZigZag: 0, -1, 1, -2 become 0, 1, 2, 3.
inline uint64_t FoldSign(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
inline int64_t UnfoldSign(uint64_t folded) {
  return static_cast<int64_t>(folded >> 1) ^ -static_cast<int64_t>(folded & 1);
}

}  // namespace headrace

#endif  // HEADRACE_CORE_VARINT_H_

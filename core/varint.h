// `PutVarint` writes a number as protobuf's varint: 7 bits a byte, the lowest first, and a set high bit in all bytes
// but the last. Threads: a pure function.
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

}  // namespace headrace

#endif  // HEADRACE_CORE_VARINT_H_

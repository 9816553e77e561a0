#include "io/records/crc32c.h"

#include <array>
#include <cstring>

namespace headrace {
namespace {

constexpr uint32_t kReflectedPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kReflectedPolynomial : 0);
    table[i] = rest;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t ByInstruction(const uint8_t* at, size_t bytes, uint32_t before) {
  uint64_t sum = ~before;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    sum = __builtin_ia32_crc32di(sum, word);
  }
  for (; bytes > 0; --bytes, ++at) sum = __builtin_ia32_crc32qi(static_cast<uint32_t>(sum), *at);
  return ~static_cast<uint32_t>(sum);
}
#endif

}  // namespace

uint32_t Crc32cByTable(const void* data, size_t bytes, uint32_t before) {
  const auto* at = static_cast<const uint8_t*>(data);
  uint32_t sum = ~before;
  for (; bytes > 0; --bytes, ++at) sum = (sum >> 8) ^ kTable[(sum ^ *at) & 0xff];
  return ~sum;
}

uint32_t Crc32c(const void* data, size_t bytes, uint32_t before) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ByInstruction(static_cast<const uint8_t*>(data), bytes, before);
#endif
  return Crc32cByTable(data, bytes, before);
}

}  // namespace headrace

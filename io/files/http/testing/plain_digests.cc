#include "io/files/http/testing/plain_digests.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <string>

namespace headrace::http {
namespace {

constexpr size_t kBlock = 64;
constexpr std::array<uint32_t, 64> kSha256Rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The parts end to end, 0x80, zeros, and the number of bits in eight bytes.
std::string Padded(const std::vector<std::string_view>& parts, std::endian order) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  const uint64_t bits = static_cast<uint64_t>(text.size()) * 8;
  text += '\x80';
  while (text.size() % kBlock != kBlock - 8) text += '\0';
  for (int byte = 0; byte < 8; ++byte) {
    const int shift = order == std::endian::big ? 56 - 8 * byte : 8 * byte;
    text += static_cast<char>(bits >> shift);
  }
  return text;
}

uint32_t WordAt(std::string_view text, size_t at, std::endian order) {
  uint32_t word = 0;
  for (size_t byte = 0; byte < 4; ++byte) {
    const size_t shift = order == std::endian::big ? 24 - 8 * byte : 8 * byte;
    word |= static_cast<uint32_t>(static_cast<uint8_t>(text[at + byte])) << shift;
  }
  return word;
}

template <size_t n>
std::array<uint8_t, 4 * n> BytesOf(const std::array<uint32_t, n>& words, std::endian order) {
  std::array<uint8_t, 4 * n> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t shift = order == std::endian::big ? 24 - 8 * (i % 4) : 8 * (i % 4);
    bytes[i] = static_cast<uint8_t>(words[i / 4] >> shift);
  }
  return bytes;
}

void AddSha256Block(std::array<uint32_t, 8>& state, std::string_view block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) w[t] = WordAt(block, 4 * t, std::endian::big);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t low = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t high = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + low + w[t - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t high = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t first = h + high + ((e & f) ^ (~e & g)) + kSha256Rounds[t] + w[t];
    const uint32_t low = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t second = low + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += added[i];
}

void AddMd5Block(std::array<uint32_t, 4>& state, std::string_view block) {
  constexpr std::array<std::array<int, 4>, 4> kTurns = {
      {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};
  auto [a, b, c, d] = state;
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t mixed[] = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)};
    const uint32_t word[] = {t, (5 * t + 1) % 16, (3 * t + 5) % 16, (7 * t) % 16};
    const auto sine = static_cast<uint32_t>(std::floor(std::fabs(std::sin(t + 1.0)) * 4294967296.0));
    const uint32_t round = t / 16;
    const uint32_t sum = a + mixed[round] + sine + WordAt(block, 4 * word[round], std::endian::little);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[round][t % 4]);
  }
  const std::array<uint32_t, 4> added = {a, b, c, d};
  for (size_t i = 0; i < 4; ++i) state[i] += added[i];
}

std::string_view TextOf(const std::array<uint8_t, 32>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::array<uint8_t, 32> PlainSha256(const std::vector<std::string_view>& parts) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::string text = Padded(parts, std::endian::big);
  for (size_t at = 0; at < text.size(); at += kBlock) AddSha256Block(state, std::string_view(text).substr(at, kBlock));
  return BytesOf(state, std::endian::big);
}

std::array<uint8_t, 32> PlainHmacSha256(std::string_view key, std::string_view text) {
  std::array<uint8_t, 32> shortened;
  if (key.size() > kBlock) {
    shortened = PlainSha256({key});
    key = TextOf(shortened);
  }
  std::string inner(kBlock, '\x36');
  std::string outer(kBlock, '\x5c');
  for (size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  const std::array<uint8_t, 32> digest = PlainSha256({inner, text});
  return PlainSha256({outer, TextOf(digest)});
}

std::array<uint8_t, 16> PlainMd5(const std::vector<std::string_view>& parts) {
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::string text = Padded(parts, std::endian::little);
  for (size_t at = 0; at < text.size(); at += kBlock) AddMd5Block(state, std::string_view(text).substr(at, kBlock));
  return BytesOf(state, std::endian::little);
}

}  // namespace headrace::http

#include "io/formats/mds/shard_hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "core/number_at.h"

namespace headrace {
namespace {

constexpr size_t kShaBlock = 64;
using ShaState = std::array<uint32_t, 5>;

uint32_t BigEndianAt(const char* bytes) {
  uint32_t number;
  std::memcpy(&number, bytes, sizeof(number));
  return __builtin_bswap32(number);
}

void AddShaBlock(const char* block, ShaState& state) {
  std::array<uint32_t, 80> words;
  for (size_t i = 0; i < 16; ++i) words[i] = BigEndianAt(block + 4 * i);
  for (size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (size_t i = 0; i < 80; ++i) {
    uint32_t mixed, constant;
    if (i < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5A827999;
    } else if (i < 40) {
      mixed = b ^ c ^ d;
      constant = 0x6ED9EBA1;
    } else if (i < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8F1BBCDC;
    } else {
      mixed = b ^ c ^ d;
      constant = 0xCA62C1D6;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + constant + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

std::string Hexadecimal(uint64_t number, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
  return text;
}

constexpr uint64_t kXxhPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kXxhPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kXxhPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kXxhPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kXxhPrime5 = 0x27D4EB2F165667C5;

uint64_t XxhRound(uint64_t sum, uint64_t input) { return std::rotl(sum + input * kXxhPrime2, 31) * kXxhPrime1; }

uint64_t XxhMerge(uint64_t hash, uint64_t sum) { return (hash ^ XxhRound(0, sum)) * kXxhPrime1 + kXxhPrime4; }

// Of the blocks of 32 bytes, which are taken off.
uint64_t XxhBlocks(std::string_view& bytes) {
  std::array<uint64_t, 4> sums = {kXxhPrime1 + kXxhPrime2, kXxhPrime2, 0, uint64_t{0} - kXxhPrime1};
  while (bytes.size() >= 32) {
    for (uint64_t& sum : sums) {
      sum = XxhRound(sum, NumberAt<uint64_t>(bytes, 0));
      bytes.remove_prefix(8);
    }
  }
  uint64_t hash = std::rotl(sums[0], 1) + std::rotl(sums[1], 7) + std::rotl(sums[2], 12) + std::rotl(sums[3], 18);
  for (const uint64_t sum : sums) hash = XxhMerge(hash, sum);
  return hash;
}

bool SameHash(std::string_view found, std::string_view given) {
  return std::equal(found.begin(), found.end(), given.begin(), given.end(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'F' ? static_cast<char>(b - 'A' + 'a') : b); });
}

}  // namespace

std::string Sha1Of(std::string_view bytes) {
  ShaState state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const uint64_t bits = bytes.size() * 8;
  for (; bytes.size() >= kShaBlock; bytes.remove_prefix(kShaBlock)) AddShaBlock(bytes.data(), state);
  std::string last(bytes);
  last.push_back('\x80');
  while (last.size() % kShaBlock != kShaBlock - sizeof(bits)) last.push_back('\0');
  const uint64_t length = __builtin_bswap64(bits);
  last.append(reinterpret_cast<const char*>(&length), sizeof(length));
  for (size_t at = 0; at < last.size(); at += kShaBlock) AddShaBlock(last.data() + at, state);
  std::string text;
  for (const uint32_t part : state) text += Hexadecimal(part, 8);
  return text;
}

std::string Xxh64Of(std::string_view bytes) {
  const uint64_t length = bytes.size();
  uint64_t hash = bytes.size() >= 32 ? XxhBlocks(bytes) : kXxhPrime5;
  hash += length;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    hash = std::rotl(hash ^ XxhRound(0, NumberAt<uint64_t>(bytes, 0)), 27) * kXxhPrime1 + kXxhPrime4;
  }
  if (bytes.size() >= 4) {
    hash = std::rotl(hash ^ NumberAt<uint32_t>(bytes, 0) * kXxhPrime1, 23) * kXxhPrime2 + kXxhPrime3;
    bytes.remove_prefix(4);
  }
  for (const char byte : bytes) hash = std::rotl(hash ^ static_cast<uint8_t>(byte) * kXxhPrime5, 11) * kXxhPrime1;
  hash = (hash ^ hash >> 33) * kXxhPrime2;
  hash = (hash ^ hash >> 29) * kXxhPrime3;
  return Hexadecimal(hash ^ hash >> 32, 16);
}

absl::Status CheckShardHash(const FileSystem& files, const std::string& path,
                            const std::vector<std::pair<std::string, std::string>>& hashes) {
  const auto known = [](const auto& each) { return each.first == "sha1" || each.first == "xxh64"; };
  if (std::none_of(hashes.begin(), hashes.end(), known)) {
    return UnsupportedError("the index has no hash of the shard that can be checked, sha1 or xxh64; leave verify= out");
  }
  HEADRACE_ASSIGN_OR_RETURN(const Tensor read, files.Read(path));
  const std::string_view bytes(reinterpret_cast<const char*>(read.raw()), read.bytes());
  for (const auto& [kind, given] : hashes) {
    if (!known(std::pair(kind, given))) continue;
    const std::string found = kind == "sha1" ? Sha1Of(bytes) : Xxh64Of(bytes);
    if (SameHash(found, given)) continue;
    return DataError("the shard is damaged: its ", kind, " is ", found, ", and the index says ", given,
                     "; copy it again");
  }
  return absl::OkStatus();
}

}  // namespace headrace

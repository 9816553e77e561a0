#include "core/seeded_hash.h"

#include <sys/random.h>

#include <bit>
#include <chrono>
#include <cstring>

#include "core/row_id.h"

namespace headrace {
namespace {

struct SipState {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void Add(uint64_t word) {
    v3 ^= word;
    Round();
    v0 ^= word;
  }

  uint64_t End() {
    v2 ^= 0xff;
    Round();
    Round();
    Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

SipState SipBegin(uint64_t low, uint64_t high) {
  return {low ^ 0x736f6d6570736575ULL, high ^ 0x646f72616e646f6dULL, low ^ 0x6c7967656e657261ULL,
          high ^ 0x7465646279746573ULL};
}

struct HashKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

HashKey DrawHashKey() {
  HashKey key;
  if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == static_cast<ssize_t>(sizeof(key))) return key;
  // The system has no random numbers yet, early after its start, or forbids the call: the time and the place of the
  // stack are harder to guess than nothing.
  const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  key.low = MixKey(now, reinterpret_cast<uintptr_t>(&key));
  key.high = MixKey(key.low, now);
  return key;
}

const HashKey& KeyOfProcess() {
  static const HashKey key = DrawHashKey();
  return key;
}

}  // namespace

uint64_t SipHash(std::string_view bytes, uint64_t key_low, uint64_t key_high) {
  SipState state = SipBegin(key_low, key_high);
  const uint64_t length = uint64_t{bytes.size()} << 56;
  for (; bytes.size() >= sizeof(uint64_t); bytes.remove_prefix(sizeof(uint64_t))) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    state.Add(word);
  }
  uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  state.Add(length | rest);
  return state.End();
}

size_t SeededHash::OfBytes(std::string_view bytes) {
  const HashKey& key = KeyOfProcess();
  return SipHash(bytes, key.low, key.high);
}

size_t SeededHash::OfWord(uint64_t word) {
  const HashKey& key = KeyOfProcess();
  SipState state = SipBegin(key.low, key.high);
  state.Add(word);
  return state.End();
}

}  // namespace headrace

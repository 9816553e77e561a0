// `SeededHash` is a hash for tables whose keys come from outside: SipHash-1-3 (Aumasson and Bernstein 2012) under a key
// that each process draws. Who writes the keys cannot make them collide, so a table of n keys is made in time that
// grows with n, not with its square. Every hash table has it: std::unordered_map<uint64_t, Value, SeededHash>. The
// order of such a table differs from run to run: no result may depend on it.
// Threads: const; any thread.
#ifndef HEADRACE_CORE_SEEDED_HASH_H_
#define HEADRACE_CORE_SEEDED_HASH_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

// SipHash-1-3 of the bytes under the key of 128 bits.
uint64_t SipHash(std::string_view bytes, uint64_t key_low, uint64_t key_high);

struct SeededHash {
  using is_transparent = void;  // texts are found without a copy

  size_t operator()(std::string_view text) const { return OfBytes(text); }
  template <std::integral Whole>
  size_t operator()(Whole whole) const {
    return OfWord(static_cast<uint64_t>(whole));
  }
  // The two zeros are equal.
  size_t operator()(double real) const { return OfWord(real == 0 ? 0 : std::bit_cast<uint64_t>(real)); }
  template <typename Object>
  size_t operator()(const Object* object) const {
    return OfWord(reinterpret_cast<uintptr_t>(object));
  }

 private:
  static size_t OfBytes(std::string_view bytes);
  static size_t OfWord(uint64_t word);
};

}  // namespace headrace

#endif  // HEADRACE_CORE_SEEDED_HASH_H_

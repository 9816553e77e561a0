// `HashBytes` is a 64-bit hash, the same in every version and on every machine. Use it for fingerprints and checksums.
// It detects accidents, not attacks.
// Threads: a pure function.
#ifndef HEADRACE_CORE_HASH_H_
#define HEADRACE_CORE_HASH_H_

#include <cstdint>
#include <string_view>

namespace headrace {

uint64_t HashBytes(std::string_view bytes, uint64_t seed = 0);

}  // namespace headrace

#endif  // HEADRACE_CORE_HASH_H_

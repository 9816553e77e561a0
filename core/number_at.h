// `NumberAt` reads a number of a file's little-endian bytes at any place, aligned or not.
// Threads: pure functions.
#ifndef HEADRACE_CORE_NUMBER_AT_H_
#define HEADRACE_CORE_NUMBER_AT_H_

#include <cstddef>
#include <cstring>
#include <string_view>

namespace headrace {

// The caller has checked that the bytes reach there.
template <typename T>
T NumberAt(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(T));
  return number;
}

}  // namespace headrace

#endif  // HEADRACE_CORE_NUMBER_AT_H_

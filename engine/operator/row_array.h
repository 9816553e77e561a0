// `RowArray` is an array with one element for each row of a block. The memory of long arrays is reused: a general
// allocator gives what another thread frees back to the system, and each new array then costs page faults.
// Threads: as absl::InlinedVector's; memory may be freed by any thread.
#ifndef HEADRACE_ENGINE_OPERATOR_ROW_ARRAY_H_
#define HEADRACE_ENGINE_OPERATOR_ROW_ARRAY_H_

#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace headrace {

// `bytes` must be the same when the memory is given back. Throws std::bad_alloc.
void* TakeRowMemory(size_t bytes);
void GiveRowMemory(void* memory, size_t bytes) noexcept;

template <typename T>
struct RowAllocator {
  using value_type = T;

  RowAllocator() = default;
  template <typename Other>
  RowAllocator(const RowAllocator<Other>& /*other*/) {}

  T* allocate(size_t count) { return static_cast<T*>(TakeRowMemory(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) noexcept { GiveRowMemory(memory, count * sizeof(T)); }

  friend bool operator==(const RowAllocator& /*a*/, const RowAllocator& /*b*/) { return true; }
};

template <typename T>
using RowArray = absl::InlinedVector<T, 1, RowAllocator<T>>;

// An iterator over make(0), make(1), …
template <typename T, typename Make>
struct MadeElements {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = T;

  T operator*() const { return (*make)(at); }
  MadeElements& operator++() {
    ++at;
    return *this;
  }
  difference_type operator-(const MadeElements& other) const { return static_cast<difference_type>(at - other.at); }
  friend bool operator==(const MadeElements& a, const MadeElements& b) { return a.at == b.at; }

  const Make* make;
  size_t at;
};

// Appends make(0) … make(count - 1); each is written once.
template <typename T, typename Make>
void AppendMade(RowArray<T>& array, size_t count, const Make& make) {
  using Elements = MadeElements<T, Make>;
  array.insert(array.end(), Elements{&make, 0}, Elements{&make, count});
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_ROW_ARRAY_H_

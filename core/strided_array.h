// `StridedArray` is a read-only array of numbers that lie in memory with any strides: negative ones, zero, and ones by
// which elements overlap, as of transposed arrays and of sliding windows. Use it for arrays that would be far larger
// row-major: parts of the first axis are copied when they are needed.
// Threads: const; any thread. The elements must not be written to while it lives.
#ifndef HEADRACE_CORE_STRIDED_ARRAY_H_
#define HEADRACE_CORE_STRIDED_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace headrace {

class StridedArray {
 public:
  // `first`: the element whose indices are all 0; `memory` keeps all elements. `strides`: in bytes, one an axis. At
  // least one axis; not for variable-length types. Elements need not be aligned.
  StridedArray(DType dtype, absl::Span<const int64_t> shape, absl::Span<const int64_t> strides, BufferRef memory,
               const void* first);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // Of a row-major copy.
  size_t bytes() const { return bytes_; }
  // As Tensor's.
  std::string TypeName() const;

  // Whether the elements of the first axis are row-major and aligned, so that View exists.
  bool has_views() const { return has_views_; }
  // Element i of the first axis, where it lies.
  Tensor View(int64_t i) const;
  // Copies `count` elements of the first axis, row-major, and returns where the next one goes.
  uint8_t* CopyTo(int64_t begin, int64_t count, uint8_t* target) const;
  // The same in memory of their own. Fails with kResource if there is none.
  absl::StatusOr<Tensor> Copy(int64_t begin, int64_t count) const;
  // Copies the bytes from `at` on of the row-major array: at + size is at most bytes().
  void CopyBytes(size_t at, size_t size, uint8_t* target) const;

 private:
  struct Axis {
    int64_t size;
    int64_t stride;
  };

  void CopyAxes(const uint8_t* source, absl::Span<const Axis> axes, uint8_t*& target) const;

  DType dtype_;
  Shape shape_;
  Shape strides_;
  BufferRef memory_;
  const uint8_t* first_;
  size_t item_;
  size_t bytes_;
  // Those after the first, without axes of one element; neighbours that lie as one axis would are one.
  std::vector<Axis> row_;
  bool has_views_;
};

}  // namespace headrace

#endif  // HEADRACE_CORE_STRIDED_ARRAY_H_

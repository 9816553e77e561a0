// `Tensor` is a typed, shaped view of a shared Buffer; copying it copies no data.
// Threads: a value; the bytes may be read from any thread, and written only by a thread that holds the only reference
// (fresh from Allocate).
#ifndef HEADRACE_CORE_TENSOR_H_
#define HEADRACE_CORE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/dtype.h"

namespace headrace {

using Shape = absl::InlinedVector<int64_t, 4>;

// "(3, 224, 224)"; "()" for a scalar.
std::string ShapeName(absl::Span<const int64_t> shape);
int64_t ElementCount(absl::Span<const int64_t> shape);

class Tensor {
 public:
  // An invalid tensor: dtype kUnknown.
  Tensor() = default;

  // Row-major and not initialised. Fails with kResource if there is no memory. Not for variable-length types.
  static absl::StatusOr<Tensor> Allocate(DType dtype, absl::Span<const int64_t> shape);
  // A row-major view of `buffer` from `data` on.
  static Tensor View(DType dtype, absl::Span<const int64_t> shape, BufferRef buffer, const void* data);
  // One byte string of the given length: shape ().
  static Tensor ViewBytes(DType dtype, BufferRef buffer, const void* data, size_t bytes);
  static absl::StatusOr<Tensor> CopyBytes(DType dtype, std::string_view bytes);
  // Byte strings of the given shape, in row-major order, copied into one buffer with a table of ends.
  static absl::StatusOr<Tensor> CopyBytesArray(DType dtype, absl::Span<const int64_t> shape,
                                               absl::Span<const std::string_view> elements);
  // Byte strings of the given shape, in row-major order, end to end in `bytes`: string i begins at ends[i]
  // and ends at ends[i + 1], where `ends` holds elements + 1 numbers of type int64.
  static Tensor ViewBytesArray(DType dtype, absl::Span<const int64_t> shape, BufferRef bytes, BufferRef ends);
  // Byte strings of the given shape, in row-major order, anywhere in `bytes`, or in any buffer of that group: string i
  // begins at spans[2 i] and ends at spans[2 i + 1], where `spans` holds 2 * elements numbers of type int64.
  static Tensor ViewSpans(DType dtype, absl::Span<const int64_t> shape, BufferRef bytes, BufferRef spans);
  // Shape (). T is one of the fixed-size types of DTypeOf.
  template <typename T>
  static absl::StatusOr<Tensor> Scalar(T value);

  bool valid() const { return dtype_ != DType::kUnknown; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t dim(int axis) const { return shape_[axis]; }
  int64_t elements() const { return ElementCount(shape_); }
  // In bytes, one per axis; empty if row-major.
  const Shape& strides() const { return strides_; }
  bool contiguous() const { return strides_.empty(); }
  // In bytes, even if row-major.
  int64_t stride(int axis) const;
  // Payload: elements times item size, or the length of all byte strings.
  size_t bytes() const;
  const BufferRef& buffer() const { return buffer_; }

  const uint8_t* raw() const { return data_; }
  uint8_t* mutable_raw() { return data_; }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data() {
    return reinterpret_cast<T*>(data_);
  }

  // Element i in row-major order, for a tensor of bytes or strings.
  std::string_view bytes_at(int64_t i) const;
  std::string_view bytes_value() const { return bytes_at(0); }
  // Whether the byte strings of an array are end to end, so that joined_bytes() and ends() exist.
  bool joined() const { return table_step_ == 1; }
  // For an array that is not joined: the size of its table in bytes.
  size_t spans_bytes() const { return 2 * sizeof(int64_t) * static_cast<size_t>(elements()); }
  // All byte strings of an array, end to end, and where they end there: string i from ends[i] - ends[0] on.
  std::string_view joined_bytes() const { return {reinterpret_cast<const char*>(data_) + ends_[0], bytes()}; }
  absl::Span<const int64_t> ends() const { return {ends_, static_cast<size_t>(elements()) + 1}; }
  template <typename T>
  T value() const {
    T result;
    std::memcpy(&result, data_, sizeof(T));
    return result;
  }

  // Views; no bytes are copied.
  Tensor Index(int64_t i) const;                              // drops the first axis
  Tensor Slice(int axis, int64_t begin, int64_t size) const;  // of byte strings along the first axis only
  // Same elements, same order; needs a contiguous tensor and an equal number of elements.
  Tensor Reshape(absl::Span<const int64_t> shape) const;
  // The tensor itself if row-major, else a copy.
  absl::StatusOr<Tensor> Contiguous() const;
  // For an array of byte strings: the tensor itself if they are end to end, else a copy.
  absl::StatusOr<Tensor> Joined() const;
  // Copies the elements, row-major, to `target` (elements times item size; fixed-size types).
  void CopyTo(void* target) const;

  // "uint8 (500, 375, 3)".
  std::string TypeName() const;

  // Takes the memory off its pipeline's account.
  void HandOver() const;
  // The size of the underlying buffers, for accounts; a shared buffer counts fully.
  size_t footprint() const {
    return (buffer_ ? buffer_->capacity() : 0) + (ends_buffer_ ? ends_buffer_->capacity() : 0);
  }

 private:
  DType dtype_ = DType::kUnknown;
  Shape shape_;
  Shape strides_;
  uint8_t* data_ = nullptr;
  size_t length_ = 0;  // of the one byte string of shape ()
  BufferRef buffer_;
  // For arrays of byte strings: string i is at [ends_[i * table_step_], ends_[i * table_step_ + 1]) from data_ on.
  const int64_t* ends_ = nullptr;
  int table_step_ = 1;  // 1: where one ends the next begins; 2: each has both its numbers
  BufferRef ends_buffer_;
};

// Joins rows of equal dtype and shape along a new first axis, by one copy each. Byte strings of shape () become an
// array of shape (n). Fails with kGraph if dtypes or shapes differ, naming both.
absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> rows);

// Joins arrays of byte strings, of equal dtype and further axes, along their first axis: the strings of the result are
// end to end. At least one array. Fails with kResource if there is no memory.
absl::StatusOr<Tensor> JoinStrings(absl::Span<const Tensor> arrays);

// Whether dtype, shape and bytes are equal.
bool TensorsEqual(const Tensor& a, const Tensor& b);

template <typename T>
absl::StatusOr<Tensor> Tensor::Scalar(T value) {
  absl::StatusOr<Tensor> tensor = Allocate(DTypeOf<T>::value, {});
  if (tensor.ok()) std::memcpy(tensor->mutable_raw(), &value, sizeof(T));
  return tensor;
}

}  // namespace headrace

#endif  // HEADRACE_CORE_TENSOR_H_

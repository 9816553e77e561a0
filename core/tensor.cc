#include "core/tensor.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

absl::Status NoMemory(size_t bytes) {
  return ResourceError("the machine has no memory for a tensor of ", bytes, " bytes");
}

// Copies an n-dimensional strided block to row-major memory, the innermost contiguous run at once.
void CopyStrided(const uint8_t* source, absl::Span<const int64_t> shape, absl::Span<const int64_t> strides, size_t item,
                 uint8_t*& target) {
  if (shape.empty()) {
    std::memcpy(target, source, item);
    target += item;
    return;
  }
  if (shape.size() == 1 && strides[0] == static_cast<int64_t>(item)) {
    std::memcpy(target, source, item * shape[0]);
    target += item * shape[0];
    return;
  }
  // Merges the last two axes if they are contiguous.
  if (shape.size() == 2 && strides[1] == static_cast<int64_t>(item) && strides[0] == shape[1] * strides[1]) {
    std::memcpy(target, source, item * shape[0] * shape[1]);
    target += item * shape[0] * shape[1];
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    CopyStrided(source + i * strides[0], shape.subspan(1), strides.subspan(1), item, target);
  }
}

// Copies of this length are a few instructions; shorter strings are copied with what is after them.
constexpr size_t kShort = 32;

// Copies strings that are end to end to `target` + at, and writes their ends there.
int64_t CopyJoined(const Tensor& strings, uint8_t* target, int64_t at, int64_t*& end) {
  const std::string_view bytes = strings.joined_bytes();
  if (!bytes.empty()) std::memcpy(target + at, bytes.data(), bytes.size());
  const absl::Span<const int64_t> from = strings.ends();
  const int64_t shift = at - from[0];
  for (size_t i = 1; i < from.size(); ++i) *end++ = from[i] + shift;
  return at + static_cast<int64_t>(bytes.size());
}

// The same of strings that are anywhere in their buffer. `target` has kShort bytes of room after the last.
int64_t CopySpans(const Tensor& strings, uint8_t* target, int64_t at, int64_t*& end) {
  const int64_t count = strings.elements();
  if (count == 0) return at;
  // Bytes after the array may be written meanwhile, and those between buffers are not its own.
  const std::string_view last = strings.bytes_at(count - 1);
  const char* const readable = strings.buffer()->is_group() ? nullptr : last.data() + last.size();
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view string = strings.bytes_at(i);
    if (string.size() <= kShort && readable != nullptr && readable - string.data() >= static_cast<ptrdiff_t>(kShort)) {
      std::memcpy(target + at, string.data(), kShort);
    } else if (!string.empty()) {
      std::memcpy(target + at, string.data(), string.size());
    }
    at += static_cast<int64_t>(string.size());
    *end++ = at;
  }
  return at;
}

}  // namespace

std::string ShapeName(absl::Span<const int64_t> shape) {
  if (shape.size() == 1) return Cat("(", shape[0], ",)");
  return Cat("(", absl::StrJoin(shape, ", "), ")");
}

int64_t ElementCount(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

absl::StatusOr<Tensor> Tensor::Allocate(DType dtype, absl::Span<const int64_t> shape) {
  size_t bytes = ItemSize(dtype);
  if (bytes == 0) return InternalError("Tensor::Allocate of ", DTypeName(dtype));
  for (int64_t dim : shape) {
    if (dim < 0) return InternalError("Tensor::Allocate of shape ", ShapeName(shape));
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes)) return NoMemory(SIZE_MAX);
  }
  Tensor tensor;
  tensor.buffer_ = BufferPool::Current().Allocate(bytes);
  if (!tensor.buffer_) return NoMemory(bytes);
  tensor.dtype_ = dtype;
  tensor.shape_.assign(shape.begin(), shape.end());
  tensor.data_ = tensor.buffer_->data();
  return tensor;
}

Tensor Tensor::View(DType dtype, absl::Span<const int64_t> shape, BufferRef buffer, const void* data) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_.assign(shape.begin(), shape.end());
  tensor.buffer_ = std::move(buffer);
  tensor.data_ = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
  return tensor;
}

Tensor Tensor::ViewBytes(DType dtype, BufferRef buffer, const void* data, size_t bytes) {
  Tensor tensor = View(dtype, {}, std::move(buffer), data);
  tensor.length_ = bytes;
  return tensor;
}

absl::StatusOr<Tensor> Tensor::CopyBytes(DType dtype, std::string_view bytes) {
  BufferRef buffer = BufferPool::Current().Allocate(bytes.size());
  if (!buffer) return NoMemory(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  const uint8_t* data = buffer->data();
  return ViewBytes(dtype, std::move(buffer), data, bytes.size());
}

absl::StatusOr<Tensor> Tensor::CopyBytesArray(DType dtype, absl::Span<const int64_t> shape,
                                              absl::Span<const std::string_view> elements) {
  if (shape.empty()) return CopyBytes(dtype, elements[0]);
  size_t total = 0;
  for (std::string_view element : elements) total += element.size();
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_.assign(shape.begin(), shape.end());
  tensor.buffer_ = BufferPool::Current().Allocate(total);
  tensor.ends_buffer_ = BufferPool::Current().Allocate((elements.size() + 1) * sizeof(int64_t));
  if (!tensor.buffer_ || !tensor.ends_buffer_) return NoMemory(total);
  tensor.data_ = tensor.buffer_->data();
  int64_t* ends = reinterpret_cast<int64_t*>(tensor.ends_buffer_->data());
  tensor.ends_ = ends;
  int64_t at = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    ends[i] = at;
    if (!elements[i].empty()) std::memcpy(tensor.data_ + at, elements[i].data(), elements[i].size());
    at += static_cast<int64_t>(elements[i].size());
  }
  ends[elements.size()] = at;
  return tensor;
}

Tensor Tensor::ViewBytesArray(DType dtype, absl::Span<const int64_t> shape, BufferRef bytes, BufferRef ends) {
  const uint8_t* const data = bytes->data();
  Tensor tensor = View(dtype, shape, std::move(bytes), data);
  tensor.ends_ = reinterpret_cast<const int64_t*>(ends->data());
  tensor.ends_buffer_ = std::move(ends);
  return tensor;
}

Tensor Tensor::ViewSpans(DType dtype, absl::Span<const int64_t> shape, BufferRef bytes, BufferRef spans) {
  Tensor tensor = ViewBytesArray(dtype, shape, std::move(bytes), std::move(spans));
  tensor.table_step_ = 2;
  return tensor;
}

int64_t Tensor::stride(int axis) const {
  if (!strides_.empty()) return strides_[axis];
  int64_t stride = static_cast<int64_t>(ItemSize(dtype_));
  for (int i = rank() - 1; i > axis; --i) stride *= shape_[i];
  return stride;
}

size_t Tensor::bytes() const {
  if (!IsVariableLength(dtype_)) return ItemSize(dtype_) * static_cast<size_t>(elements());
  if (shape_.empty()) return length_;
  const int64_t count = elements();
  if (joined()) return static_cast<size_t>(ends_[count] - ends_[0]);
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) bytes += ends_[2 * i + 1] - ends_[2 * i];
  return static_cast<size_t>(bytes);
}

std::string_view Tensor::bytes_at(int64_t i) const {
  const char* data = reinterpret_cast<const char*>(data_);
  if (ends_ == nullptr) return {data, length_};
  const int64_t* const ends = ends_ + i * table_step_;
  return {data + ends[0], static_cast<size_t>(ends[1] - ends[0])};
}

Tensor Tensor::Index(int64_t i) const {
  Tensor result = *this;
  result.shape_.erase(result.shape_.begin());
  if (!result.strides_.empty()) result.strides_.erase(result.strides_.begin());
  if (!IsVariableLength(dtype_)) {
    result.data_ += i * stride(0);
    return result;
  }
  if (result.shape_.empty()) {
    result.length_ = bytes_at(i).size();
    result.data_ += ends_[i * table_step_];
    result.ends_ = nullptr;
    result.table_step_ = 1;
    result.ends_buffer_ = BufferRef();
  } else {
    result.ends_ += i * ElementCount(result.shape_) * table_step_;
  }
  return result;
}

Tensor Tensor::Slice(int axis, int64_t begin, int64_t size) const {
  Tensor result = *this;
  if (IsVariableLength(dtype_)) {
    result.shape_[0] = 1;
    result.ends_ += begin * result.elements() * table_step_;
    result.shape_[0] = size;
    return result;
  }
  if (axis != 0 && result.strides_.empty()) {
    for (int i = 0; i < rank(); ++i) result.strides_.push_back(stride(i));
  }
  result.data_ += begin * stride(axis);
  result.shape_[axis] = size;
  return result;
}

Tensor Tensor::Reshape(absl::Span<const int64_t> shape) const {
  Tensor result = *this;
  result.shape_.assign(shape.begin(), shape.end());
  return result;
}

absl::StatusOr<Tensor> Tensor::Contiguous() const {
  if (contiguous()) return *this;
  HEADRACE_ASSIGN_OR_RETURN(Tensor copy, Allocate(dtype_, shape_));
  CopyTo(copy.mutable_raw());
  return copy;
}

absl::StatusOr<Tensor> Tensor::Joined() const {
  if (joined()) return *this;
  return JoinStrings(absl::MakeConstSpan(this, 1));
}

void Tensor::CopyTo(void* target) const {
  if (bytes() == 0) return;
  uint8_t* out = static_cast<uint8_t*>(target);
  if (contiguous()) {
    std::memcpy(out, data_, bytes());
    return;
  }
  CopyStrided(data_, shape_, strides_, ItemSize(dtype_), out);
}

std::string Tensor::TypeName() const { return Cat(DTypeName(dtype_), " ", ShapeName(shape_)); }

void Tensor::HandOver() const {
  if (buffer_) buffer_->HandOver();
  if (ends_buffer_) ends_buffer_->HandOver();
}

absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> rows) {
  if (rows.empty()) return InternalError("Stack of no rows");
  const Tensor& first = rows[0];
  for (const Tensor& row : rows) {
    if (row.dtype() == first.dtype() && row.shape() == first.shape()) continue;
    return GraphError("rows differ: ", first.TypeName(), " and ", row.TypeName());
  }
  Shape shape = first.shape();
  shape.insert(shape.begin(), static_cast<int64_t>(rows.size()));
  if (IsVariableLength(first.dtype())) {
    std::vector<std::string_view> elements;
    for (const Tensor& row : rows) {
      for (int64_t i = 0; i < row.elements(); ++i) elements.push_back(row.bytes_at(i));
    }
    return Tensor::CopyBytesArray(first.dtype(), shape, elements);
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor stacked, Tensor::Allocate(first.dtype(), shape));
  const size_t row_bytes = first.bytes();
  uint8_t* target = stacked.mutable_raw();
  for (const Tensor& row : rows) {
    row.CopyTo(target);
    target += row_bytes;
  }
  return stacked;
}

absl::StatusOr<Tensor> JoinStrings(absl::Span<const Tensor> arrays) {
  Shape shape = arrays[0].shape();
  shape[0] = 0;
  size_t bytes = 0;
  for (const Tensor& array : arrays) {
    shape[0] += array.dim(0);
    bytes += array.bytes();
  }
  BufferRef joined = BufferPool::Current().Allocate(bytes + kShort);
  BufferRef ends = BufferPool::Current().Allocate(static_cast<size_t>(ElementCount(shape) + 1) * sizeof(int64_t));
  if (!joined || !ends) return NoMemory(bytes);
  auto* end = reinterpret_cast<int64_t*>(ends->data());
  *end++ = 0;
  int64_t at = 0;
  for (const Tensor& array : arrays) {
    at = array.joined() ? CopyJoined(array, joined->data(), at, end) : CopySpans(array, joined->data(), at, end);
  }
  return Tensor::ViewBytesArray(arrays[0].dtype(), shape, std::move(joined), std::move(ends));
}

bool TensorsEqual(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (IsVariableLength(a.dtype())) {
    for (int64_t i = 0; i < a.elements(); ++i) {
      if (a.bytes_at(i) != b.bytes_at(i)) return false;
    }
    return true;
  }
  std::vector<uint8_t> left(a.bytes()), right(b.bytes());
  a.CopyTo(left.data());
  b.CopyTo(right.data());
  return left == right;
}

}  // namespace headrace

// `AsRaw` and its neighbours show tensors and statuses of the C interface to tests; nothing is copied.
// Threads: pure functions.
#ifndef HEADRACE_CAPI_TESTING_AS_RAW_H_
#define HEADRACE_CAPI_TESTING_AS_RAW_H_

#include <algorithm>
#include <cstring>
#include <string>

#include "capi/headrace.h"
#include "capi/viewed_tensor.h"
#include "core/tensor.h"

namespace headrace::fixture {

inline hr_tensor EmptyRaw() {
  hr_tensor raw = {};
  raw.size = sizeof raw;
  return raw;
}

// For an input: the tensor outlives it. Row-major; of bytes and strings, end to end.
inline hr_tensor AsRaw(const Tensor& tensor) {
  hr_tensor raw = EmptyRaw();
  const bool is_table = capi::IsStringTable(tensor);
  raw.dtype = static_cast<int32_t>(tensor.dtype());
  raw.axes = tensor.rank();
  std::copy(tensor.shape().begin(), tensor.shape().end(), raw.shape);
  raw.data = const_cast<uint8_t*>(tensor.raw());
  raw.bytes = is_table ? static_cast<uint64_t>(tensor.ends().back()) : tensor.bytes();
  raw.offsets = is_table ? tensor.ends().data() : nullptr;
  return raw;
}

// Whether an output has dtype, shape and bytes of the tensor.
inline bool IsEqual(const hr_tensor& raw, const Tensor& tensor) {
  if (raw.dtype != static_cast<int32_t>(tensor.dtype()) || raw.axes != tensor.rank()) return false;
  if (!std::equal(tensor.shape().begin(), tensor.shape().end(), raw.shape)) return false;
  if (!IsVariableLength(tensor.dtype())) {
    const Tensor plain = *tensor.Contiguous();
    return raw.bytes >= plain.bytes() && (plain.bytes() == 0 || std::memcmp(raw.data, plain.raw(), plain.bytes()) == 0);
  }
  const auto* const first = static_cast<const char*>(raw.data);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const int64_t begin = raw.offsets == nullptr ? 0 : raw.offsets[i];
    const int64_t end = raw.offsets == nullptr ? static_cast<int64_t>(raw.bytes) : raw.offsets[i + 1];
    if (std::string_view(first + begin, static_cast<size_t>(end - begin)) != tensor.bytes_at(i)) return false;
  }
  return true;
}

// The text of a status, which it frees; "" if there is none.
inline std::string TextOf(hr_status* status) {
  const std::string text = hr_status_text(status);
  hr_status_free(status);
  return text;
}

// The same with the kind of the status before the text.
inline std::string KindAndText(hr_status* status) {
  const std::string kind = std::to_string(hr_status_kind(status));
  return kind + ": " + TextOf(status);
}

}  // namespace headrace::fixture

#endif  // HEADRACE_CAPI_TESTING_AS_RAW_H_

#include "kernels/tensor/number.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace headrace {

absl::Status StoreNumber(std::string_view attribute, double value, DType dtype, void* target) {
  bool fits = false;
  const bool is_number = VisitNumber(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T stored = ConvertNumber<T>(value);
    fits = IsFloating(dtype) || static_cast<double>(ConvertNumber<double>(stored)) == value;
    std::memcpy(target, &stored, sizeof(T));
  });
  if (!is_number) return GraphError(attribute, " = ", value, " cannot stand in a column of ", DTypeName(dtype));
  if (!fits) return GraphError(attribute, " = ", value, " does not fit dtype ", DTypeName(dtype));
  return absl::OkStatus();
}

void RepeatElement(const void* element, size_t item, int64_t count, void* target) {
  uint8_t* out = static_cast<uint8_t*>(target);
  const size_t bytes = item * static_cast<size_t>(count);
  if (bytes == 0) return;
  std::memcpy(out, element, item);
  // Doubles what is filled: few calls whatever the count.
  for (size_t filled = item; filled < bytes;) {
    const size_t step = std::min(filled, bytes - filled);
    std::memcpy(out + filled, out, step);
    filled += step;
  }
}

}  // namespace headrace

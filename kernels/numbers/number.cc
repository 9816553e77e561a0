#include "kernels/numbers/number.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <variant>

#include "core/error.h"

namespace headrace {

namespace {

// For whole and real numbers, without rounding either.
template <typename T, typename Given>
bool IsSame(T stored, Given given) {
  if constexpr (std::is_same_v<Given, double>) {
    return static_cast<double>(stored) == given;
  } else {
    return static_cast<__int128>(stored) == given;
  }
}

template <typename Given>
absl::Status Store(std::string_view attribute, Given given, DType dtype, void* target) {
  bool fits = true;
  const bool is_number = VisitNumber(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T stored = ConvertNumber<T>(given);
    if constexpr (std::is_integral_v<T>) fits = IsSame(stored, given);
    std::memcpy(target, &stored, sizeof(T));
  });
  if (!is_number) return GraphError(attribute, " = ", given, " cannot be stored in a column of ", DTypeName(dtype));
  if (!fits) return GraphError(attribute, " = ", given, " does not fit dtype ", DTypeName(dtype));
  return absl::OkStatus();
}

}  // namespace

absl::Status StoreNumber(std::string_view attribute, ir::Number value, DType dtype, void* target) {
  return std::visit([&](auto given) { return Store(attribute, given, dtype, target); }, value);
}

void RepeatElement(const void* element, size_t item, int64_t count, void* target) {
  uint8_t* out = static_cast<uint8_t*>(target);
  const size_t bytes = item * static_cast<size_t>(count);
  if (bytes == 0) return;
  std::memcpy(out, element, item);
  // Doubles the filled part: few calls whatever the count.
  for (size_t filled = item; filled < bytes;) {
    const size_t step = std::min(filled, bytes - filled);
    std::memcpy(out + filled, out, step);
    filled += step;
  }
}

}  // namespace headrace

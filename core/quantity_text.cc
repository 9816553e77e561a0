#include "core/quantity_text.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "core/text.h"

namespace headrace {

std::string BytesText(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return absl::StrFormat("%.0f %s", value, ToAbsl(kUnits[unit]));
  return absl::StrFormat("%.1f %s", value, ToAbsl(kUnits[unit]));
}

std::string SecondsText(double seconds) {
  if (seconds < 1e-3) return absl::StrFormat("%.0f µs", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.1f ms", seconds * 1e3);
  return absl::StrFormat("%.2f s", seconds);
}

}  // namespace headrace

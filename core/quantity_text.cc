#include "core/quantity_text.h"

#include <charconv>
#include <string_view>

#include "core/text.h"

namespace headrace {
namespace {

// Uses to_chars, because absl::StrFormat ends the process when out of memory.
std::string Decimal(double value, int digits) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits).ptr};
}

}  // namespace

std::string BytesText(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return Cat(bytes, " B");
  return Cat(Decimal(value, 1), " ", kUnits[unit]);
}

std::string SecondsText(double seconds) {
  if (seconds < 1e-3) return Cat(Decimal(seconds * 1e6, 0), " µs");
  if (seconds < 1) return Cat(Decimal(seconds * 1e3, 1), " ms");
  return Cat(Decimal(seconds, 2), " s");
}

}  // namespace headrace

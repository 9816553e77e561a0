#include "core/testing/rounds.h"

#include <cstdlib>
#include <string_view>

namespace headrace {
namespace {

#ifdef HEADRACE_SANITIZER
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

bool IsAsked(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

int64_t Rounds(int64_t full, const OtherRuns& other) {
  if (kSanitized) return other.sanitized.value_or(full);
  if (IsAsked("HEADRACE_LONG")) return other.long_run.value_or(full);
  if (IsAsked("HEADRACE_QUICK")) return other.quick.value_or(full);
  return full;
}

int64_t OneIn(const OtherRuns& other) { return Rounds(1, other); }

}  // namespace headrace

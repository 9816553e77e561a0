#include "engine/device/device_name.h"

#include "absl/strings/numbers.h"
#include "core/error.h"
#include "core/text.h"

namespace headrace {
namespace {

constexpr int kMostNumber = 1023;

absl::Status NoDevice(std::string_view name) {
  return GraphError("device is \"", name,
                    "\"; it must be \"cpu:0\" or \"cuda:\" with the device's number, such as \"cuda:0\"");
}

}  // namespace

std::string DeviceName::text() const { return Cat(kind == Kind::kCuda ? "cuda:" : "cpu:", number); }

absl::StatusOr<DeviceName> ParseDeviceName(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  DeviceName parsed;
  if (kind == "cuda") {
    parsed.kind = DeviceName::Kind::kCuda;
  } else if (kind != "cpu") {
    return NoDevice(name);
  }
  if (colon == std::string_view::npos) return parsed;
  const std::string_view number = name.substr(colon + 1);
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || !absl::SimpleAtoi(std::string(number), &parsed.number) || parsed.number > kMostNumber) {
    return NoDevice(name);
  }
  if (parsed.kind == DeviceName::Kind::kCpu && parsed.number > 0) return NoDevice(name);
  return parsed;
}

}  // namespace headrace

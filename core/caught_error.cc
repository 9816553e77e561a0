#include "core/caught_error.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "core/error.h"

namespace headrace {
namespace {

const absl::Status& NoMemory() {
  static const auto* const error = new absl::Status(
      ResourceError("the machine has no more memory: give the process more, or iterate(memory=…) less"));
  return *error;
}

// Where a status keeps what it says. It marks the pointer to it by low bits, so that leak checkers do not follow it.
const void* MemoryOf(const absl::Status& status) {
  uintptr_t marked = 0;
  static_assert(sizeof marked == sizeof status);
  std::memcpy(&marked, &status, sizeof marked);
  return reinterpret_cast<const void*>(marked & ~uintptr_t{3});
}
// Made while there is still memory.
[[gnu::used]] const void* const made_early = MemoryOf(NoMemory());

bool LacksResources(const std::error_code& code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory;
}

}  // namespace

absl::Status CaughtError() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return NoMemory();
  } catch (const std::system_error& error) {
    if (LacksResources(error.code())) return ResourceError("the machine allows no more of them: ", error.what());
    return InternalError(error.what());
  } catch (const std::exception& error) {
    return InternalError(error.what());
  }
}

}  // namespace headrace

#include "core/caught_error.h"

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
// Made while there is still memory.
[[maybe_unused]] const absl::Status& made_early = NoMemory();

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

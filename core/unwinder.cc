#include "core/unwinder.h"

#include <mutex>

namespace headrace {
namespace {

struct Thrown {};

bool ThrowThroughTheCLibrary() {
  std::once_flag once;
  try {
    std::call_once(once, [] { throw Thrown(); });
  } catch (const Thrown&) {
  }
  return true;
}

}  // namespace

void LoadUnwinder() { [[maybe_unused]] static const bool loaded = ThrowThroughTheCLibrary(); }

}  // namespace headrace

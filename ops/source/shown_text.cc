#include "ops/source/shown_text.h"

#include <cstddef>

#include "core/printable.h"

namespace headrace {
namespace {

constexpr size_t kMostShown = 60;

}  // namespace

std::string ShownText(std::string_view text) { return PrintableStart(text, kMostShown); }

}  // namespace headrace

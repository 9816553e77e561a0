#include "ir/mistake.h"

#include <algorithm>

#include "core/printable.h"

namespace headrace::ir {
namespace {

// A longer list would not fit on a screen.
constexpr size_t kShown = 20;
// A longer location (a deep path) does not indent the other lines further.
constexpr size_t kWidestLocation = 40;

std::string Line(const Mistake& mistake, size_t width) {
  std::string line = "  ";
  if (width > 0) {
    line += Printable(mistake.location);
    line.resize(std::max(line.size(), 2 + width), ' ');
    line += "  ";
  }
  Append(line, mistake.op, mistake.op.empty() ? "" : ": ", mistake.message);
  return line;
}

}  // namespace

absl::Status CombineMistakes(absl::Span<const Mistake> mistakes) {
  if (mistakes.empty()) return absl::OkStatus();
  const absl::Span<const Mistake> shown = mistakes.subspan(0, kShown);
  size_t width = 0;
  for (const Mistake& mistake : shown) {
    width = std::max(width, std::min(Printable(mistake.location).size(), kWidestLocation));
  }
  const std::string_view plural = mistakes.size() == 1 ? " mistake" : " mistakes";
  std::vector<std::string> lines = {Cat(mistakes.size(), plural, " in the pipeline:")};
  for (const Mistake& mistake : shown) lines.push_back(Line(mistake, width));
  if (shown.size() < mistakes.size()) lines.push_back(Cat("  and ", mistakes.size() - shown.size(), " more"));
  return MakeErrorOfLines(mistakes[0].kind, lines);
}

}  // namespace headrace::ir

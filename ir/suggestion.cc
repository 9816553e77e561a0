#include "ir/suggestion.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "core/error.h"
#include "core/text.h"
#include "ir/declaration.h"

namespace headrace::ir {
namespace {

// Longer names are no misspellings, and an untrusted one would cost time.
constexpr size_t kLongestName = 100;
constexpr size_t kColumnsListed = 12;

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> Nearest(std::string_view name, absl::Span<const std::string> candidates) {
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string lower = absl::AsciiStrToLower(ToAbsl(name));
  std::optional<std::string> nearest;
  size_t least = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const size_t distance = EditDistance(lower, absl::AsciiStrToLower(candidate));
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, absl::Span<const std::string> candidates) {
  std::optional<std::string> nearest = Nearest(name, candidates);
  return nearest.has_value() ? Cat("; did you mean \"", *nearest, "\"?") : "";
}

absl::StatusOr<const Column*> FindColumn(const Schema& schema, std::string_view name) {
  const Column* column = schema.Find(name);
  if (column != nullptr) return column;
  std::vector<std::string> names = schema.Names();
  const std::string suggestion = DidYouMean(name, names);
  const bool cut = names.size() > kColumnsListed;
  if (cut) names.resize(kColumnsListed);
  return GraphError("no column \"", name, "\"", suggestion, " (columns: ", absl::StrJoin(names, ", "),
                    cut ? ", …)" : ")");
}

std::string_view PluginOf(std::string_view op) {
  const size_t dot = op.find('.');
  return dot == std::string_view::npos ? std::string_view() : op.substr(0, dot);
}

std::string MissingPlugin(std::string_view op) {
  const std::string_view plugin = PluginOf(op);
  if (plugin.empty()) return "";
  std::vector<std::string> its_own;
  for (const Declaration* declaration : Registry::Global().All()) {
    if (PluginOf(declaration->name) == plugin) its_own.push_back(declaration->name);
  }
  if (its_own.empty()) {
    return Cat("the plugin ", plugin, " is not loaded; call hr.load_plugin() with the path of its library first");
  }
  return Cat("the plugin ", plugin, ", as it is loaded here, has no ", op.substr(plugin.size() + 1),
             DidYouMean(op, its_own));
}

std::string UpgradeOf(std::string_view op) {
  const std::string_view plugin = PluginOf(op);
  return plugin.empty() ? "upgrade Headrace" : Cat("load a newer version of the plugin ", plugin);
}

}  // namespace headrace::ir

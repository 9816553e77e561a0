#include "ops/order/alias_table.h"

#include <algorithm>
#include <utility>

namespace headrace {

AliasTable::AliasTable(absl::Span<const double> weights) : columns_(weights.size()) {
  const auto heaviest = std::max_element(weights.begin(), weights.end());
  double sum = 0;
  // Relative to the largest, so that no sum overflows.
  for (const double weight : weights) sum += weight / *heaviest;
  const double to_mean = static_cast<double>(weights.size()) / sum;
  std::vector<uint32_t> light;
  std::vector<uint32_t> heavy;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    columns_[i] = {weights[i] / *heaviest * to_mean, i};
    (columns_[i].share < 1 ? light : heavy).push_back(i);
  }
  while (!light.empty() && !heavy.empty()) {
    const uint32_t small = light.back();
    const uint32_t large = heavy.back();
    light.pop_back();
    columns_[small].other = large;
    columns_[large].share -= 1 - columns_[small].share;
    if (columns_[large].share >= 1) continue;
    heavy.pop_back();
    light.push_back(large);
  }
  // What is left is full but for rounding; a weight of 0 stays undrawn nevertheless.
  for (const uint32_t i : heavy) columns_[i].share = 1;
  for (const uint32_t i : light) {
    if (weights[i] > 0) columns_[i].share = 1;
    if (weights[i] == 0) columns_[i].other = static_cast<uint32_t>(heaviest - weights.begin());
  }
}

}  // namespace headrace

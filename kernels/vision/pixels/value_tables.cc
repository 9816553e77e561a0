#include "kernels/vision/pixels/value_tables.h"

#include <numeric>

namespace headrace {
namespace {

using Table = std::array<uint8_t, 256>;

Table Identity() {
  Table table;
  std::iota(table.begin(), table.end(), uint8_t{0});
  return table;
}

void MapThree(const uint8_t* __restrict__ values, int64_t pixels, const uint8_t* __restrict__ first,
              const uint8_t* __restrict__ second, const uint8_t* __restrict__ third, uint8_t* __restrict__ target) {
  for (int64_t i = 0; i < 3 * pixels; i += 3) {
    target[i] = first[values[i]];
    target[i + 1] = second[values[i + 1]];
    target[i + 2] = third[values[i + 2]];
  }
}

}  // namespace

ValueTables::ValueTables(int64_t channels) : tables_(static_cast<size_t>(channels), Identity()) {}

void ValueTables::Then(const PixelStep& step, const PixelFacts& facts) {
  for (size_t c = 0; c < tables_.size(); ++c) {
    const Table before = tables_[c];
    const PixelRow row = {before.data(), DType::kUInt8, static_cast<int64_t>(before.size()), 1,
                          static_cast<int64_t>(c)};
    step.Run(row, facts, tables_[c].data());
  }
}

void ValueTables::Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const {
  const uint8_t* const values = row.values;
  if (row.channels == 3) {
    return MapThree(values, row.pixels, tables_[0].data(), tables_[1].data(), tables_[2].data(), target);
  }
  for (int64_t c = 0; c < row.channels; ++c) {
    const uint8_t* const table = tables_[row.plane < 0 ? c : row.plane].data();
    for (int64_t i = c; i < row.count(); i += row.channels) target[i] = table[values[i]];
  }
}

}  // namespace headrace

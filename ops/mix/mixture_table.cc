#include "ops/mix/mixture_table.h"

#include <algorithm>
#include <bit>

namespace headrace {
namespace {

constexpr size_t kMostInBytes = 256;
// So that a look-up reads little, and the counts of few inputs take little.
constexpr uint64_t kLeastInterval = 64;

}  // namespace

uint64_t MixtureTable::IntervalOf(size_t inputs) {
  return std::max(kLeastInterval, std::bit_ceil(uint64_t{sizeof(uint64_t)} * inputs));
}

MixtureTable::MixtureTable(size_t inputs) : inputs_(inputs), interval_(IntervalOf(inputs)), now_(inputs) {
  if (inputs > kMostInBytes) drawn_.emplace<std::vector<uint16_t>>();
}

uint64_t MixtureTable::BytesOf(size_t inputs, uint64_t draws) {
  const uint64_t intervals = draws / IntervalOf(inputs) + 1;
  return draws * (inputs > kMostInBytes ? sizeof(uint16_t) : sizeof(uint8_t)) + intervals * inputs * sizeof(uint64_t);
}

void MixtureTable::Add(size_t input) {
  if (size_ % interval_ == 0) counts_.insert(counts_.end(), now_.begin(), now_.end());
  if (auto* const bytes = std::get_if<std::vector<uint8_t>>(&drawn_)) {
    bytes->push_back(static_cast<uint8_t>(input));
  } else {
    std::get<std::vector<uint16_t>>(drawn_).push_back(static_cast<uint16_t>(input));
  }
  ++now_[input];
  ++size_;
}

MixtureTable::DrawnInput MixtureTable::At(uint64_t draw) const {
  const uint64_t interval = draw / interval_;
  return std::visit(
      [&](const auto& drawn) -> DrawnInput {
        const auto input = drawn[draw];
        const auto begin = drawn.begin() + static_cast<std::ptrdiff_t>(interval * interval_);
        const auto end = drawn.begin() + static_cast<std::ptrdiff_t>(draw);
        const auto since = static_cast<uint64_t>(std::count(begin, end, input));
        return {input, counts_[interval * inputs_ + input] + since};
      },
      drawn_);
}

void MixtureTable::ShrinkToFit() {
  std::visit([](auto& drawn) { drawn.shrink_to_fit(); }, drawn_);
  counts_.shrink_to_fit();
}

size_t MixtureTable::bytes() const {
  const size_t of_draws = std::visit([](const auto& drawn) { return drawn.capacity() * sizeof(drawn[0]); }, drawn_);
  return of_draws + (counts_.capacity() + now_.capacity()) * sizeof(uint64_t);
}

}  // namespace headrace

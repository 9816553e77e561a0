#include "ops/order/row_set.h"

#include <algorithm>
#include <bit>

namespace headrace {
namespace {

// The bit with so many set ones below it.
uint64_t BitAt(uint64_t word, uint64_t rank) {
  uint64_t bit = 0;
  for (uint64_t half = 32; half > 0; half /= 2) {
    const uint64_t low = word & ((uint64_t{1} << half) - 1);
    const auto in_low = static_cast<uint64_t>(std::popcount(low));
    if (rank < in_low) {
      word = low;
    } else {
      rank -= in_low;
      word >>= half;
      bit += half;
    }
  }
  return bit;
}

}  // namespace

RowSet::RowSet(uint64_t size) : size_(size), words_(size / 64 + (size % 64 > 0 ? 1 : 0)), before_(1) {}

void RowSet::Invert() {
  for (uint64_t& word : words_) word = ~word;
  if (size_ % 64 > 0) words_.back() &= (uint64_t{1} << size_ % 64) - 1;
}

void RowSet::Count() {
  before_.assign(1, 0);
  for (uint64_t word = 0; word < words_.size(); ++word) {
    if (word % kWordsCounted == 0) before_.push_back(before_.back());
    before_.back() += static_cast<uint64_t>(std::popcount(words_[word]));
  }
}

uint64_t RowSet::At(uint64_t rank) const {
  const auto run = static_cast<uint64_t>(std::upper_bound(before_.begin(), before_.end(), rank) - before_.begin()) - 1;
  rank -= before_[run];
  uint64_t word = run * kWordsCounted;
  while (true) {
    const auto here = static_cast<uint64_t>(std::popcount(words_[word]));
    if (rank < here) return word * 64 + BitAt(words_[word], rank);
    rank -= here;
    ++word;
  }
}

uint64_t RowSet::Next(uint64_t row) const {
  ++row;
  uint64_t word = row / 64;
  uint64_t left = words_[word] >> row % 64 << row % 64;
  while (left == 0) left = words_[++word];
  return word * 64 + static_cast<uint64_t>(std::countr_zero(left));
}

}  // namespace headrace

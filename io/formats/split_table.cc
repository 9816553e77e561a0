#include "io/formats/split_table.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr int64_t kSplitsOfAll = 1024;
constexpr int64_t kLeastBytes = int64_t{64} << 10;
constexpr int64_t kMostBytes = int64_t{16} << 20;

}  // namespace

SplitTable::SplitTable(absl::Span<const int64_t> sizes, int64_t split_bytes) : split_bytes_(split_bytes) {
  first_.reserve(sizes.size() + 1);
  uint64_t number = 0;
  for (const int64_t size : sizes) {
    first_.push_back(number);
    number += size == 0 ? 1 : static_cast<uint64_t>((size - 1) / split_bytes + 1);
  }
  first_.push_back(number);
}

int64_t SplitTable::DefaultSplitBytes(int64_t total) {
  return std::clamp(total / kSplitsOfAll, kLeastBytes, kMostBytes);
}

SplitTable::Place SplitTable::At(uint64_t number) const {
  const auto behind = std::upper_bound(first_.begin(), first_.end(), number);
  const auto file = static_cast<uint64_t>(behind - first_.begin()) - 1;
  const int64_t begin = static_cast<int64_t>(number - first_[file]) * split_bytes_;
  return {file, {begin, number + 1 == *behind ? Split::kFileEnd : begin + split_bytes_}};
}

}  // namespace headrace

#include "io/formats/item_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/hash.h"
#include "core/row_id.h"

namespace headrace {
namespace {

template <typename T>
std::string_view BytesOfItems(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

ItemTable::OwnEnds ItemTable::OwnEndsOf(const ItemSpans& items) {
  OwnEnds own;
  for (size_t i = 0; i + 1 < items.ends.size(); ++i) {
    if (items.ends[i] == items.begins[i + 1]) continue;
    // An entry of `some` takes as much as two of `all`.
    if (2 * (own.some.size() + 1) > items.ends.size()) return {{}, items.ends};
    own.some.push_back({i, items.ends[i]});
  }
  own.some.shrink_to_fit();
  return own;
}

void ItemTable::Add(std::string path, int64_t size, ItemSpans items) {
  files_.push_back({std::move(path), size, this->size()});
  ends_.push_back(OwnEndsOf(items));
  // A copy of the one large file would be the most memory that its table takes.
  if (begins_.empty()) {
    begins_ = std::move(items.begins);
  } else {
    begins_.insert(begins_.end(), items.begins.begin(), items.begins.end());
  }
  begins_.push_back(items.ends.empty() ? items.end : items.ends.back());
}

uint64_t ItemTable::FileOf(uint64_t item) const {
  const auto after = std::upper_bound(files_.begin(), files_.end(), item,
                                      [](uint64_t number, const File& file) { return number < file.first; });
  return static_cast<uint64_t>(after - files_.begin()) - 1;
}

int64_t ItemTable::OwnEnd(uint64_t item, uint64_t file) const {
  const OwnEnds& own = ends_[file];
  const uint64_t within = item - files_[file].first;
  if (!own.all.empty()) return own.all[within];
  const auto found = std::lower_bound(own.some.begin(), own.some.end(), within,
                                      [](const Apart& apart, uint64_t number) { return apart.item < number; });
  return found != own.some.end() && found->item == within ? found->end : begins_[item + file + 1];
}

uint64_t ItemTable::fingerprint() const {
  uint64_t hash = HashBytes(BytesOfItems(begins_), files_.size());
  for (size_t file = 0; file < files_.size(); ++file) {
    const OwnEnds& own = ends_[file];
    if (!own.some.empty()) hash = HashBytes(BytesOfItems(own.some), MixKey(hash, file));
    if (!own.all.empty()) hash = HashBytes(BytesOfItems(own.all), MixKey(hash, file));
  }
  return hash;
}

}  // namespace headrace

// `EntryList` collects the entries of a file in its order; of two entries of one key the later one counts.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_MODEL_ENTRY_LIST_H_
#define HEADRACE_IO_FORMATS_MODEL_ENTRY_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/seeded_hash.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

class EntryList {
 public:
  explicit EntryList(WantedKey wanted = {}) : wanted_(wanted) {}

  bool Wants(std::string_view key) const { return !wanted_.has_value() || *wanted_ == key; }
  void Set(std::string key, std::string value) {
    const auto [place, is_new] = places_.try_emplace(key, entries_.size());
    if (is_new) {
      entries_.emplace_back(std::move(key), std::move(value));
    } else {
      entries_[place->second].second = std::move(value);
    }
  }
  bool Has(const std::string& key) const { return places_.contains(key); }
  std::vector<ModelEntry> Take() { return std::move(entries_); }

 private:
  const WantedKey wanted_;
  std::vector<ModelEntry> entries_;
  std::unordered_map<std::string, size_t, SeededHash> places_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_ENTRY_LIST_H_

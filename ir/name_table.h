// `NameTable` holds named values, which may be added while other threads look them up. Nothing is removed, so a pointer
// to a value stays valid. A lookup takes no lock, so that a child forked meanwhile finds none taken.
// Threads: any thread.
#ifndef HEADRACE_IR_NAME_TABLE_H_
#define HEADRACE_IR_NAME_TABLE_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::ir {

template <typename Value>
class NameTable {
 public:
  // Null: there is none.
  const Value* Find(std::string_view name) const {
    const Entries& entries = *entries_.load(std::memory_order_acquire);
    const auto found = LowerBound(entries, name);
    return found != entries.end() && found->name == name ? found->value : nullptr;
  }
  // By name.
  std::vector<const Value*> All() const {
    std::vector<const Value*> all;
    for (const Entry& entry : *entries_.load(std::memory_order_acquire)) all.push_back(entry.value);
    return all;
  }
  // False, with nothing changed: the name is taken.
  bool Add(std::string name, Value value) {
    const std::lock_guard lock(mutex_);
    const Entries& before = *entries_.load(std::memory_order_relaxed);
    const auto place = LowerBound(before, name);
    if (place != before.end() && place->name == name) return false;
    values_.push_back(std::make_unique<const Named>(Named{std::move(name), std::move(value)}));
    const Named& added = *values_.back();
    auto after = std::make_unique<Entries>(before);
    after->insert(after->begin() + (place - before.begin()), {added.name, &added.value});
    entries_.store(after.get(), std::memory_order_release);
    // The entries before stay as well: other threads may be looking at them.
    versions_.push_back(std::move(after));
    return true;
  }

 private:
  struct Named {
    const std::string name;
    const Value value;
  };
  struct Entry {
    std::string_view name;
    const Value* value;
  };
  using Entries = std::vector<Entry>;

  static typename Entries::const_iterator LowerBound(const Entries& entries, std::string_view name) {
    return std::lower_bound(entries.begin(), entries.end(), name,
                            [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  }

  std::mutex mutex_;  // of additions
  std::vector<std::unique_ptr<const Named>> values_;
  std::vector<std::unique_ptr<const Entries>> versions_;
  const Entries none_;
  std::atomic<const Entries*> entries_{&none_};
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_NAME_TABLE_H_

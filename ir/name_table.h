// `NameTable` holds named values, which may be added while other threads look them up. Nothing is removed, so a pointer
// to a value stays valid. A lookup takes no lock, so that a child forked meanwhile finds none taken.
// Threads: any thread.
#ifndef HEADRACE_IR_NAME_TABLE_H_
#define HEADRACE_IR_NAME_TABLE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/seeded_hash.h"

namespace headrace::ir {

template <typename Value>
class NameTable {
 public:
  // Null: there is none.
  const Value* Find(std::string_view name) const {
    const Named* const found = slots_.load(std::memory_order_acquire)->Find(name);
    return found == nullptr ? nullptr : &found->value;
  }
  // By name.
  std::vector<const Value*> All() const {
    std::vector<const Named*> named = slots_.load(std::memory_order_acquire)->All();
    std::sort(named.begin(), named.end(), [](const Named* a, const Named* b) { return a->name < b->name; });
    std::vector<const Value*> all;
    for (const Named* const each : named) all.push_back(&each->value);
    return all;
  }
  // False, with nothing changed: the name is taken.
  bool Add(std::string name, Value value) {
    const std::lock_guard lock(mutex_);
    if (Find(name) != nullptr) return false;
    if (2 * (values_.size() + 1) > versions_.back()->size()) Grow();
    // In place: a declaration is not copied.
    std::unique_ptr<const Named> added(new Named{std::move(name), std::move(value)});
    values_.push_back(std::move(added));
    versions_.back()->Put(values_.back().get());
    return true;
  }

 private:
  struct Named {
    const std::string name;
    const Value value;
  };

  // A hash table with open addressing; half of its slots stay empty.
  class Slots {
   public:
    // `size`: a power of 2.
    explicit Slots(size_t size) : named_(size) {}

    size_t size() const { return named_.size(); }
    const Named* Find(std::string_view name) const {
      for (size_t at = SeededHash()(name);; ++at) {
        const Named* const named = Slot(at).load(std::memory_order_acquire);
        if (named == nullptr || named->name == name) return named;
      }
    }
    void Put(const Named* named) {
      size_t at = SeededHash()(named->name);
      while (Slot(at).load(std::memory_order_relaxed) != nullptr) ++at;
      named_[at & (size() - 1)].store(named, std::memory_order_release);
    }
    std::vector<const Named*> All() const {
      std::vector<const Named*> all;
      for (const auto& slot : named_) {
        if (const Named* const named = slot.load(std::memory_order_acquire)) all.push_back(named);
      }
      return all;
    }

   private:
    const std::atomic<const Named*>& Slot(size_t at) const { return named_[at & (size() - 1)]; }

    std::vector<std::atomic<const Named*>> named_;
  };

  void Grow() {
    auto larger = std::make_unique<Slots>(2 * versions_.back()->size());
    for (const auto& named : values_) larger->Put(named.get());
    // The slots before stay as well: other threads may be looking at them.
    versions_.push_back(std::move(larger));
    slots_.store(versions_.back().get(), std::memory_order_release);
  }

  static std::vector<std::unique_ptr<Slots>> First() {
    std::vector<std::unique_ptr<Slots>> first;
    first.push_back(std::make_unique<Slots>(kFirstSlots));
    return first;
  }

  static constexpr size_t kFirstSlots = 16;
  std::mutex mutex_;  // of additions
  std::vector<std::unique_ptr<const Named>> values_;
  std::vector<std::unique_ptr<Slots>> versions_ = First();
  std::atomic<const Slots*> slots_{versions_.back().get()};
};

}  // namespace headrace::ir

#endif  // HEADRACE_IR_NAME_TABLE_H_

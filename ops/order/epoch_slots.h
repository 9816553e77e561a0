// `EpochSlots` keeps what orders make once for each epoch, such as its permutation: that of two epochs is kept, charged
// to the pipeline of the task that asked for it first.
// Threads: any thread. Reading what is kept takes no lock; while one thread makes it, others that need it wait.
#ifndef HEADRACE_OPS_ORDER_EPOCH_SLOTS_H_
#define HEADRACE_OPS_ORDER_EPOCH_SLOTS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/buffer.h"

namespace headrace {

// Made: has bytes(), what it takes.
template <typename Made>
class EpochSlots {
 public:
  EpochSlots() = default;
  EpochSlots(const EpochSlots&) = delete;

  // Calls `read` with the epoch's object. `make` returns it, as std::shared_ptr<const Made>.
  template <typename Make, typename Read>
  void With(uint64_t epoch, Make make, Read read) {
    Slot& slot = slots_[epoch % slots_.size()];
    if (!slot.TryRead(epoch, read)) read(*slot.Put(epoch, make));
  }

 private:
  struct Kept {
    uint64_t epoch;
    std::shared_ptr<const Made> made;
  };

  // The object of one epoch, for readers that register first. It is replaced when it has no readers.
  class Slot {
   public:
    ~Slot() { Hold(std::nullopt); }

    template <typename Read>
    bool TryRead(uint64_t epoch, Read& read) {
      readers_.fetch_add(1, std::memory_order_seq_cst);
      const Kept* const here = here_.load(std::memory_order_seq_cst);
      const bool found = here != nullptr && here->epoch == epoch;
      if (found) read(*here->made);
      readers_.fetch_sub(1, std::memory_order_release);
      return found;
    }

    template <typename Make>
    std::shared_ptr<const Made> Put(uint64_t epoch, Make& make) {
      const std::lock_guard<std::mutex> lock(replacing_);
      if (held_.has_value() && held_->epoch == epoch) return held_->made;
      Kept next{epoch, make()};
      std::shared_ptr<const Made> made = next.made;
      // Readers that register from now on find nothing; earlier readers finish within a few hundred rows.
      here_.store(nullptr, std::memory_order_seq_cst);
      while (readers_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
      Hold(std::move(next));
      here_.store(&*held_, std::memory_order_seq_cst);
      return made;
    }

   private:
    // Charges it to the pipeline of the running task.
    void Hold(std::optional<Kept> next) {
      if (account_ != nullptr) account_->Charge(-static_cast<int64_t>(held_->made->bytes()));
      held_ = std::move(next);
      const TaskMemory* const task = TaskMemory::Current();
      account_ = held_.has_value() && task != nullptr ? task->account() : nullptr;
      if (account_ != nullptr) account_->Charge(static_cast<int64_t>(held_->made->bytes()));
    }

    std::mutex replacing_;
    std::optional<Kept> held_;
    MemoryAccount* account_ = nullptr;
    std::atomic<const Kept*> here_{nullptr};
    std::atomic<int> readers_{0};
  };

  // For two consecutive epochs: one begins while the last rows of the other are read.
  std::array<Slot, 2> slots_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_ORDER_EPOCH_SLOTS_H_

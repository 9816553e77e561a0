// A connector carries numbered items from one stage to the next and keeps their order whatever order they are made
// in. It is a ring of Q queues, drained round-robin: item s passes through queue s mod Q, and the counter of what is
// due next decides which queue is popped. A producer takes number s only while s < due + Q, so any free worker may
// make any number, a slow one holds up nobody until the window is full, and a number taken always has its slot.
//
// One number may carry several parts, each saying whether more follow; popping the last part, and nothing else,
// advances what is due and frees the queue.
//
// A bound in bytes may be given: a number is then taken only if what is queued and the largest item seen fit, but the
// number that is due is always given out, else a full window of later items would wait for it for ever.
//
// Thread contract: any number of producers; one consumer at a time. Try… never block; the others wait on `Wake`,
// which a test may replace. No user code runs under the lock, except the move of an item.
#ifndef HEADRACE_ENGINE_EXEC_CONNECTOR_H_
#define HEADRACE_ENGINE_EXEC_CONNECTOR_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/brief_lock.h"

namespace headrace {

class ConditionWake {
 public:
  template <typename Predicate>
  void Wait(std::unique_lock<std::mutex>& lock, Predicate done) {
    condition_.wait(lock, done);
  }
  template <typename Predicate>
  bool WaitFor(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds limit, Predicate done) {
    return condition_.wait_for(lock, limit, done);
  }
  void Notify() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

template <typename Item, typename Wake = ConditionWake>
class Connector {
 public:
  static constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

  explicit Connector(int queues, int64_t byte_bound = kNoBound)
      : queues_(static_cast<size_t>(queues)), byte_bound_(byte_bound), limit_(queues_), ring_(queues_) {}
  Connector(const Connector&) = delete;

  // --- producers ---

  // Up to `most` numbers in a row, from the one returned; `taken` says how many. None: no free slot, or closed.
  std::optional<uint64_t> TryTake(int most, int& taken) {
    const auto lock = BriefLock(mutex_);
    return TakeLocked(most, taken);
  }
  // Waits for a free slot. None: closed.
  std::optional<uint64_t> Take() {
    auto lock = BriefLock(mutex_);
    std::optional<uint64_t> number;
    int taken = 0;
    space_.Wait(lock, [&] { return closed_ || (number = TakeLocked(1, taken)).has_value(); });
    return number;
  }
  // For a producer whose takers take turns: `count` of the numbers that FreeSlots() promised, though what was pushed
  // since may have used up the bytes.
  uint64_t TakePromised(int count) {
    const auto lock = BriefLock(mutex_);
    const uint64_t first = next_;
    next_ += static_cast<uint64_t>(count);
    return first;
  }
  // Lets so many numbers be on their way at once, from 1 to the number of queues. A producer that raises it looks for
  // the slots itself, for nobody is woken.
  void SetLimit(int numbers) {
    const auto lock = BriefLock(mutex_);
    limit_ = static_cast<size_t>(numbers);
  }
  // Hands over one part of a number taken before; the last one says more = false. Never blocks.
  // Returns whether the consumer can pop it at once.
  bool Push(uint64_t number, Item item, int64_t bytes = 0, bool more = false) {
    const auto lock = BriefLock(mutex_);
    return PushLocked(number, std::move(item), bytes, more);
  }
  // Numbers first, first + 1, …; items are moved from.
  template <typename Items>
  bool PushRun(uint64_t first, Items& items) {
    const auto lock = BriefLock(mutex_);
    bool due = false;
    for (auto& [item, bytes] : items) due |= PushLocked(first++, std::move(item), bytes, false);
    return due;
  }

  // --- the consumer ---

  // The part due next, if it is there. `was_full` is set when producers may have waited for the slot.
  std::optional<Item> TryPop(bool& was_full) {
    const auto lock = BriefLock(mutex_);
    if (!ReadyLocked()) return std::nullopt;
    return PopLocked(was_full);
  }
  // Appends up to `most` parts to `items`.
  template <typename Items>
  int TryPopRun(int most, Items& items, bool& was_full) {
    const auto lock = BriefLock(mutex_);
    int popped = 0;
    for (; popped < most && ReadyLocked(); ++popped) items.push_back(PopLocked(was_full));
    return popped;
  }
  // Waits for the part due next. None: closed.
  std::optional<Item> Pop() {
    auto lock = BriefLock(mutex_);
    data_.Wait(lock, [&] { return closed_ || ReadyLocked(); });
    if (closed_) return std::nullopt;
    bool was_full = false;
    return PopLocked(was_full);
  }
  // Waits until the part due next is there, or the connector is closed, or the time is over.
  bool WaitReady(std::chrono::nanoseconds limit) {
    auto lock = BriefLock(mutex_);
    return data_.WaitFor(lock, limit, [&] { return closed_ || ReadyLocked(); });
  }
  // Shows the part due next under the lock; false where it is not there.
  template <typename Look>
  bool Peek(Look look) {
    const auto lock = BriefLock(mutex_);
    if (!ReadyLocked()) return false;
    look(static_cast<const Item&>(ring_[due_ % queues_].Front().item));
    return true;
  }

  // --- both ---

  // Drops what is queued and lets everybody go who waits. What is pushed later is dropped.
  void Close() {
    std::vector<Queue> dropped;
    {
      const auto lock = BriefLock(mutex_);
      closed_ = true;
      SetQueued(0);
      bytes_ = 0;
      // Needs no memory, and leaves no queue.
      ring_.swap(dropped);
    }
    space_.Notify();
    data_.Notify();
  }

  bool Ready() {
    const auto lock = BriefLock(mutex_);
    return ReadyLocked();
  }
  // Numbers, from the one due on, of which a part is there; counts up to `most`.
  int ReadyRun(int most) {
    const auto lock = BriefLock(mutex_);
    int run = 0;
    if (closed_) return run;
    while (run < most && run < static_cast<int>(queues_) &&
           !ring_[(due_ + static_cast<uint64_t>(run)) % queues_].empty())
      ++run;
    return run;
  }
  // Numbers that could be taken now.
  int FreeSlots() {
    const auto lock = BriefLock(mutex_);
    return PlacesLocked();
  }
  struct Levels {
    uint64_t due = 0;     // number popped next
    uint64_t next = 0;    // number taken next
    int queued = 0;       // parts there
    int64_t bytes = 0;    // in them
    int64_t largest = 0;  // bytes of the largest item seen
  };
  Levels levels() {
    const auto lock = BriefLock(mutex_);
    return {due_, next_, queued(), bytes_, largest_};
  }
  // Parts there a moment ago, without the lock.
  int queued() const { return queued_.load(std::memory_order_relaxed); }
  int window() const { return static_cast<int>(queues_); }
  int64_t byte_bound() const { return byte_bound_; }
  // Which queue a number passes through.
  int QueueOf(uint64_t number) const { return static_cast<int>(number % queues_); }
  // Parts waiting in one queue; for tests.
  int QueueSize(int queue) {
    const auto lock = BriefLock(mutex_);
    return closed_ ? 0 : static_cast<int>(ring_[queue].parts.size() - ring_[queue].popped);
  }

 private:
  struct Part {
    Item item;
    int64_t bytes;
    bool more;
  };
  struct Queue {
    absl::InlinedVector<Part, 1> parts;
    size_t popped = 0;

    const Part& Front() const { return parts[popped]; }
    bool empty() const { return popped == parts.size(); }
    Part Pop() {
      Part part = std::move(parts[popped++]);
      if (empty()) {
        parts.clear();
        popped = 0;
      }
      return part;
    }
  };

  void SetQueued(int parts) { queued_.store(parts, std::memory_order_relaxed); }
  int PlacesLocked() const {
    if (closed_) return 0;
    const int window = static_cast<int>(due_ + limit_ - next_);
    if (window <= 0) return 0;
    if (byte_bound_ == kNoBound) return window;
    // Counts what is queued and what is on its way, as large as the largest seen.
    const int64_t on_way = static_cast<int64_t>(next_ - due_) - queued();
    const int64_t room = byte_bound_ - bytes_ - std::max<int64_t>(0, on_way) * largest_;
    const int64_t fit = largest_ > 0 ? std::max<int64_t>(0, room) / largest_ : window;
    if (fit == 0) return next_ == due_ ? 1 : 0;
    return static_cast<int>(std::min<int64_t>(window, fit));
  }
  std::optional<uint64_t> TakeLocked(int most, int& taken) {
    taken = std::min(most, PlacesLocked());
    if (taken <= 0) return std::nullopt;
    const uint64_t first = next_;
    next_ += static_cast<uint64_t>(taken);
    return first;
  }
  bool PushLocked(uint64_t number, Item item, int64_t bytes, bool more) {
    if (closed_) return false;
    const bool full = byte_bound_ != kNoBound && PlacesLocked() == 0;
    ring_[number % queues_].parts.push_back({std::move(item), bytes, more});
    SetQueued(queued() + 1);
    bytes_ += bytes;
    largest_ = std::max(largest_, bytes);
    // An item smaller than was feared leaves room for the next one.
    if (full && PlacesLocked() > 0) space_.Notify();
    if (number != due_) return false;
    data_.Notify();
    return true;
  }
  bool ReadyLocked() const { return !closed_ && !ring_[due_ % queues_].empty(); }
  Item PopLocked(bool& was_full) {
    Part part = ring_[due_ % queues_].Pop();
    const bool full = PlacesLocked() == 0;
    SetQueued(queued() - 1);
    bytes_ -= part.bytes;
    if (!part.more) ++due_;
    if (full && PlacesLocked() > 0) {
      was_full = true;
      space_.Notify();
    }
    return std::move(part.item);
  }

  std::mutex mutex_;
  Wake space_;
  Wake data_;
  const size_t queues_;
  const int64_t byte_bound_;
  size_t limit_;
  std::vector<Queue> ring_;
  uint64_t due_ = 0;
  uint64_t next_ = 0;
  std::atomic<int> queued_{0};  // changed under the lock
  int64_t bytes_ = 0;
  int64_t largest_ = 0;
  bool closed_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_CONNECTOR_H_

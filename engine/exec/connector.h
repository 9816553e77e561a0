// `Connector` carries numbered items from one stage to the next in order, whatever the order in which they are
// produced. It is a ring of Q queues, drained round-robin: item s passes through queue s mod Q, and the number that is
// due selects the queue that is popped. A producer takes number s only while s < due + Q. So any free worker may
// produce any number, a slow item blocks no other until the window is full, and a taken number always has a slot.
//
// A number may have several parts, each with a flag that tells whether more follow. Only popping the last part advances
// `due` and frees the queue.
//
// With a bound in bytes, a number is given out only if the queued bytes and the largest item seen fit. The due number
// is always given out: otherwise a full window of later items would wait for it forever.
//
// A producer for which many numbers at once cost little more than one may ask for room: then none is given out until so
// many slots are free, or few items are left for the consumer.
//
// Threads: any number of producers; one consumer at a time. Take, Pop and WaitReady wait on `Wake`, which a test may
// replace; the others never block. No user code runs under the lock, except the move of an item.
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

  // Takes up to `most` consecutive numbers; returns the first and sets `taken` to their count. None: no free slot, or
  // closed.
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
  // For a producer whose threads take numbers one at a time: takes `count` of the numbers that FreeSlots() promised,
  // even if items pushed since have used up the bytes.
  uint64_t TakePromised(int count) {
    const auto lock = BriefLock(mutex_);
    const uint64_t first = next_;
    next_ += static_cast<uint64_t>(count);
    return first;
  }
  // Limits how many numbers may be taken and not yet popped, from 1 to the number of queues. Raising the limit wakes no
  // waiter: the producer that raises it checks for free slots itself.
  void SetLimit(int numbers) {
    const auto lock = BriefLock(mutex_);
    limit_ = static_cast<size_t>(numbers);
  }
  // How many slots are free before numbers are given out again, unless a quarter of what is in use is free already.
  // Wakes no waiter: the producer that sets it checks for free slots itself, later.
  void SetRoom(int slots) {
    const auto lock = BriefLock(mutex_);
    room_ = slots;
  }
  // Queues one part of a taken number; `more` is false for the last part. Never blocks. Returns whether the consumer
  // can pop it at once.
  bool Push(uint64_t number, Item item, int64_t bytes = 0, bool more = false) {
    const auto lock = BriefLock(mutex_);
    return PushLocked(number, std::move(item), bytes, more);
  }
  // Pushes an item for each of the numbers first, first + 1, …; items are moved from.
  template <typename Items>
  bool PushRun(uint64_t first, Items& items) {
    const auto lock = BriefLock(mutex_);
    bool due = false;
    for (auto& [item, bytes] : items) due |= PushLocked(first++, std::move(item), bytes, false);
    return due;
  }

  // --- the consumer ---

  // The part due next, if it is queued. Sets `was_full` if producers may have waited for the slot.
  std::optional<Item> TryPop(bool& was_full) {
    const auto lock = BriefLock(mutex_);
    if (!ReadyLocked()) return std::nullopt;
    return PopLocked(was_full);
  }
  // Appends up to `most` parts to `items`.
  template <typename Items>
  int TryPopRun(int most, Items& items, bool& was_full) {
    return TryPopRun(most, items, was_full, [](const Item&) { return false; });
  }
  // Appends up to `most` parts to `items`, but none after one of which `last` is true.
  template <typename Items, typename Last>
  int TryPopRun(int most, Items& items, bool& was_full, Last last) {
    const auto lock = BriefLock(mutex_);
    int popped = 0;
    for (bool more = true; more && popped < most && ReadyLocked(); ++popped) {
      items.push_back(PopLocked(was_full));
      more = !last(static_cast<const Item&>(items.back()));
    }
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
  // Waits until the part due next is queued, the connector is closed or the time is over.
  bool WaitReady(std::chrono::nanoseconds limit) {
    auto lock = BriefLock(mutex_);
    return data_.WaitFor(lock, limit, [&] { return closed_ || ReadyLocked(); });
  }
  // Calls `look` with the part due next, under the lock. False: it is not queued.
  template <typename Look>
  bool Peek(Look look) {
    const auto lock = BriefLock(mutex_);
    if (!ReadyLocked()) return false;
    look(static_cast<const Item&>(ring_[due_ % queues_].Front().item));
    return true;
  }

  // --- both ---

  // Drops queued parts and wakes all waiters. Parts that are pushed later are dropped.
  void Close() {
    std::vector<Queue> dropped;
    {
      const auto lock = BriefLock(mutex_);
      closed_ = true;
      SetQueued(0);
      bytes_ = 0;
      // Needs no memory, and leaves no queues.
      ring_.swap(dropped);
    }
    space_.Notify();
    data_.Notify();
  }

  bool Ready() {
    const auto lock = BriefLock(mutex_);
    return ReadyLocked();
  }
  // How many consecutive numbers, from the due one on, have a part queued; counts up to `most`.
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
    return FreeSlotsLocked();
  }
  struct Levels {
    uint64_t due = 0;     // number popped next
    uint64_t next = 0;    // number taken next
    int queued = 0;       // parts
    int64_t bytes = 0;    // of the queued parts
    int64_t largest = 0;  // bytes of the largest item seen
  };
  Levels levels() {
    const auto lock = BriefLock(mutex_);
    return {due_, next_, queued(), bytes_, largest_};
  }
  // Queued parts a moment ago, without the lock.
  int queued() const { return queued_.load(std::memory_order_relaxed); }
  int window() const { return static_cast<int>(queues_); }
  int64_t byte_bound() const { return byte_bound_; }
  // Parts waiting in one queue; for tests.
  int QueueSize(int queue) {
    const auto lock = BriefLock(mutex_);
    return closed_ ? 0 : static_cast<int>(ring_[queue].parts.size() - ring_[queue].popped);
  }

 private:
  // While so many items are queued for each free slot, the consumer does not wait.
  static constexpr int kQueuedAFreeSlot = 3;

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
  int FreeSlotsLocked() const {
    const int free = AllFreeSlotsLocked();
    const bool waits = free < room_ && free < queued() / kQueuedAFreeSlot;
    return waits ? 0 : free;
  }
  int AllFreeSlotsLocked() const {
    if (closed_) return 0;
    const int window = static_cast<int>(due_ + limit_ - next_);
    if (window <= 0) return 0;
    if (byte_bound_ == kNoBound) return window;
    // Counts queued items, and assumes that items on their way are as large as the largest seen.
    const int64_t on_way = static_cast<int64_t>(next_ - due_) - queued();
    const int64_t room = byte_bound_ - bytes_ - std::max<int64_t>(0, on_way) * largest_;
    const int64_t fit = largest_ > 0 ? std::max<int64_t>(0, room) / largest_ : window;
    if (fit == 0) return next_ == due_ ? 1 : 0;
    return static_cast<int>(std::min<int64_t>(window, fit));
  }
  std::optional<uint64_t> TakeLocked(int most, int& taken) {
    taken = std::min(most, FreeSlotsLocked());
    if (taken <= 0) return std::nullopt;
    const uint64_t first = next_;
    next_ += static_cast<uint64_t>(taken);
    return first;
  }
  bool PushLocked(uint64_t number, Item item, int64_t bytes, bool more) {
    if (closed_) return false;
    const bool full = byte_bound_ != kNoBound && FreeSlotsLocked() == 0;
    ring_[number % queues_].parts.push_back({std::move(item), bytes, more});
    SetQueued(queued() + 1);
    bytes_ += bytes;
    largest_ = std::max(largest_, bytes);
    // An item that is smaller than assumed may leave room for the next one.
    if (full && FreeSlotsLocked() > 0) space_.Notify();
    if (number != due_) return false;
    data_.Notify();
    return true;
  }
  bool ReadyLocked() const { return !closed_ && !ring_[due_ % queues_].empty(); }
  Item PopLocked(bool& was_full) {
    Part part = ring_[due_ % queues_].Pop();
    const bool full = FreeSlotsLocked() == 0;
    SetQueued(queued() - 1);
    bytes_ -= part.bytes;
    if (!part.more) ++due_;
    if (full && FreeSlotsLocked() > 0) {
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
  int room_ = 1;
  int64_t bytes_ = 0;
  int64_t largest_ = 0;
  bool closed_ = false;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_CONNECTOR_H_

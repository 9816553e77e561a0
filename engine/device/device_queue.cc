#include "engine/device/device_queue.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "core/block_signals.h"
#include "core/caught_error.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/fork_watch.h"
#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/exec/worker_pool.h"

namespace headrace {
namespace {

constexpr char kThreadName[] = "headrace-device";
// Of the pipeline's batches: a stop ends the wait at once.
constexpr std::chrono::milliseconds kSlice{50};
// Of a loop that waits for a batch, with the threads that keep the others.
constexpr std::chrono::seconds kPatience{1};
// Copies that may run while the next batch is fetched: more would keep host memory for nothing.
constexpr size_t kCopiesAtOnce = 2;

double SecondsSince(uint64_t start_ns) { return static_cast<double>(NowNs() - start_ns) * 1e-9; }

}  // namespace

DeviceQueue::DeviceQueue(std::shared_ptr<Device> device, const PlannedDevice& planned, int64_t budget, int64_t profile,
                         std::vector<DeviceTail> tails, Iteration* iteration)
    : device_(std::move(device)),
      planned_(planned),
      iteration_(iteration),
      waits_for_ask_(iteration->WaitsForAsk()),
      track_(profile > 0 ? std::make_shared<DeviceTrack>(profile) : nullptr),
      ring_(std::make_shared<DeviceRing>(device_, planned.depth, budget,
                                         [this] {
                                           const std::lock_guard<std::mutex> lock(mutex_);
                                           ++releases_;
                                           for_sender_.notify_all();
                                         })),
      tails_(std::move(tails)),
      tail_of_(iteration->schema().columns.size(), -1),
      next_epoch_(iteration->epoch()),
      position_(iteration->position()) {
  const ir::Schema schema = iteration->schema();
  for (size_t i = 0; i < tails_.size(); ++i) {
    tail_of_[static_cast<size_t>(schema.IndexOf(tails_[i].column))] = static_cast<int>(i);
    for (const std::string& drawn : tails_[i].drawn) {
      if (!drawn.empty()) drawn_.push_back(static_cast<size_t>(schema.IndexOf(drawn)));
    }
  }
  std::sort(drawn_.rbegin(), drawn_.rend());
  report_.name = device_->name();
  report_.steps = TailsText(tails_);
  report_.depth = planned.depth;
  report_.budget_bytes = budget;
}

DeviceQueue::~DeviceQueue() {
  Close();
  Clear();
}

absl::Status DeviceQueue::StartThread() {
  WatchForks();
  try {
    thread_ = std::thread([this] { Run(); });
    threaded_ = true;
  } catch (const std::system_error&) {
    return NoMoreThreads(kThreadName);
  } catch (const std::exception&) {
    return CaughtError();
  }
  return absl::OkStatus();
}

void DeviceQueue::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  for_sender_.notify_all();
  for_user_.notify_all();
}

void DeviceQueue::Close() {
  Stop();
  // Else the user's thread may be sending.
  if (!threaded_) return;
  const std::lock_guard<std::mutex> closing(close_mutex_);
  if (!thread_.joinable()) return;
  thread_.join();
  Clear();
}

void DeviceQueue::Clear() {
  RetirePending(0).IgnoreError();
  std::deque<Item> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped.swap(ready_);
    rows_ready_ = 0;
  }
  dropped.clear();
  ring_->Close();
}

void DeviceQueue::Ask(uint64_t epoch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  asked_ = std::max(asked_.value_or(epoch), epoch);
  for_sender_.notify_all();
}

// ---- the thread that sends ----

void DeviceQueue::Run() {
  pthread_setname_np(pthread_self(), kThreadName);
  BlockSignals();
  while (SendNext(kSlice)) {
  }
}

template <typename Condition>
bool DeviceQueue::WaitWhile(std::unique_lock<std::mutex>& lock, Doing doing, double& seconds, Condition waits) {
  if (!waits()) return !stopped_;
  const uint64_t start = NowNs();
  doing_ = doing;
  for_sender_.wait(lock, [&] { return stopped_ || !waits(); });
  doing_ = Doing::kNothing;
  seconds += SecondsSince(start);
  return !stopped_;
}

bool DeviceQueue::AwaitTurn() {
  // Counts ends of epochs apart, because epochs may have no rows.
  const auto full = [this] { return rows_ready_ >= planned_.depth || ends_ready() >= planned_.depth; };
  const auto early = [this] { return waits_for_ask_ && (!asked_.has_value() || *asked_ < next_epoch_); };
  std::unique_lock<std::mutex> lock(mutex_);
  if (!stopped_ && (full() || early())) {
    lock.unlock();
    if (absl::Status retired = RetirePending(0); !retired.ok()) {
      PushError(std::move(retired));
      return false;
    }
    lock.lock();
  }
  if (!WaitWhile(lock, Doing::kWaitingForRoom, report_.room_wait_s, full)) return false;
  double not_counted = 0;
  if (!WaitWhile(lock, Doing::kNothing, not_counted, early)) return false;
  if (asked_ == told_) return true;
  told_ = asked_;
  lock.unlock();
  iteration_->Ask(*told_);
  return true;
}

bool DeviceQueue::SendNext(std::chrono::nanoseconds limit) {
  try {
    return TrySendNext(limit);
  } catch (const std::exception&) {
    // The row that was fetched is lost: nothing may follow.
    PushError(CaughtError());
    return false;
  }
}

bool DeviceQueue::TrySendNext(std::chrono::nanoseconds limit) {
  if (over_ || !AwaitTurn()) return false;
  ResultRow row;
  const absl::StatusOr<Outcome> outcome = FetchNext(limit, row);
  if (!outcome.ok()) {
    PushError(WithRefusal(outcome.status()));
    return false;
  }
  if (*outcome == Outcome::kNothingYet) return true;
  if (*outcome == Outcome::kEpochEnd) {
    const Position after = iteration_->position();
    next_epoch_ = after.epoch;
    Push({.outcome = Outcome::kEpochEnd, .after = after});
    return true;
  }
  absl::Status sent = SendRow(std::move(row));
  if (sent.ok()) return true;
  AddErrorField(sent, ErrorField::kOperator, Cat("to_device(\"", device_->name(), "\")"));
  PushError(std::move(sent));
  return false;
}

absl::StatusOr<DeviceQueue::Outcome> DeviceQueue::FetchNext(std::chrono::nanoseconds limit, ResultRow& row) {
  // Gives host memory back before it waits, one copy after the other: the device goes on with the next one.
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(const Outcome at_once, iteration_->Fetch(std::chrono::nanoseconds(0), row));
    if (at_once != Outcome::kNothingYet) return at_once;
    if (pending_.empty()) break;
    HEADRACE_RETURN_IF_ERROR(RetirePending(pending_.size() - 1));
  }
  const uint64_t start = NowNs();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    doing_ = Doing::kWaitingForInput;
  }
  absl::StatusOr<Outcome> outcome = iteration_->Fetch(limit, row);
  const std::lock_guard<std::mutex> lock(mutex_);
  doing_ = Doing::kNothing;
  report_.input_wait_s += SecondsSince(start);
  return outcome;
}

absl::Status DeviceQueue::SendRow(ResultRow row) {
  size_t number = DeviceTrack::kLeftOut;
  HEADRACE_ASSIGN_OR_RETURN(DeviceRow sent, Copy(std::move(row), number));
  iteration_->Given();
  Push({.outcome = Outcome::kRow, .row = std::move(sent), .number = number, .after = iteration_->position()});
  return RetirePending(kCopiesAtOnce);
}

absl::StatusOr<DeviceRow> DeviceQueue::Copy(ResultRow row, size_t& number) {
  DeviceLayout layout;
  for (size_t c = 0; c < row.columns.size(); ++c) {
    const bool drawn = std::find(drawn_.begin(), drawn_.end(), c) != drawn_.end();
    if (drawn || IsVariableLength(row.columns[c].dtype())) continue;
    if (DeviceTail* const tail = TailOf(c); tail != nullptr) {
      HEADRACE_RETURN_IF_ERROR(Add(row, c, *tail, layout));
      continue;
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor source, Readable(row.columns[c]));
    layout.Add(c, std::move(source));
  }
  DeviceRow sent;
  sent.id = row.id;
  sent.columns = std::move(row.columns);
  if (layout.empty()) return sent;
  HEADRACE_ASSIGN_OR_RETURN(sent.batch, TakeBuffer(layout.bytes()));
  uint8_t* const memory = sent.batch->memory();
  // Of the batch's memory, which the tensors keep.
  const BufferRef keeper = BufferRef::Foreign(memory, 0, [batch = sent.batch] {});
  layout.Place(memory, keeper, absl::MakeSpan(sent.columns));
  for (const size_t column : drawn_) sent.columns.erase(sent.columns.begin() + static_cast<std::ptrdiff_t>(column));
  Pending pending{.fence = {}, .copied = {}, .sources = layout.sources()};
  const uint64_t start = NowNs();
  if (track_ != nullptr) {
    number = pending.number = track_->Begin(start);
    sent.batch->ReleasedOn(track_, number);
  }
  HEADRACE_RETURN_IF_ERROR(StartFill(*sent.batch, layout.fill(), std::move(pending)));
  const std::lock_guard<std::mutex> lock(mutex_);
  report_.copy_s += SecondsSince(start);
  ++report_.batches;
  for (const DeviceCopy& copy : layout.fill().copies) report_.bytes += copy.bytes;
  return sent;
}

absl::Status DeviceQueue::Add(const ResultRow& row, size_t column, DeviceTail& tail, DeviceLayout& layout) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor source, Readable(row.columns[column]));
  // Other bytes than the plan says would be looked up beyond the table.
  if (source.dtype() != DType::kUInt8 || source.rank() < 3 || source.shape().back() != tail.table.dim(0)) {
    return InternalError("column ", tail.column, " is ", source.TypeName(), " before ", tail.steps);
  }
  HEADRACE_ASSIGN_OR_RETURN(tail.table, Readable(tail.table));
  DeviceLayout::DrawnTensors drawn;
  for (size_t kind = 0; kind < kDrawnKinds; ++kind) {
    if (tail.drawn[kind].empty()) continue;
    const auto of_drawn = static_cast<size_t>(iteration_->schema().IndexOf(tail.drawn[kind]));
    HEADRACE_ASSIGN_OR_RETURN(drawn[kind], Readable(row.columns[of_drawn]));
  }
  layout.Add(column, std::move(source), tail, std::move(drawn));
  return absl::OkStatus();
}

DeviceTail* DeviceQueue::TailOf(size_t column) {
  return tail_of_[column] < 0 ? nullptr : &tails_[static_cast<size_t>(tail_of_[column])];
}

absl::Status DeviceQueue::StartFill(DeviceBatch& batch, DeviceFill fill, Pending pending) {
  const std::function<void(FencePtr)> copied = [&](FencePtr fence) {
    if (fence == nullptr) track_->Copied(pending.number);
    pending.copied = std::move(fence);
  };
  if (track_ != nullptr && !fill.mappings.empty()) fill.copied = &copied;
  absl::StatusOr<FencePtr> fence = batch.Fill(fill);
  if (!fence.ok()) {
    // Some of it may have begun.
    device_->WaitForCopies().IgnoreError();
    return fence.status();
  }
  pending.fence = *std::move(fence);
  if (pending.fence != nullptr) {
    pending_.push_back(std::move(pending));
  } else if (track_ != nullptr) {
    track_->Filled(pending.number);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> DeviceQueue::Readable(const Tensor& tensor) {
  if (tensor.contiguous() && (tensor.bytes() == 0 || device_->CopiesFrom(tensor.raw()))) return tensor;
  BufferPool* const pool = device_->page_locked();
  const TaskMemory memory(pool != nullptr ? pool : &BufferPool::Global(), nullptr, 0);
  absl::StatusOr<Tensor> copy = Tensor::Allocate(tensor.dtype(), tensor.shape());
  if (!copy.ok()) return WithRefusal(copy.status());
  tensor.CopyTo(copy->mutable_raw());
  const std::lock_guard<std::mutex> lock(mutex_);
  report_.staged_bytes += copy->bytes();
  return copy;
}

absl::Status DeviceQueue::WithRefusal(const absl::Status& error) {
  const std::string refusal = device_->PageLockedRefusal();
  if (refusal.empty() || KindOf(error) != ErrorKind::kResource) return error;
  return Reworded(error, Cat(error.message(), "; ", refusal));
}

absl::StatusOr<std::unique_ptr<DeviceBatch>> DeviceQueue::TakeBuffer(size_t bytes) {
  while (true) {
    std::unique_lock<std::mutex> lock(mutex_);
    const uint64_t seen = releases_;
    lock.unlock();
    absl::StatusOr<std::unique_ptr<DeviceBatch>> batch = ring_->Take(bytes);
    if (!batch.ok() || *batch != nullptr) return batch;
    HEADRACE_RETURN_IF_ERROR(RetirePending(0));
    lock.lock();
    if (!AwaitRelease(lock, seen)) return IteratorClosed();
    if (releases_ != seen) continue;
    lock.unlock();
    batch = ring_->Take(bytes);
    if (!batch.ok() || *batch != nullptr) return batch;
    return AllInUse(bytes);
  }
}

bool DeviceQueue::AwaitRelease(std::unique_lock<std::mutex>& lock, uint64_t seen) {
  const auto in_use = [&] { return releases_ == seen && !(user_waits_ && ready_.empty()); };
  if (!WaitWhile(lock, Doing::kWaitingForBuffer, report_.buffer_wait_s, in_use)) return false;
  // The loop waits too. Another user thread may be about to let go.
  const uint64_t start = NowNs();
  doing_ = Doing::kWaitingForLoop;
  for_sender_.wait_for(lock, kPatience, [&] { return stopped_ || releases_ != seen; });
  doing_ = Doing::kNothing;
  report_.buffer_wait_s += SecondsSince(start);
  return !stopped_;
}

absl::Status DeviceQueue::AllInUse(size_t bytes) {
  const DeviceRing::Levels levels = ring_->levels();
  const bool refused = !levels.refusal.ok();
  const std::string waiting =
      levels.unknown == 0
          ? ""
          : Cat(", ", levels.unknown, " on streams that nobody named wait for the end of a graph's capture");
  const auto kept = levels.buffers - levels.free;
  return ResourceError("the loop keeps ", kept, kept == 1 ? " batch on " : " batches on ", device_->name(), waiting,
                       ", and there is no memory for the next one of ", BytesText(static_cast<int64_t>(bytes)),
                       ": let go of batches, ", refused ? "or " : "", "copy what you keep",
                       refused ? "" : ", or give to_device more (memory=)", "; buffers take ", BytesText(levels.bytes),
                       " of ", BytesText(ring_->budget()), refused ? "; " : "", levels.refusal.message());
}

absl::Status DeviceQueue::RetirePending(size_t left) {
  absl::Status status;
  const uint64_t start = NowNs();
  const bool waits = pending_.size() > left;
  for (size_t i = 0; i + left < pending_.size(); ++i) {
    if (pending_[i].copied != nullptr) {
      status.Update(device_->Wait(pending_[i].copied));
      track_->Copied(pending_[i].number);
    }
    status.Update(device_->Wait(pending_[i].fence));
    if (track_ != nullptr) track_->Filled(pending_[i].number);
  }
  // Nothing may still read what is given back now.
  if (!status.ok()) device_->WaitForCopies().IgnoreError();
  while (pending_.size() > left) pending_.pop_front();
  if (!waits) return status;
  const std::lock_guard<std::mutex> lock(mutex_);
  report_.copy_s += SecondsSince(start);
  return status;
}

void DeviceQueue::Push(Item item) {
  const std::lock_guard<std::mutex> lock(mutex_);
  rows_ready_ += item.outcome == Outcome::kRow ? 1 : 0;
  ready_.push_back(std::move(item));
  for_user_.notify_all();
}

void DeviceQueue::PushError(absl::Status error) {
  over_ = true;
  Push({.error = std::move(error)});
}

// ---- the user's thread ----

absl::StatusOr<DeviceQueue::Outcome> DeviceQueue::Fetch(std::chrono::nanoseconds limit, DeviceRow& row) {
  Given();
  if (!failed_.ok()) return failed_;
  const uint64_t start = NowNs();
  if (started_ns_.load(std::memory_order_relaxed) == 0) started_ns_.store(start, std::memory_order_relaxed);
  if (!threaded_) SendHere(limit);
  std::unique_lock<std::mutex> lock(mutex_);
  user_waits_ = true;
  if (ready_.empty()) for_sender_.notify_all();
  const bool ready = for_user_.wait_for(lock, limit, [this] { return stopped_ || !ready_.empty(); });
  user_waits_ = false;
  const uint64_t end = NowNs();
  last_ns_.store(end, std::memory_order_relaxed);
  user_wait_ns_.fetch_add(end - start, std::memory_order_relaxed);
  if (stopped_) return IteratorClosed();
  // Under the lock, so that no note is made after a Stop.
  if (threaded_) iteration_->LoopWaited(start, end);
  if (!ready) return Outcome::kNothingYet;
  Item item = std::move(ready_.front());
  ready_.pop_front();
  rows_ready_ -= item.outcome == Outcome::kRow ? 1 : 0;
  if (track_ != nullptr) track_->Given(item.number);
  lock.unlock();
  // Else the sender wakes up to wait for the lock.
  for_sender_.notify_all();
  return Take(std::move(item), row);
}

void DeviceQueue::SendHere(std::chrono::nanoseconds limit) {
  const auto empty = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    user_waits_ = true;
    return ready_.empty() && !stopped_;
  };
  const uint64_t until = NowNs() + static_cast<uint64_t>(std::max<int64_t>(0, limit.count()));
  while (empty() && SendNext(limit) && NowNs() < until) {
  }
}

absl::StatusOr<DeviceQueue::Outcome> DeviceQueue::Take(Item item, DeviceRow& row) {
  if (!item.error.ok()) {
    failed_ = std::move(item.error);
    return failed_;
  }
  if (item.outcome == Outcome::kEpochEnd) {
    position_ = std::move(item.after);
  } else {
    row = std::move(item.row);
    fetched_ = std::move(item.after);
  }
  return item.outcome;
}

void DeviceQueue::Given() {
  if (!fetched_.has_value()) return;
  position_ = *std::move(fetched_);
  fetched_.reset();
  given_.fetch_add(1, std::memory_order_relaxed);
}

void DeviceQueue::AddTo(Report& report) {
  const uint64_t started = started_ns_.load(std::memory_order_relaxed);
  const uint64_t last = last_ns_.load(std::memory_order_relaxed);
  // Not yet, during the first wait.
  if (started != 0 && last > started) report.wall_s = static_cast<double>(last - started) * 1e-9;
  report.user_wait_s = static_cast<double>(user_wait_ns_.load(std::memory_order_relaxed)) * 1e-9;
  report.delivered = given_.load(std::memory_order_relaxed);
  const DeviceRing::Levels levels = ring_->levels();
  const std::lock_guard<std::mutex> lock(mutex_);
  report.device = report_;
  report.device->ready = rows_ready_;
  report.device->buffers = levels.buffers;
  report.device->buffer_bytes = levels.bytes;
}

void DeviceQueue::AddTo(Profile& profile) {
  profile.device = device_->name();
  if (track_ != nullptr) track_->AddTo(profile);
}

std::string DeviceQueue::Describe() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text = Cat("the queue of ", device_->name(), " holds ", rows_ready_, " batches");
  if (ends_ready() > 0) Append(text, " and ", ends_ready(), " ends of epochs");
  if (doing_ == Doing::kWaitingForInput) text += " and waits for the pipeline";
  if (doing_ == Doing::kWaitingForRoom) text += ", as many as it may";
  if (doing_ == Doing::kWaitingForBuffer) text += " and waits for the loop to let go of one";
  if (doing_ == Doing::kWaitingForLoop) text += " and waits for the loop, which wants the next one, to let go of one";
  return text;
}

}  // namespace headrace

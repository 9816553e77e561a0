#include "engine/exec/stage.h"

#include <algorithm>
#include <exception>

#include "core/brief_lock.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "engine/cache/row_cache.h"
#include "engine/exec/group_size.h"
#include "engine/exec/profiler.h"

namespace headrace {
namespace {

// A task of light rows runs about this long: long enough to hide its hand-over, short enough to hold up nobody.
constexpr uint64_t kTaskNs = 30'000;
constexpr int kMostAtOnce = 64;
// So long do the reads of a task that finds its files in memory: a thread for reads is woken more dearly than others.
constexpr uint64_t kReadTaskNs = 60'000;
constexpr uint64_t kSampled = 8;
// Less is light.
constexpr uint64_t kLightNs = 200'000;
// Rows that wait between stages, and messages where they hold many.
constexpr int kMostRowsQueued = 4096;
constexpr int kFewestQueued = 8;
// Rows after which a stage above that saw none of them does not count: a filter drops them all.
constexpr uint64_t kMeasuredRows = 1000;

template <typename T>
void RaiseTo(std::atomic<T>& value, T to) {
  T seen = value.load(std::memory_order_relaxed);
  while (seen < to && !value.compare_exchange_weak(seen, to, std::memory_order_acq_rel)) {
  }
}

// Of the last tasks, eight or so; 0 stands for none.
void MoveMean(std::atomic<uint64_t>& mean, uint64_t value) {
  const uint64_t before = mean.load(std::memory_order_relaxed);
  mean.store(before == 0 ? value : (before * 7 + value + 7) / 8, std::memory_order_relaxed);
}

}  // namespace

Stage::Stage(Options options, RunControl* control, std::vector<Stage*> inputs, std::vector<Element> elements)
    : options_(std::move(options)),
      control_(control),
      inputs_(std::move(inputs)),
      elements_(std::move(elements)),
      output_(options_.window, options_.byte_bound),
      next_bytes_(options_.row_bytes),
      limit_(options_.window) {
  for (Stage* input : inputs_) input->set_consumer(this);
}

int Stage::Grain() const {
  const uint64_t cost = message_ns_.load(std::memory_order_relaxed);
  if (cost == 0 || task_bytes_.load(std::memory_order_relaxed) == 0) return 1;
  const int most = std::min<int>(kMostAtOnce, most_claimed());
  const uint64_t task_ns = options_.lane == Lane::kIo ? kReadTaskNs : kTaskNs;
  return static_cast<int>(std::clamp<uint64_t>(task_ns / cost, 1, static_cast<uint64_t>(most)));
}

int Stage::GroupRows() const {
  if (options_.group > 0) return options_.group;
  if (!options_.caches.empty()) return 1;
  uint64_t slowest = 1;
  for (const Stage* stage = this; stage != nullptr; stage = stage->consumer_) {
    const uint64_t cost = stage->row_ns_.load(std::memory_order_relaxed);
    if (cost == 0 && counters_.rows.load(std::memory_order_relaxed) < kMeasuredRows) return 1;
    slowest = std::max(slowest, cost);
  }
  return GroupSize(slowest, row_bytes_.load(std::memory_order_relaxed), options_.group_bytes);
}

bool Stage::light() const {
  const uint64_t cost = message_ns_.load(std::memory_order_relaxed);
  return cost > 0 && cost < kLightNs;
}

bool Stage::CouldRun() {
  const auto lock = BriefLock(mutex_);
  return !control_->closed() && running_ < cap() && BlockedLocked() == BlockedReason::kNone;
}

bool Stage::WorthWaking() {
  const auto lock = BriefLock(mutex_);
  if (control_->closed() || running_ >= cap() || BlockedLocked() != BlockedReason::kNone) return false;
  const int grain = Grain();
  return ClaimableLocked(grain) >= grain;
}

bool Stage::LastResort() {
  for (Stage* stage = this; stage != nullptr; stage = stage->consumer_) {
    // What is due is there already: more would only run ahead.
    if (stage->output_.Ready()) return false;
    if (stage != this && stage->CouldRun()) return false;
  }
  return true;
}

int Stage::EnterLocked(int64_t bytes) {
  const int grain = Grain();
  int count = grain;
  int64_t ahead = AheadBytesLocked(grain);
  const int64_t wanted = bytes * grain + ahead;
  // Up to half of the budget nobody is asked.
  const bool entered = control_->Enter(wanted, control_->budget() / 2) ||
                       (grain > 1 && control_->Enter(wanted, control_->NeedsOfIdle(this)));
  if (!entered) {
    count = 1;
    ahead = AheadBytesLocked(1);
    if (!EnterOneLocked(bytes + ahead)) return 0;
  }
  if (ahead > 0 && control_->budget() != RunControl::kNoBudget) KeepAheadLocked(ahead);
  return count;
}

bool Stage::EnterOneLocked(int64_t bytes) {
  // Where the number that is due is taken already, this one would run ahead: it leaves room for every stage that has
  // nothing yet, so that what is due gets through without overdrawing.
  const bool ahead = running_ > 0 || output_.queued() > 0;
  const auto enter = [&] { return control_->Enter(bytes, ahead ? control_->NeedsOfIdle(this) : 0); };
  if (enter()) return true;
  // Asks to be woken before looking at others: what they do from now on comes back to this stage, in whatever lane.
  control_->AwaitMemory();
  if (enter()) return true;
  // Looks twice: a task may end in between, and leave something to do.
  return LastResort() && control_->EnterOverBudget(bytes, [this] { return LastResort(); });
}

void Task::Drop() {
  inputs.clear();
  before.clear();
  tickets.clear();
  parts.clear();
  outputs.clear();
}

template <typename Body>
void Stage::Guard(Body body) {
  try {
    body();
  } catch (const std::exception&) {
    control_->Abort(options_.name);
  }
}

bool Stage::Claim(Task& task) {
  const auto lock = BriefLock(mutex_);
  bool claimed = false;
  if (!control_->closed()) Guard([&] { claimed = ClaimOpenLocked(task); });
  return claimed;
}

bool Stage::ClaimOpenLocked(Task& task) {
  BlockedReason blocked = running_ >= cap() ? BlockedReason::kTurn : BlockedLocked();
  // Learns the size of a message from the first one alone.
  const bool learning = task_bytes() == 0;
  const int64_t bytes = std::max<int64_t>(0, next_bytes_.load(std::memory_order_relaxed));
  if (blocked == BlockedReason::kNone && learning && running_ > 0) blocked = BlockedReason::kTurn;
  const int most = blocked == BlockedReason::kNone ? EnterLocked(bytes) : 0;
  if (blocked == BlockedReason::kNone && most == 0) blocked = BlockedReason::kMemory;
  if (blocked != BlockedReason::kNone) {
    NoteBlockedLocked(blocked);
    return false;
  }
  task.stage = this;
  task.count = 0;
  task.rows = 0;
  task.first = Profiler::kNoNumber;
  task.reserved = control_->budget() == RunControl::kNoBudget ? 0 : bytes * most;
  bool claimed = false;
  Guard([&] { claimed = ClaimEnteredLocked(task, most); });
  if (claimed) return true;
  control_->account()->Charge(-task.reserved);
  control_->Leave();
  if (control_->closed()) task.Drop();
  return false;
}

bool Stage::ClaimEnteredLocked(Task& task, int most) {
  const BlockedReason blocked = ClaimLocked(task, most);
  if (blocked == BlockedReason::kNone) {
    NoteClaimLocked(task);
  } else {
    NoteBlockedLocked(blocked);
  }
  return blocked == BlockedReason::kNone;
}

// For how many tasks this one stands when the time on the CPU is asked for, which is a system call: of light ones for
// several, or for none.
uint64_t Stage::CpuWeight() const {
  if (!light()) return 1;
  return counters_.tasks.load(std::memory_order_relaxed) % kSampled == 0 ? kSampled : 0;
}

void Stage::Run(Task& task) noexcept {
  const uint64_t start = NowNs();
  const uint64_t first = task.first;
  const uint64_t weight = options_.lane == Lane::kIo ? CpuWeight() : 0;
  const uint64_t start_cpu = weight > 0 ? ThreadCpuNs() : 0;
  int64_t peak = 0;
  {
    TaskMemory memory(control_->pool(), control_->account(), task.reserved);
    const StopSignal stop(control_->closed_flag());
    Guard([&] { RunTask(task); });
    task.Drop();
    peak = memory.peak();
  }
  const uint64_t elapsed = NowNs() - start;
  if (weight > 0) counters_.cpu_ns.fetch_add(weight * (ThreadCpuNs() - start_cpu), std::memory_order_relaxed);
  {
    const auto lock = BriefLock(mutex_);
    NoteEndLocked(task, peak, elapsed);
    if (options_.read_ahead) Guard([&] { NoteReadsLocked(task, start, elapsed); });
  }
  if (Profiler* const profiler = control_->profiler()) {
    Guard([&] { profiler->TaskEnded(*this, first, task.count, start, start + elapsed); });
  }
  control_->Leave();
}

void Stage::NoteReadsLocked(const Task& task, uint64_t start_ns, uint64_t elapsed_ns) {
  const bool starved = 16 * output_.queued() <= std::max(16, output_.window());
  options_.read_ahead->Ended(start_ns + elapsed_ns, elapsed_ns, std::max(1, task.count), starved);
}

void Stage::NoteClaimLocked(const Task& task) {
  if (blocked_ != BlockedReason::kNone) NoteBlockedLocked(BlockedReason::kNone);
  Running running{&task, NowNs(), Running::kNothing, {}, {}, 0};
  if (!task.tickets.empty()) {
    running.known = Running::kPosition;
    running.id = {task.tickets[0].epoch, task.tickets[0].position, false};
    for (const Task::Ticket& ticket : task.tickets) running.more += static_cast<size_t>(ticket.rows);
    running.more -= running.more > 0 ? 1 : 0;
  } else if (!task.inputs.empty() && task.inputs[0]->rows() > 0) {
    running.known = Running::kRow;
    running.id = task.inputs[0]->ids[0];
    running.provenance = task.inputs[0]->provenances[0];
    for (const Message& message : task.inputs) running.more += static_cast<size_t>(message->rows());
    --running.more;
  }
  running_tasks_.push_back(std::move(running));
  ++running_;
  RaiseTo(counters_.widest, static_cast<uint64_t>(running_));
}

void Stage::NoteEndLocked(const Task& task, int64_t peak, uint64_t elapsed_ns) {
  --running_;
  std::erase_if(running_tasks_, [&task](const Running& running) { return running.task == &task; });
  counters_.tasks.fetch_add(1, std::memory_order_relaxed);
  counters_.busy_ns.fetch_add(elapsed_ns, std::memory_order_relaxed);
  const int count = std::max(1, task.count);
  RaiseTo(task_bytes_, std::max<int64_t>(1, peak / count));
  next_bytes_.store(ExpectedBytesLocked(), std::memory_order_relaxed);
  const uint64_t each = std::max<uint64_t>(1, elapsed_ns / static_cast<uint64_t>(count));
  MoveMean(message_ns_, each);
  if (task.rows > 0) MoveMean(row_ns_, std::max<uint64_t>(1, elapsed_ns / task.rows));
}

// Adds up why the stage stood still, from the moment its last task ended.
void Stage::NoteBlockedLocked(BlockedReason blocked) {
  if (running_ > 0 || blocked == blocked_) return;
  const uint64_t now = NowNs();
  const uint64_t waited = now - blocked_since_;
  if (blocked_ == BlockedReason::kInput) counters_.input_wait_ns.fetch_add(waited, std::memory_order_relaxed);
  if (blocked_ == BlockedReason::kOutput) counters_.output_wait_ns.fetch_add(waited, std::memory_order_relaxed);
  if (blocked_ == BlockedReason::kMemory) counters_.memory_wait_ns.fetch_add(waited, std::memory_order_relaxed);
  blocked_ = blocked;
  blocked_since_ = now;
}

uint64_t Stage::LastInputEpoch(uint64_t epoch) const {
  for (size_t i = elements_.size(); i-- > 0;) epoch = elements_[i].properties.epochs.LastInput(epoch);
  return epoch;
}

void Stage::FinishEpoch(uint64_t epoch) {
  RaiseTo(wanted_from_, epoch + 1);
  epoch = LastInputEpoch(epoch);
  for (Stage* input : inputs_) input->FinishEpoch(epoch);
  control_->Signal(this);
}

void Stage::Ask(uint64_t epoch) {
  epoch = LastInputEpoch(epoch);
  RaiseTo(asked_, epoch);
  for (Stage* input : inputs_) input->Ask(epoch);
  control_->Signal(this);
}

std::optional<Stage::Reads> Stage::reads() {
  if (!options_.read_ahead) return std::nullopt;
  const auto lock = BriefLock(mutex_);
  return Reads{options_.read_ahead->most(), options_.read_ahead->short_ns(), options_.read_ahead->changes()};
}

std::vector<std::string> Stage::DescribeRunning() {
  const auto lock = BriefLock(mutex_);
  std::vector<std::string> lines;
  for (const Running& running : running_tasks_) {
    const double seconds = static_cast<double>(NowNs() - running.since_ns) * 1e-9;
    std::string line = Cat(options_.name, " has worked for ", seconds, " s");
    if (running.known == Running::kRow) Append(line, " on the row ", DescribeRowId(running.id));
    if (running.known == Running::kPosition) {
      Append(line, " on position ", running.id.key, " of epoch ", running.id.epoch);
    }
    if (running.more > 0) Append(line, " or one of the ", running.more, " after it");
    const std::string provenance = DescribeProvenance(running.provenance);
    if (!provenance.empty()) Append(line, " (", provenance, ")");
    lines.push_back(std::move(line));
  }
  return lines;
}

Message Stage::ApplyElement(const Element& element, Block& block) const {
  if (block.cached != nullptr && block.cached != element.cache) return nullptr;
  const uint64_t start = block.timed ? NowNs() : 0;
  element.row->Apply(block);
  if (block.timed) block.made_ns += NowNs() - start;
  if (block.end != End::kError) return nullptr;
  AddErrorField(block.error, ErrorField::kOperator, element.name);
  AddErrorField(block.error, ErrorField::kLocation, element.location);
  return std::move(block.rest);
}

void Stage::ApplyElements(size_t first, Message message, std::vector<Message>& parts) const {
  Message rest;
  for (; first < elements_.size() && !rest; ++first) rest = ApplyElement(elements_[first], *message);
  if (!rest) {
    parts.push_back(std::move(message));
    return;
  }
  ApplyElements(first, std::move(message), parts);
  ApplyElements(first - 1, std::move(rest), parts);
}

bool Stage::TakeCached(uint64_t key, Block& block) const {
  std::vector<Tensor> row;
  for (const auto& cache : options_.caches) {
    if (!cache->Find(key, row)) continue;
    block.columns.clear();
    for (Tensor& tensor : row) block.columns.emplace_back(std::move(tensor));
    block.cached = cache.get();
    return true;
  }
  return false;
}

void Stage::PushOne(uint64_t number, Message message, bool more) {
  counters_.rows.fetch_add(static_cast<uint64_t>(message->rows()), std::memory_order_relaxed);
  counters_.messages.fetch_add(1, std::memory_order_relaxed);
  const int64_t bytes = static_cast<int64_t>(message->footprint());
  counters_.bytes.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
  if (output_.Push(number, std::move(message), bytes, more) && consumer_ != nullptr) control_->Signal(consumer_);
}

void Stage::PushParts(uint64_t number, std::vector<Message>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) PushOne(number, std::move(parts[i]), i + 1 < parts.size());
  parts.clear();
}

void Stage::GiveParts(Task& task) {
  if (task.parts.size() > 1) {
    Deliver(task);
    PushParts(task.first++, task.parts);
    return;
  }
  Message message = std::move(task.parts[0]);
  task.parts.clear();
  const auto bytes = static_cast<int64_t>(message->footprint());
  if (message->rows() > 0) {
    RaiseTo(row_bytes_, (bytes - static_cast<int64_t>(sizeof(Block))) / message->rows());
  }
  task.outputs.emplace_back(std::move(message), bytes);
}

// Lets a queue of messages of so many rows stay within the caches of a core.
void Stage::Narrow(int rows) {
  const int limit = std::min(options_.window, std::max(kFewestQueued, kMostRowsQueued / std::max(1, rows)));
  if (limit_.exchange(limit, std::memory_order_relaxed) != limit) output_.SetLimit(limit);
}

void Stage::Deliver(Task& task) {
  if (options_.narrows && !task.outputs.empty()) Narrow(task.outputs[0].first->rows());
  uint64_t rows = 0;
  uint64_t all_bytes = 0;
  for (const auto& [message, bytes] : task.outputs) {
    rows += static_cast<uint64_t>(message->rows());
    all_bytes += static_cast<uint64_t>(bytes);
    if (message->cached == nullptr) continue;
    counters_.found_rows.fetch_add(static_cast<uint64_t>(message->rows()), std::memory_order_relaxed);
    counters_.found_bytes.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
  }
  counters_.bytes.fetch_add(all_bytes, std::memory_order_relaxed);
  counters_.rows.fetch_add(rows, std::memory_order_relaxed);
  counters_.messages.fetch_add(task.outputs.size(), std::memory_order_relaxed);
  if (output_.PushRun(task.first, task.outputs) && consumer_ != nullptr) control_->Signal(consumer_);
  task.first += task.outputs.size();
  task.outputs.clear();
}

void Stage::DropAtRest() {
  const auto lock = BriefLock(mutex_);
  if (running_ == 0) DropOperators();
}

void Stage::SignalInput(int input) { control_->Signal(inputs_[input]); }

}  // namespace headrace

#include "engine/exec/stage.h"

#include <exception>

#include "core/brief_lock.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/stop_signal.h"
#include "core/text.h"
#include "engine/cache/row_cache.h"
#include "engine/exec/group_size.h"
#include "engine/exec/memory_admission.h"
#include "engine/exec/profiler.h"

namespace headrace {
namespace {

// Target time of a task of light rows: long enough to hide its hand-over, short enough to delay no other.
constexpr uint64_t kTaskNs = 30'000;
constexpr int kMostAtOnce = 64;
// Target time of a task that reads from the page cache: a thread for reads costs more to wake than a worker.
constexpr uint64_t kReadTaskNs = 60'000;
// That of a stream, which no other thread reads meanwhile: each task wakes the threads downstream once.
constexpr uint64_t kStreamTaskNs = 200'000;
constexpr uint64_t kSampled = 8;
// The most rows queued between stages, and the fewest messages if each holds many rows.
constexpr int kMostRowsQueued = 4096;
constexpr int kFewestQueued = 8;
// After so many rows, a stage above that saw none of them does not count: a filter drops them all.
constexpr uint64_t kMeasuredRows = 1000;

// Without the room that buffers have besides, which is most of a small message.
int64_t ContentBytes(const Block& block) {
  size_t bytes = 0;
  for (const BlockColumn& column : block.columns) {
    const int tensors = column.stacked() ? 1 : column.rows();
    for (int i = 0; i < tensors; ++i) bytes += (column.stacked() ? column.stack() : column.row(i)).bytes();
  }
  return static_cast<int64_t>(bytes);
}

// What its maps do: " (image: Decode)".
std::string StepsOf(absl::Span<const Element> elements) {
  std::string text;
  for (const Element& element : elements) {
    if (!element.plan->steps.empty()) Append(text, text.empty() ? " (" : "; ", element.plan->steps);
  }
  return text.empty() ? text : Cat(text, ")");
}

}  // namespace

void AddOperator(absl::Status& error, const PlannedOperator& op) {
  AddErrorField(error, ErrorField::kOperator, op.name);
  AddErrorField(error, ErrorField::kLocation, op.location);
}

Stage::Stage(const PlannedStage& plan, RunControl* control, Parts parts)
    : plan_(plan),
      control_(control),
      inputs_(std::move(parts.inputs)),
      caches_(std::move(parts.caches)),
      calls_here_(parts.calls_here),
      elements_(std::move(parts.elements)),
      output_(plan.window, plan.byte_bound),
      read_ahead_(plan.first_cap.has_value() ? std::make_unique<ReadAhead>(*plan.first_cap, plan.cap) : nullptr),
      cost_(plan.row_bytes),
      limit_(plan.window) {
  for (Stage* input : inputs_) input->consumer_ = this;
}

uint64_t Stage::task_ns() const {
  if (plan_.lane != Lane::kIo) return kTaskNs;
  return PlannedStage::InOrder(plan_.kind) ? kStreamTaskNs : kReadTaskNs;
}

int Stage::Grain() const { return cost_.MessagesIn(task_ns(), std::min(kMostAtOnce, most_claimed())); }

int Stage::GroupRows() const {
  if (plan_.group > 0) return plan_.group;
  if (!caches_.empty()) return 1;
  uint64_t slowest = 1;
  for (const Stage* stage = this; stage != nullptr; stage = stage->consumer_) {
    const uint64_t cost = stage->cost_.row_ns();
    if (cost == 0 && counters_.rows.load(std::memory_order_relaxed) < kMeasuredRows) return 1;
    slowest = std::max(slowest, cost);
  }
  return GroupSizeBelowBatch(slowest, cost_.row_bytes(), plan_.group_bytes, plan_.joined_rows);
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
    // The due message is queued already: more would only run ahead.
    if (stage->output_.Ready()) return false;
    if (stage != this && stage->CouldRun()) return false;
  }
  return true;
}

int Stage::AdmitLocked(int64_t message_bytes) {
  const auto ahead_bytes = [this](int messages) { return AheadBytesLocked(messages); };
  const auto last_resort = [this] { return LastResort(); };
  const bool runs_ahead = running_ > 0 || output_.queued() > 0;
  const Admission admitted =
      AdmitMessages(*control_, this, {message_bytes, Grain(), runs_ahead, ahead_bytes, last_resort});
  if (admitted.ahead_bytes > 0 && control_->budget() != RunControl::kNoBudget) KeepAheadLocked(admitted.ahead_bytes);
  return admitted.messages;
}

template <typename Body>
void Stage::Guard(Body body) {
  try {
    body();
  } catch (const std::exception&) {
    control_->Abort(plan_.name);
  }
}

void Stage::SetCap(int tasks) {
  const auto lock = BriefLock(mutex_);
  set_cap_.store(std::min(tasks, plan_.most_cap), std::memory_order_relaxed);
}

Task* Stage::Claim() {
  const auto lock = BriefLock(mutex_);
  Task* claimed = nullptr;
  if (!control_->closed()) Guard([&] { claimed = ClaimOpenLocked(); });
  return claimed;
}

Task& Stage::FreeTaskLocked() {
  if (free_tasks_.empty()) {
    free_tasks_.reserve(tasks_.size() + 1);
    tasks_.push_back(MakeTask());
    free_tasks_.push_back(tasks_.back().get());
  }
  return *free_tasks_.back();
}

Task* Stage::ClaimOpenLocked() {
  BlockedReason blocked = running_ >= cap() ? BlockedReason::kTurn : BlockedLocked();
  // The first message runs alone, to learn the size of a message.
  const bool learning = task_bytes() == 0;
  const int64_t bytes = std::max<int64_t>(0, cost_.next_bytes());
  if (blocked == BlockedReason::kNone && learning && running_ > 0) blocked = BlockedReason::kTurn;
  if (blocked != BlockedReason::kNone) {
    NoteBlockedLocked(blocked);
    return nullptr;
  }
  Task& task = FreeTaskLocked();
  const int most = AdmitLocked(bytes);
  if (most == 0) {
    NoteBlockedLocked(BlockedReason::kMemory);
    return nullptr;
  }
  task.count = 0;
  task.rows = 0;
  task.first = Profiler::kNoNumber;
  task.reserved = control_->budget() == RunControl::kNoBudget ? 0 : bytes * most;
  bool claimed = false;
  Guard([&] { claimed = ClaimAdmittedLocked(task, most); });
  if (claimed) return &task;
  control_->account()->Charge(-task.reserved);
  control_->Leave();
  if (control_->closed()) task.Drop();
  return nullptr;
}

bool Stage::ClaimAdmittedLocked(Task& task, int most) {
  const BlockedReason blocked = ClaimLocked(task, most);
  if (blocked == BlockedReason::kNone) {
    NoteClaimLocked(task);
  } else {
    NoteBlockedLocked(blocked);
  }
  return blocked == BlockedReason::kNone;
}

// How many tasks this one represents in the measurement of CPU time, which takes a system call: a light task represents
// several, or none.
uint64_t Stage::CpuWeight() const {
  if (!light()) return 1;
  return counters_.tasks.load(std::memory_order_relaxed) % kSampled == 0 ? kSampled : 0;
}

void Stage::Run(Task& task) noexcept {
  const uint64_t start = NowNs();
  const uint64_t first = task.first;
  const uint64_t weight = plan_.lane == Lane::kIo ? CpuWeight() : 0;
  const uint64_t start_cpu = weight > 0 ? ThreadCpuNs() : 0;
  int64_t peak = 0;
  {
    TaskMemory memory(control_->pool(plan_.memory), control_->account(), task.reserved);
    const StopSignal stop(control_->closed_flag());
    // A single row needs no lock of ours around its call.
    const bool calls_many = calls_here_ && (task.count > 1 || task.worked.more > 0 || plan_.joined_rows > 1);
    const std::unique_ptr<HostLock> lock = calls_many ? control_->LockHost() : nullptr;
    Guard([&] { RunTask(task); });
    task.Drop();
    peak = memory.peak();
  }
  const int count = task.count;
  const uint64_t elapsed = NowNs() - start;
  if (weight > 0) counters_.cpu_ns.fetch_add(weight * (ThreadCpuNs() - start_cpu), std::memory_order_relaxed);
  {
    const auto lock = BriefLock(mutex_);
    if (read_ahead_) Guard([&] { NoteReadsLocked(task, start, elapsed); });
    NoteEndLocked(task, peak, elapsed);
  }
  if (Profiler* const profiler = control_->profiler()) {
    Guard([&] { profiler->TaskEnded(*this, first, count, start, start + elapsed); });
  }
  control_->Leave();
}

void Stage::NoteReadsLocked(const Task& task, uint64_t start_ns, uint64_t elapsed_ns) {
  if (set_cap_.load(std::memory_order_relaxed) > 0) return;
  const bool starved = 16 * output_.queued() <= std::max(16, output_.window());
  read_ahead_->Ended(start_ns + elapsed_ns, elapsed_ns, std::max(1, task.count), starved);
}

void Stage::NoteClaimLocked(Task& task) {
  NoteBlockedLocked(BlockedReason::kNone);
  free_tasks_.pop_back();
  task.running = true;
  task.since_ns = NowNs();
  ++running_;
  RaiseTo(counters_.widest, static_cast<uint64_t>(running_));
}

void Stage::NoteEndLocked(Task& task, int64_t peak, uint64_t elapsed_ns) {
  --running_;
  task.running = false;
  task.worked = {};
  free_tasks_.push_back(&task);
  counters_.tasks.fetch_add(1, std::memory_order_relaxed);
  counters_.busy_ns.fetch_add(elapsed_ns, std::memory_order_relaxed);
  cost_.NoteTask(elapsed_ns, task.count, task.rows, peak);
  cost_.ExpectBytes(ExpectedBytesLocked());
}

void Stage::NoteBlockedLocked(BlockedReason reason) {
  if (running_ == 0) blocked_.Note(reason, counters_);
}

uint64_t Stage::LastInputEpoch(uint64_t epoch) const {
  for (size_t i = elements_.size(); i-- > 0;) epoch = elements_[i].plan->properties.epochs.LastInput(epoch);
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

StageReport Stage::report(uint64_t made_ns) {
  const auto seconds = [](const std::atomic<uint64_t>& ns) {
    return static_cast<double>(ns.load(std::memory_order_relaxed)) * 1e-9;
  };
  const auto value = [](const std::atomic<uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  StageReport report;
  report.name = plan_.name;
  report.kind = plan_.kind;
  report.lane = plan_.lane;
  report.depth = plan_.depth;
  report.rows = value(counters_.rows);
  report.messages = value(counters_.messages);
  report.tasks = value(counters_.tasks);
  report.widest = value(counters_.widest);
  report.bytes = value(counters_.bytes);
  report.found_rows = value(counters_.found_rows);
  report.found_bytes = value(counters_.found_bytes);
  report.read_s = seconds(counters_.read_ns);
  report.busy_s = seconds(counters_.busy_ns);
  report.input_wait_s = seconds(counters_.input_wait_ns);
  report.output_wait_s = seconds(counters_.output_wait_ns);
  report.memory_wait_s = seconds(counters_.memory_wait_ns);
  report.cpu_s = seconds(counters_.cpu_ns);
  const auto levels = output_.levels();
  report.window = output_.window();
  report.queued = levels.queued;
  report.queued_bytes = levels.bytes;
  report.largest_bytes = levels.largest;
  report.task_bytes = task_bytes();
  report.cap = PlannedStage::InOrder(plan_.kind) ? 1 : cap();
  report.set_cap = set_cap_.load(std::memory_order_relaxed);
  report.limits = plan_.limits;
  if (!read_ahead_) return report;
  const auto lock = BriefLock(mutex_);
  report.most_cap = read_ahead_->most();
  report.reads_short_s = static_cast<double>(read_ahead_->short_ns()) * 1e-9;
  for (const ReadAhead::Change& change : read_ahead_->changes()) {
    report.caps.push_back({static_cast<double>(change.at_ns - made_ns) * 1e-9, change.limit, change.per_second});
  }
  return report;
}

std::vector<std::string> Stage::DescribeRunning() {
  const auto lock = BriefLock(mutex_);
  std::vector<std::string> lines;
  for (const auto& task : tasks_) {
    if (!task->running) continue;
    const double seconds = static_cast<double>(NowNs() - task->since_ns) * 1e-9;
    std::string line = Cat(plan_.name, StepsOf(elements_), " has worked for ", seconds, " s");
    const WorkedRows& worked = task->worked;
    if (worked.known == WorkedRows::Known::kRow) Append(line, " on the row ", DescribeRowId(worked.id));
    if (worked.known == WorkedRows::Known::kPosition) {
      Append(line, " on position ", worked.id.key, " of epoch ", worked.id.epoch);
    }
    if (worked.more > 0) Append(line, " or one of the ", worked.more, " after it");
    const std::string provenance = DescribeProvenance(worked.provenance);
    if (!provenance.empty()) Append(line, " (", provenance, ")");
    lines.push_back(std::move(line));
  }
  return lines;
}

Message Stage::ApplyElement(const Element& element, Block& block) const {
  if (block.tombstone()) {
    // Nothing that failed leaves an operator that selects rows.
    if (element.plan->properties.traits.selects) block.MarkRemoved();
    return nullptr;
  }
  CacheTrail* const trail = block.cache_trail.get();
  if (trail != nullptr && trail->found_in != nullptr && trail->found_in != element.cache) return nullptr;
  const uint64_t start = trail != nullptr ? NowNs() : 0;
  element.row->Apply(block);
  if (trail != nullptr) trail->made_ns += NowNs() - start;
  return TakeFailed(element, block);
}

Message Stage::TakeFailed(const Element& element, Block& block) {
  if (block.end != End::kError) return nullptr;
  AddOperator(block.error, *element.plan);
  Message rest = std::move(block.rest);
  if (!SkipsFailed(*element.plan, block)) return rest;
  Message tombstone = block.TakeTombstone(rest != nullptr);
  tombstone->rest = std::move(rest);
  return tombstone;
}

bool Stage::SkipsFailed(const PlannedOperator& op, const Block& block) {
  return op.skip_failed && block.failed != nullptr && IsOfOneRow(block.error);
}

void Stage::ApplyElements(size_t first, Message message, std::vector<Message>& parts) const {
  Message rest;
  for (; first < elements_.size() && !rest; ++first) rest = ApplyElement(elements_[first], *message);
  PassOn(first, std::move(message), std::move(rest), parts);
}

void Stage::PassOn(size_t first, Message message, Message rest, std::vector<Message>& parts) const {
  if (!rest) {
    parts.push_back(std::move(message));
    return;
  }
  if (message->rows() > 0 || message->end != End::kNone) {
    ApplyElements(first, std::move(message), parts);
  } else {
    rest->TakeRemovedOf(*message);
  }
  while (rest) {
    Message next = std::move(rest->rest);
    ApplyElements(first - 1, std::move(rest), parts);
    rest = std::move(next);
  }
}

bool Stage::TakeCached(uint64_t key, Block& block) const {
  std::vector<Tensor> row;
  for (const auto& cache : caches_) {
    if (!cache->Find(key, row)) continue;
    block.columns.clear();
    for (Tensor& tensor : row) block.columns.emplace_back(std::move(tensor));
    if (block.cache_trail == nullptr) block.cache_trail = std::make_unique<CacheTrail>();
    block.cache_trail->found_in = cache.get();
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
  if (!parts.empty() && parts[0]->rows() > 0) {
    if (plan_.narrows) Narrow(parts[0]->rows());
    cost_.NoteRowBytes(ContentBytes(*parts[0]) / parts[0]->rows());
  }
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
  if (message->rows() > 0) cost_.NoteRowBytes(ContentBytes(*message) / message->rows());
  task.outputs.emplace_back(std::move(message), bytes);
}

// Limits the connector so that queued messages of so many rows fit in the caches of a core.
void Stage::Narrow(int rows) {
  const int limit = std::min(plan_.window, std::max(kFewestQueued, kMostRowsQueued / std::max(1, rows)));
  if (limit_.exchange(limit, std::memory_order_relaxed) != limit) output_.SetLimit(limit);
}

void Stage::Deliver(Task& task) {
  if (task.outputs.empty()) return;
  if (plan_.narrows) Narrow(task.outputs[0].first->rows());
  uint64_t rows = 0;
  uint64_t all_bytes = 0;
  for (const auto& [message, bytes] : task.outputs) {
    rows += static_cast<uint64_t>(message->rows());
    all_bytes += static_cast<uint64_t>(bytes);
    if (message->found_in() == nullptr) continue;
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

void Stage::NoteWorked(Task& task, const Block& block) {
  const auto lock = BriefLock(mutex_);
  task.worked = {WorkedRows::Known::kRow, block.ids[0], block.provenances[0], static_cast<uint64_t>(block.rows() - 1)};
}

void Stage::DropAtRest() {
  const auto lock = BriefLock(mutex_);
  if (running_ == 0) DropOperators();
}

void Stage::SignalInput(int input) { control_->Signal(inputs_[static_cast<size_t>(input)]); }

}  // namespace headrace

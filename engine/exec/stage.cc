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
// The most rows queued between stages, and the fewest messages if each holds many rows.
constexpr int kMostRowsQueued = 4096;
constexpr int kFewestQueued = 8;
// After so many rows, a stage above that saw none of them does not count: a filter drops them all.
constexpr uint64_t kMeasuredRows = 1000;
// Reads that a task of a source of far files may begin for each row that has come so far.
constexpr uint64_t kReadsPerKnownRow = 8;

// Without the room that buffers have besides, which is most of a small message.
int64_t ContentBytes(const Block& block) {
  size_t bytes = 0;
  for (const BlockColumn& column : block.columns) bytes += column.bytes();
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

Stage::Stage(const PlannedStage& plan, RunControl* control, Parts parts)
    : plan_(plan),
      control_(control),
      inputs_(std::move(parts.inputs)),
      caches_(std::move(parts.caches)),
      calls_here_(parts.calls_here),
      elements_(std::move(parts.elements)),
      output_(plan.window, plan.byte_bound),
      cap_(plan),
      cost_(plan.row_bytes),
      limit_(plan.window) {
  for (Stage* input : inputs_) input->consumer_ = this;
}

uint64_t Stage::task_ns() const {
  if (plan_.lane != Lane::kIo) return kTaskNs;
  return PlannedStage::InOrder(plan_.kind) ? kStreamTaskNs : kReadTaskNs;
}

// The reads of all tasks together take at most half of the budget.
int Stage::FarGrain() const {
  // The first message shows how many bytes one takes.
  if (task_bytes() == 0) return 1;
  // A few rows do not: the next ones may be far larger, so the number of reads rises with that of rows.
  const uint64_t known = kReadsPerKnownRow * std::max<uint64_t>(1, counters_.rows());
  const int reads = static_cast<int>(std::min<uint64_t>(known, static_cast<uint64_t>(FarReadsOfTask())));
  const int messages = std::max(1, reads / GroupRows());
  if (control_->budget() == RunControl::kNoBudget) return std::min(messages, most_claimed());
  const int64_t share = control_->budget() / 2 / most_tasks();
  const int64_t fit = share / std::max<int64_t>(1, cost_.next_bytes());
  return static_cast<int>(std::clamp<int64_t>(fit, 1, std::min(messages, most_claimed())));
}

int Stage::Grain() const {
  if (plan_.far_reads > 0) return FarGrain();
  return cost_.MessagesIn(task_ns(), std::min(kMostAtOnce, most_claimed()));
}

int Stage::GroupRows() const {
  if (plan_.group > 0) return plan_.group;
  if (!caches_.empty()) return 1;
  uint64_t slowest = 1;
  for (const Stage* stage = this; stage != nullptr; stage = stage->consumer_) {
    const uint64_t cost = stage->cost_.row_ns();
    if (cost == 0 && counters_.rows() < kMeasuredRows) return 1;
    slowest = std::max(slowest, cost);
  }
  return GroupSizeBelowBatch(slowest, cost_.row_bytes(), plan_.group_bytes, plan_.joined_rows);
}

bool Stage::CouldRun() {
  const auto lock = BriefLock(mutex_);
  return !control_->closed() && running_ < most_tasks() && BlockedLocked() == BlockedReason::kNone;
}

bool Stage::WorthWaking() {
  const auto lock = BriefLock(mutex_);
  if (control_->closed() || running_ >= most_tasks() || BlockedLocked() != BlockedReason::kNone) return false;
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
  cap_.Set(tasks);
}

Task* Stage::Claim() {
  const auto lock = BriefLock(mutex_);
  Task* claimed = nullptr;
  if (!control_->closed()) Guard([&] { claimed = ClaimOpenLocked(); });
  return claimed;
}

Task* Stage::ClaimOpenLocked() {
  BlockedReason blocked = running_ >= most_tasks() ? BlockedReason::kTurn : BlockedLocked();
  // The first message runs alone, to learn the size of a message.
  const bool learning = task_bytes() == 0;
  const int64_t bytes = std::max<int64_t>(0, cost_.next_bytes());
  if (blocked == BlockedReason::kNone && learning && running_ > 0) blocked = BlockedReason::kTurn;
  if (blocked != BlockedReason::kNone) {
    counters_.Blocked(blocked, running_);
    return nullptr;
  }
  Task& task = tasks_.Next([this] { return MakeTask(); });
  const int most = AdmitLocked(bytes);
  if (most == 0) {
    counters_.Blocked(BlockedReason::kMemory, running_);
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
    counters_.Blocked(blocked, running_);
  }
  return blocked == BlockedReason::kNone;
}

void Stage::Run(Task& task) noexcept {
  const uint64_t start = NowNs();
  const uint64_t first = task.first;
  const uint64_t weight = plan_.lane == Lane::kIo ? counters_.CpuWeight(light()) : 0;
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
  // Of a source of far files, that of all reads that were outstanding.
  const uint64_t reads = plan_.far_reads > 0 ? std::max<uint64_t>(1, task.rows) : 1;
  if (weight > 0) counters_.UsedCpu(weight * (ThreadCpuNs() - start_cpu));
  {
    const auto lock = BriefLock(mutex_);
    Guard([&] {
      const int ended = std::max(task.count, static_cast<int>(reads));
      cap_.NoteReads(start + elapsed, elapsed * reads, ended, output_.queued(), output_.window());
    });
    NoteEndLocked(task, peak, elapsed, reads);
  }
  if (Profiler* const profiler = control_->profiler()) {
    Guard([&] { profiler->TaskEnded(*this, first, count, start, start + elapsed); });
  }
  control_->Leave();
}

void Stage::NoteClaimLocked(Task& task) {
  tasks_.Began(task);
  counters_.TaskBegan(++running_);
}

void Stage::NoteEndLocked(Task& task, int64_t peak, uint64_t elapsed_ns, uint64_t reads) {
  --running_;
  tasks_.Ended(task);
  counters_.TaskEnded(elapsed_ns * reads);
  cost_.NoteTask(elapsed_ns, task.count, task.rows, peak);
  cost_.ExpectBytes(ExpectedBytesLocked());
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
  StageReport report;
  report.name = plan_.name;
  report.kind = plan_.kind;
  report.lane = plan_.lane;
  report.depth = plan_.depth;
  report.limits = plan_.limits;
  counters_.Fill(report);
  const auto levels = output_.levels();
  report.window = output_.window();
  report.queued = levels.queued;
  report.queued_bytes = levels.bytes;
  report.largest_bytes = levels.largest;
  report.task_bytes = task_bytes();
  const auto lock = BriefLock(mutex_);
  cap_.Fill(report, made_ns);
  return report;
}

std::vector<std::string> Stage::DescribeRunning() {
  const auto lock = BriefLock(mutex_);
  return tasks_.DescribeRunning(Cat(plan_.name, StepsOf(elements_)));
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
  const int64_t bytes = static_cast<int64_t>(message->footprint());
  counters_.GaveOut(static_cast<uint64_t>(message->rows()), 1, static_cast<uint64_t>(bytes));
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
    counters_.Found(static_cast<uint64_t>(message->rows()), static_cast<uint64_t>(bytes));
  }
  counters_.GaveOut(rows, task.outputs.size(), all_bytes);
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

#include "engine/exec/pipeline.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "core/caught_error.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/fork_watch.h"
#include "core/text.h"
#include "core/unwinder.h"
#include "engine/exec/stage_maker.h"
#include "engine/plan/epoch_limit.h"
#include "engine/plan/planner.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

// About the time that it takes to wake a sleeping thread.
constexpr uint64_t kAwakeNs = 30'000;
// Longer than a light task takes if other threads compete for the core.
constexpr uint64_t kHeldUpNs = 20'000'000;

// Why a stage cannot have so many tasks at once.
absl::Status TooManyTasks(std::string_view op, int workers, const PlannedStage& stage) {
  std::string why = Cat("at most ", stage.most_cap, " of its reads are outstanding at once");
  if (PlannedStage::InOrder(stage.kind)) {
    why = "it takes its rows one after the other";
  } else if (stage.gated && stage.most_cap == 1) {
    why = "it calls Python one row after the other; map(…, ordered=False) lets several threads call a function";
  } else if (stage.gated) {
    why = Cat("it has ", stage.most_cap, " processes or threads for Python from the start");
  }
  return UnsupportedError(op, " cannot have ", workers, " workers: ", why);
}

}  // namespace

absl::Status IteratorClosed() {
  return MakeError(ErrorKind::kClosed, "the iterator is closed: take a new one from the data set");
}

// One pipeline's share of one pool: the stages whose tasks run there, the most downstream first.
class Pipeline::LaneClient : public PoolClient {
 public:
  LaneClient(Pipeline* pipeline, WorkerPool* pool) : pipeline_(pipeline), pool_(pool) {}

  bool RunOne() override {
    for (Stage* stage : stages_) {
      if (pipeline_->closed()) return false;
      Task* const task = stage->Claim();
      if (task == nullptr) continue;
      RunClaimed(*stage, *task, stage->light());
      // Lets the user's thread, which may be queued for a core behind this one, take the result.
      if (stage->light() && pipeline_->UserIsLate()) std::this_thread::yield();
      return true;
    }
    return false;
  }
  // For the user's thread: runs one light task that calls no Python. The thread looks for further light tasks, and then
  // calls PassOn.
  bool RunLight() {
    for (Stage* stage : stages_) {
      if (stage->plan().lane == Lane::kPython || !stage->light()) continue;
      Task* const task = stage->Claim();
      if (task == nullptr) continue;
      passes_on_ = true;
      RunClaimed(*stage, *task, true);
      return true;
    }
    return false;
  }
  void PassOn() {
    if (!std::exchange(passes_on_, false)) return;
    if (HasFullTask()) {
      pool_->Signal(this);
    } else {
      pool_->PassOn(this);
    }
  }
  // A thread that runs a task of this client looks again, or calls PassOn, when it is done. So it needs no signal, and
  // wakes no other thread for work that it can do itself.
  void Signal() {
    if (running_here_ != this) pool_->Signal(this);
  }
  void Add(Stage* stage) {
    stages_.push_back(stage);
    GrowFor(*stage);
  }
  // Has threads for as many tasks as the user set for the stage; more would find no slots for their output.
  void GrowForSet(const Stage& stage) { pool_->Grow(std::min(stage.most_tasks(), stage.plan().window)); }
  bool Has(const Stage* stage) const { return std::find(stages_.begin(), stages_.end(), stage) != stages_.end(); }
  WorkerPool* pool() const { return pool_; }
  // Whether its tasks call the user's Python.
  bool calls_user() const { return !stages_.empty() && stages_[0]->plan().lane == Lane::kPython; }

 private:
  void RunClaimed(Stage& stage, Task& task, bool light) noexcept {
    if (!light) pool_->BeginLongTask();
    // A thread that runs a light task looks again before another one would be awake, so it signals only if a sleeping
    // thread may be woken.
    if ((!light || pool_->Wakes()) && HasFullTask()) pool_->Signal(this);
    // A user function may iterate over another pipeline, and run its tasks here.
    LaneClient* const outer = std::exchange(running_here_, this);
    {
      const Nesting::TaskOf here(pipeline_->nesting_);
      stage.Run(task);
    }
    running_here_ = outer;
    GrowFor(stage);
    if (!light) pool_->EndLongTask();
  }
  // Each outstanding read occupies a thread, unless its file is far.
  void GrowFor(const Stage& stage) {
    if (stage.plan().lane == Lane::kIo && stage.most_tasks() > pool_->threads()) pool_->Grow(stage.most_tasks());
  }
  bool HasFullTask() const {
    return std::any_of(stages_.begin(), stages_.end(), [](Stage* stage) { return stage->WorthWaking(); });
  }

  Pipeline* pipeline_;
  WorkerPool* pool_;
  std::vector<Stage*> stages_;
  bool passes_on_ = false;  // the user's thread only
  static thread_local LaneClient* running_here_;
};
thread_local Pipeline::LaneClient* Pipeline::LaneClient::running_here_ = nullptr;

Pipeline::Pipeline(std::unique_ptr<PreparedGraph> prepared, PhysicalPlan plan, PipelineOptions options)
    : RunControl(&BufferPool::Global(), options.page_locked, options.memory),
      prepared_(std::move(prepared)),
      plan_(std::move(plan)),
      options_(std::move(options)),
      skipped_(plan_.max_errors.value_or(0), plan_.removed) {}

absl::StatusOr<std::unique_ptr<Pipeline>> Pipeline::Make(ir::proto::Graph graph, PipelineOptions options) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<PreparedGraph> prepared, PreparedGraph::Make(std::move(graph), options));
  return Make(std::move(prepared), std::move(options));
}

absl::StatusOr<std::unique_ptr<Pipeline>> Pipeline::Make(std::unique_ptr<PreparedGraph> prepared,
                                                         PipelineOptions options) {
  LoadUnwinder();
  HEADRACE_ASSIGN_OR_RETURN(PhysicalPlan plan, MakePlan(*prepared, options));
  std::unique_ptr<Pipeline> pipeline(new Pipeline(std::move(prepared), std::move(plan), std::move(options)));
  const std::string& log = pipeline->options_.failed_rows_log;
  if (!log.empty()) HEADRACE_RETURN_IF_ERROR(pipeline->skipped_.LogTo(log));
  HEADRACE_RETURN_IF_ERROR(pipeline->OpenCaches());
  HEADRACE_RETURN_IF_ERROR(pipeline->Start());
  return pipeline;
}

Pipeline::~Pipeline() {
  Stop();
  while (!Join(WorkerPool::Clock::now() + kForever)) {
  }
}

absl::Status Pipeline::OpenCaches() {
  if (options_.idle) return absl::OkStatus();
  RunCaches::Use use{.account = account(),
                     .shelf = options_.shelf.get(),
                     .off = options_.caches_off,
                     .choose_point = options_.choose_cache_point};
  if (!plan_.pull) {
    use.readers = WorkerPool::Io().threads();
    use.workers = WorkerPool::Cpu().threads();
  }
  return caches_.Open(plan_, *prepared_, use);
}

absl::Status Pipeline::Start() {
  stages_ = MakeStages(plan_, prepared_->nodes(), this);
  root_ = stages_[0].get();
  for (auto& stage : stages_) stage_order_.push_back(stage.get());
  CollectWarnings(prepared_->root(), warnings_);
  warnings_.insert(warnings_.end(), caches_.warnings().begin(), caches_.warnings().end());
  for (const Stage* stage : stage_order_) {
    for (const Element& element : stage->elements()) {
      if (element.row == nullptr) continue;
      if (auto warnings = element.row->warnings()) warnings_.push_back(std::move(warnings));
      if (auto counts = element.row->work_counts()) work_counts_.emplace_back(element.plan->name, std::move(counts));
    }
  }
  last_checkpoint_.assign(plan_.checkpoint.begin(), plan_.checkpoint.end());
  skip_rows_ = skip_since_checkpoint_ = plan_.skip_rows;
  epoch_ = plan_.epochs.first;
  delivered_ = plan_.delivered;
  EnterRange();
  if (options_.profile > 0) {
    profiler_ = std::make_unique<Profiler>(std::vector<const Stage*>(stage_order_.begin(), stage_order_.end()),
                                           account(), options_.profile);
    set_profiler(profiler_.get());
  }
  return plan_.pull || options_.idle ? absl::OkStatus() : StartThreads();
}

absl::Status Pipeline::StartThreads() {
  const auto client_of = [this](WorkerPool* pool) {
    for (auto& client : clients_) {
      if (client->pool() == pool) return client.get();
    }
    clients_.push_back(std::make_unique<LaneClient>(this, pool));
    return clients_.back().get();
  };
  if (plan_.workers > WorkerPool::Cpu().threads()) WorkerPool::Cpu().Grow(plan_.workers);
  for (Stage* stage : stage_order_) {
    WorkerPool* pool = stage->plan().lane == Lane::kIo ? &WorkerPool::Io() : &WorkerPool::Cpu();
    if (stage->plan().lane == Lane::kPython) {
      // More threads would find no slots for their output.
      const int threads = std::min(stage->most_tasks(), stage->plan().window);
      own_pools_.push_back(std::make_unique<WorkerPool>("headrace-python", threads));
      pool = own_pools_.back().get();
    }
    client_of(pool)->Add(stage);
  }
  for (const auto& client : clients_) HEADRACE_RETURN_IF_ERROR(client->pool()->Start());
  SignalAll();
  return absl::OkStatus();
}

void Pipeline::Signal(Stage* stage) {
  for (auto& client : clients_) {
    if (client->Has(stage)) client->Signal();
  }
}

void Pipeline::SignalAll() {
  for (auto& client : clients_) client->Signal();
}

bool Pipeline::ResultReady() { return has_block_.load(std::memory_order_seq_cst) || root_->output().Ready(); }

int64_t Pipeline::NeedsOfIdle(const Stage* besides) {
  int64_t bytes = 0;
  int64_t largest = 0;
  int unknown = 0;
  for (const Stage* stage : stage_order_) {
    largest = std::max(largest, stage->task_bytes());
    const int64_t need = stage == besides ? 0 : stage->need_while_idle();
    bytes += std::max<int64_t>(0, need);
    unknown += need < 0 ? 1 : 0;
  }
  // A stage that never ran is expected to need as much as the largest one.
  return bytes + unknown * largest;
}

std::unique_ptr<HostLock> Pipeline::LockHost() { return options_.bindings.lock ? options_.bindings.lock() : nullptr; }

void Pipeline::MakeRoom(int64_t held) { caches_.MakeRoom(held); }

void Pipeline::Aborted() {
  if (root_ != nullptr) root_->output().Close();
}

void Pipeline::Stop() {
  nesting_.SetEnding();
  SetClosed();
  for (Stage* stage : stage_order_) stage->output().Close();
}

Pipeline::Closed Pipeline::Close(std::chrono::nanoseconds patience) {
  Stop();
  if (RunsHere() || Nesting::WorksForEnding()) return Closed::kFromWithin;
  return Join(WorkerPool::Clock::now() + patience) ? Closed::kEntirely : Closed::kTooLate;
}

bool Pipeline::Join(WorkerPool::Clock::time_point until) {
  const std::unique_lock<TimedMutex> joining(close_mutex_, until);
  if (!joining.owns_lock()) return false;
  if (ended_) {
    nesting_.SetOver();
    return true;
  }
  const bool left = RemoveClients(until);
  // Waits for the user's thread to leave: it was woken, or runs a light task. With pull, the task may be a function of
  // the user's.
  std::unique_lock<TimedMutex> user(user_mutex_, std::defer_lock);
  if (!plan_.pull) {
    user.lock();
  } else if (!user.try_lock_until(until)) {
    return false;
  }
  block_.reset();
  for (Stage* stage : stage_order_) stage->DropAtRest();
  if (!left) return false;
  {
    const std::lock_guard<std::mutex> lock(pools_mutex_);
    own_pools_.clear();
  }
  caches_.Close();
  ended_ = true;
  nesting_.SetOver();
  return true;
}

std::vector<Stage*> Pipeline::StagesOf(std::string_view op) const {
  std::vector<Stage*> found;
  for (Stage* stage : stage_order_) {
    const auto is_op = [&](int id) {
      const PlannedOperator& each = plan_.operators[static_cast<size_t>(id)];
      return each.name == op || std::count(each.fused.begin(), each.fused.end(), op) > 0;
    };
    const std::vector<int>& operators = stage->plan().operators;
    if (std::any_of(operators.begin(), operators.end(), is_op)) found.push_back(stage);
  }
  return found;
}

absl::Status Pipeline::UnknownOperator(std::string_view op) const {
  std::vector<std::string> names;
  const auto list = [&names](const std::string& name) {
    if (std::count(names.begin(), names.end(), name) == 0) names.push_back(name);
  };
  for (const Stage* stage : stage_order_) {
    for (const int id : stage->plan().operators) {
      const PlannedOperator& each = plan_.operators[static_cast<size_t>(id)];
      list(each.name);
      for (const std::string& name : each.fused) list(name);
    }
  }
  std::string listed;
  for (const std::string& name : names) Append(listed, listed.empty() ? "" : ", ", name);
  return GraphError("no operator that runs is called \"", op, "\"; those that do are ", listed);
}

absl::Status Pipeline::SetWorkers(std::string_view op, int workers) {
  const std::vector<Stage*> stages = StagesOf(op);
  if (stages.empty()) return UnknownOperator(op);
  const auto may = [workers](const Stage* stage) { return workers <= stage->plan().most_cap; };
  if (std::none_of(stages.begin(), stages.end(), may)) return TooManyTasks(op, workers, stages[0]->plan());
  // Keeps the pools while they are signalled.
  const std::lock_guard<std::mutex> lock(pools_mutex_);
  if (closed()) return EndError();
  for (Stage* stage : stages) {
    stage->SetCap(workers);
    for (const auto& client : clients_) {
      if (client->Has(stage)) client->GrowForSet(*stage);
    }
    Signal(stage);
  }
  return absl::OkStatus();
}

void Pipeline::ResetWorkers() {
  const std::lock_guard<std::mutex> lock(pools_mutex_);
  if (closed()) return;
  for (Stage* stage : stage_order_) stage->SetCap(0);
  SignalAll();
}

// Waits for all of the engine's own tasks, which end soon.
bool Pipeline::RemoveClients(WorkerPool::Clock::time_point until) {
  // After a fork the threads do not exist here: waiting for them would last forever.
  if (LostInFork()) return true;
  bool left = true;
  for (const auto& client : clients_) {
    if (client->calls_user()) {
      left &= client->pool()->Remove(client.get(), until);
    } else {
      client->pool()->Remove(client.get());
    }
  }
  return left;
}

absl::Status Pipeline::EndError() const {
  const absl::Status fault = this->fault();
  return fault.ok() ? IteratorClosed() : fault;
}

bool Pipeline::UserIsLate() const { return waits_.load(std::memory_order_relaxed) && root_->output().queued() > 0; }

bool Pipeline::RunOneOf(const std::vector<Stage*>& stages) {
  for (Stage* stage : stages) {
    Task* const task = stage->Claim();
    if (task == nullptr) continue;
    const Nesting::TaskOf here(nesting_);
    stage->Run(*task);
    return true;
  }
  return false;
}

// Runs light tasks until a result is ready: a wake-up costs more than they do, and a woken thread queues for a core
// behind the workers. After a task that was not light after all, it runs none for a hundred times as long, so that slow
// rows delay the loop for at most a hundredth of the time.
void Pipeline::WorkWhileWaiting(uint64_t until_ns) {
  uint64_t now = NowNs();
  bool ran = now >= works_from_ns_;
  while (ran && !closed() && !root_->output().Ready() && now < until_ns) {
    ran = std::any_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->RunLight(); });
    const uint64_t began = std::exchange(now, NowNs());
    if (now - began < kHeldUpNs) continue;
    works_from_ns_ = now + 100 * (now - began);
    ran = false;
  }
  for (const auto& client : clients_) client->PassOn();
}

// Returns when the time is over, because there may be no result while operators drop all rows of their sources.
absl::Status Pipeline::PullUntilReady(std::chrono::nanoseconds limit) {
  const uint64_t start = NowNs();
  while (!ResultReady() && !closed()) {
    if (!RunOneOf(stage_order_) && !closed()) return InternalError("no stage can run and there is no result");
    if (NowNs() - start >= static_cast<uint64_t>(std::max<int64_t>(0, limit.count()))) break;
  }
  return absl::OkStatus();
}

// Sets has_block_ before the message leaves the connector, so that no task overdraws in between.
std::optional<Message> Pipeline::PopResult(bool& was_full) {
  has_block_.store(true, std::memory_order_seq_cst);
  std::optional<Message> message = root_->output().TryPop(was_full);
  if (!message.has_value()) {
    has_block_.store(false, std::memory_order_seq_cst);
    WakeMemoryWaiters();
  }
  return message;
}

// Stays awake, yielding to other threads, if the last blocks came about as soon as a sleeping thread could be woken.
bool Pipeline::WaitForResult(std::chrono::nanoseconds limit) {
  MessageConnector& output = root_->output();
  const uint64_t start = NowNs();
  const uint64_t until = start + static_cast<uint64_t>(limit.count());
  waits_.store(true, std::memory_order_relaxed);
  WorkWhileWaiting(until);
  uint64_t waited = 0;
  while (mean_wait_ns_ <= kAwakeNs && waited < 2 * kAwakeNs && output.queued() == 0 && !closed()) {
    std::this_thread::yield();
    waited = NowNs() - start;
  }
  const uint64_t now = NowNs();
  const bool ready = output.WaitReady(std::chrono::nanoseconds(until > now ? until - now : 0));
  waits_.store(false, std::memory_order_relaxed);
  waited = NowNs() - start;
  mean_wait_ns_ = (7 * mean_wait_ns_ + std::min(waited, 100 * kAwakeNs)) / 8;
  return ready;
}

// Waits for the next block of the result; block_ stays empty if the time is over.
absl::Status Pipeline::TakeBlock(std::chrono::nanoseconds limit) {
  if (plan_.pull) HEADRACE_RETURN_IF_ERROR(PullUntilReady(limit));
  bool was_full = false;
  std::optional<Message> message = PopResult(was_full);
  if (!message.has_value()) {
    if (closed() || plan_.pull || limit.count() <= 0 || !WaitForResult(limit)) return absl::OkStatus();
    message = PopResult(was_full);
  }
  if (was_full) Signal(root_);
  if (!message.has_value()) return absl::OkStatus();
  block_ = *std::move(message);
  block_row_ = 0;
  // A range that was added during the wait begins with it.
  EnterRange();
  return absl::OkStatus();
}

// Gives one row of block_, its end, or nothing if it is used up.
Pipeline::Outcome Pipeline::GiveRow(ResultRow& row) {
  while (block_row_ < block_->rows() && skip_rows_ > 0) {
    ++block_row_;
    --skip_rows_;
  }
  if (block_->removed != nullptr || block_->tombstone()) {
    failed_ = LeaveOutFailed();
    if (!failed_.ok()) {
      block_.reset();
      has_block_.store(true, std::memory_order_seq_cst);
      return Outcome::kNothingYet;
    }
  }
  if (block_row_ < block_->rows()) {
    row.id = block_->ids[block_row_];
    row.columns.clear();
    row.columns.reserve(block_->columns.size());
    for (BlockColumn& column : block_->columns) {
      row.columns.push_back(column.TakeRow(block_row_));
      row.columns.back().HandOver();
    }
    ++block_row_;
    row_out_ = true;
    const bool last = block_row_ == block_->rows();
    if (last) has_block_.store(block_->end == End::kError, std::memory_order_seq_cst);
    // The checkpoint of a block with an error counts rows that were lost with the one that failed.
    block_out_ = last && block_->end != End::kError && !block_->continues;
    if (block_out_) block_checkpoint_ = block_->checkpoint;
    return Outcome::kRow;
  }
  return EndBlock();
}

Pipeline::Outcome Pipeline::EndBlock() {
  const Message block = std::move(block_);
  // An error is permanent, so a result is ready from now on.
  has_block_.store(block->end == End::kError, std::memory_order_seq_cst);
  if (block->end == End::kError) {
    failed_ = block->error;
    return Outcome::kNothingYet;
  }
  if (block->end != End::kEpoch) return Outcome::kNothingYet;
  if (failed_ = CheckEpochEnd(); !failed_.ok()) {
    has_block_.store(true, std::memory_order_seq_cst);
    return Outcome::kNothingYet;
  }
  if (plan_.ranges.has_value()) EndRange();
  epoch_ = block->epoch + 1;
  skip_rows_ = 0;
  tombstones_ahead_ = 0;
  skipped_.EndEpoch();
  if (plan_.ranges.has_value()) return Outcome::kEpochEnd;
  delivered_ = 0;
  last_checkpoint_.assign(last_checkpoint_.size(), 0);
  skip_since_checkpoint_ = 0;
  return Outcome::kEpochEnd;
}

void Pipeline::EnterRange() {
  if (in_range_ || !plan_.ranges.has_value() || !options_.ranges->Has(epoch_)) return;
  options_.ranges->ForgetBelow(epoch_);
  const uint64_t first = options_.ranges->At(epoch_).first;
  last_checkpoint_.assign(last_checkpoint_.size(), 0);
  last_checkpoint_[0] = RowsOfBatches(first, plan_.ranges->batch_rows, plan_.ranges->rows);
  for (const int counter : plan_.ranges->batch_numbers) last_checkpoint_[static_cast<size_t>(counter)] = first;
  skip_since_checkpoint_ = 0;
  delivered_ = first;
  in_range_ = true;
  past_epoch_ = false;
}

void Pipeline::EndRange() {
  in_range_ = false;
  const uint64_t end = options_.ranges->At(epoch_).end;
  past_epoch_ = end >= plan_.ranges->batches;
  if (!past_epoch_) return;
  delivered_ = 0;
  last_checkpoint_.assign(last_checkpoint_.size(), 0);
  skip_since_checkpoint_ = 0;
}

absl::Status Pipeline::LeaveOutFailed() {
  if (block_->removed != nullptr) {
    const std::unique_ptr<std::vector<FailedRow>> removed = std::move(block_->removed);
    // What precedes a row that was given before the run was counted then.
    const bool counted = block_row_ > 0 || skip_rows_ > 0;
    for (const FailedRow& row : *removed) {
      if (!counted) HEADRACE_RETURN_IF_ERROR(LeaveOut(row));
    }
  }
  if (block_row_ > 0 || !block_->tombstone()) return absl::OkStatus();
  ++block_row_;
  ++tombstones_ahead_;
  last_tombstone_ = block_->error;
  return LeaveOut({block_->ids[0], block_->provenances[0], block_->error});
}

absl::Status Pipeline::LeaveOut(const FailedRow& row) { return skipped_.Add(epoch_, row); }

absl::Status Pipeline::CheckEpochEnd() {
  const absl::Status last = std::exchange(last_tombstone_, absl::OkStatus());
  return delivered_ > 0 || last.ok() ? absl::OkStatus() : NothingLeftError("this epoch", last);
}

void Pipeline::Given() {
  if (!std::exchange(row_out_, false)) return;
  ++delivered_;
  delivered_total_.fetch_add(1, std::memory_order_relaxed);
  skip_since_checkpoint_ += 1 + std::exchange(tombstones_ahead_, 0);
  skipped_.Given();
  if (!std::exchange(block_out_, false)) return;
  last_checkpoint_.swap(block_checkpoint_);
  skip_since_checkpoint_ = 0;
}

absl::StatusOr<Pipeline::Outcome> Pipeline::Next(std::chrono::nanoseconds limit, ResultRow& row) {
  absl::StatusOr<Outcome> outcome = Fetch(limit, row);
  Given();
  return outcome;
}

absl::StatusOr<Pipeline::Outcome> Pipeline::Fetch(std::chrono::nanoseconds limit, ResultRow& row) {
  const std::lock_guard<TimedMutex> inside(user_mutex_);
  Given();
  if (!failed_.ok()) return failed_;
  if (closed()) return EndError();
  if (LostInFork()) {
    return UnsupportedError(
        "this iterator was made before the process forked; make a new one in the child before the "
        "parent starts its own, or start workers with the 'spawn' method");
  }
  if (epoch_ > plan_.epochs.last) {
    if (plan_.epochs_cut) return UncountedEpoch(epoch_, plan_.epochs.last);
    return UnsupportedError("there is no epoch ", epoch_, " here: the last one is ", plan_.epochs.last);
  }
  try {
    EnterRange();
    return FetchRow(limit, row);
  } catch (const std::exception&) {
    row_out_ = block_out_ = false;
    failed_ = CaughtError();
    return failed_;
  }
}

// Giving a row of a block that is here costs less than reading the clock, which is read for its first and last row.
absl::StatusOr<Pipeline::Outcome> Pipeline::FetchRow(std::chrono::nanoseconds limit, ResultRow& row) {
  const bool here = block_ && skip_rows_ == 0 && block_row_ + 1 < block_->rows();
  if (here && GiveRow(row) == Outcome::kRow) {
    WakeMemoryWaiters();
    return Outcome::kRow;
  }
  const uint64_t start = NowNs();
  if (started_ns_.load(std::memory_order_relaxed) == 0) started_ns_.store(start, std::memory_order_relaxed);
  Outcome outcome = Outcome::kNothingYet;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (outcome == Outcome::kNothingYet && failed_.ok()) {
    if (!block_) {
      failed_ = TakeBlock(deadline - std::chrono::steady_clock::now());
      if (!block_) break;
    }
    outcome = GiveRow(row);
  }
  const uint64_t end = NowNs();
  last_ns_.store(end, std::memory_order_relaxed);
  user_wait_ns_.fetch_add(end - start, std::memory_order_relaxed);
  LoopWaited(start, end);
  WakeMemoryWaiters();
  if (!failed_.ok()) return failed_;
  if (outcome == Outcome::kNothingYet && closed()) return EndError();
  return outcome;
}

void Pipeline::Ask(uint64_t epoch) {
  const std::lock_guard<TimedMutex> inside(user_mutex_);
  if (closed()) return;
  EnterRange();
  root_->Ask(std::min(epoch, plan_.epochs.last));
}

void Pipeline::AskAhead(uint64_t epoch) {
  // Keeps the pools while they are signalled.
  const std::lock_guard<std::mutex> lock(pools_mutex_);
  if (!closed()) root_->Ask(std::min(epoch, plan_.epochs.last));
}

Position Pipeline::position() const {
  // Between two ranges it is that of the end of the one before.
  const uint64_t data_epoch = plan_.ranges.has_value() ? options_.ranges->epoch() + (past_epoch_ ? 1 : 0) : epoch_;
  return {.epoch = data_epoch,
          .delivered = delivered_,
          .checkpoint = std::vector<uint64_t>(last_checkpoint_.begin(), last_checkpoint_.end()),
          .skip_rows = skip_since_checkpoint_,
          .removed = skipped_.counted(),
          // Later epochs start from position 0.
          .base = epoch_ == plan_.epochs.first ? plan_.shard.base : 0};
}

Report Pipeline::report() {
  Report report;
  report.shard = plan_.shard;
  for (Stage* stage : stage_order_) {
    report.stages.push_back(stage->report(made_ns_));
    report.stages.back().shards = report.stages.back().is_source() && plan_.shard.world > 1;
  }
  report.caches = caches_.reports();
  if (options_.stores != nullptr) report.stores = options_.stores->reports();
  for (const auto& warnings : warnings_) report.warnings.push_back(warnings->report());
  for (const auto& [name, counts] : work_counts_) report.work.push_back({name, counts->counts()});
  report.max_errors = plan_.max_errors;
  report.skipped = skipped_.reports();
  const uint64_t started = started_ns_.load(std::memory_order_relaxed);
  const uint64_t last = last_ns_.load(std::memory_order_relaxed);
  // Not yet, during the first wait.
  if (started != 0 && last > started) report.wall_s = static_cast<double>(last - started) * 1e-9;
  report.user_wait_s = static_cast<double>(user_wait_ns_.load(std::memory_order_relaxed)) * 1e-9;
  report.delivered = delivered_total_.load(std::memory_order_relaxed);
  report.held_bytes = account()->held();
  report.peak_bytes = account()->peak();
  report.budget_bytes = budget();
  report.workers = plan_.pull ? 1 : WorkerPool::Cpu().threads();
  return report;
}

Profile Pipeline::profile() const { return profiler_ ? profiler_->Take() : Profile(); }

void Pipeline::LoopWaited(uint64_t start_ns, uint64_t end_ns) {
  if (profiler_) profiler_->LoopWaited(*root_, start_ns, end_ns);
}

std::vector<std::string> Pipeline::DescribeStall() {
  std::vector<std::string> lines;
  for (Stage* stage : stage_order_) {
    for (std::string& line : stage->DescribeRunning()) lines.push_back(std::move(line));
  }
  if (!lines.empty()) return lines;
  for (Stage* stage : stage_order_) {
    const auto levels = stage->output().levels();
    lines.push_back(Cat(stage->plan().name, " is idle with ", levels.queued, " messages queued"));
  }
  return lines;
}

}  // namespace headrace

#include "python/binding/module/iterator_binding.h"

#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/fork_watch.h"
#include "core/interrupt.h"
#include "engine/device/device_iteration.h"
#include "engine/device/device_name.h"
#include "engine/device/placement.h"
#include "engine/device/result_memory.h"
#include "engine/exec/worker_pool.h"
#include "engine/plan/plan_text.h"
#include "engine/report/advice.h"
#include "engine/report/explain.h"
#include "engine/report/profile_page.h"
#include "engine/report/trace.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/validate.h"
#include "ops/rows/separate_row.h"
#include "python/binding/host/orphans.h"
#include "python/binding/host/user_objects.h"
#include "python/binding/host/user_parameter.h"
#include "python/binding/module/graph_binding.h"
#include "python/binding/module/host_binding.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/delivered_columns.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/shared_batch.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/tensor_binding.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {
namespace {

namespace py = pybind11;
using Clock = std::chrono::steady_clock;

// Signals (Ctrl-C) are handled between slices of waiting.
constexpr std::chrono::milliseconds kSlice{50};
// A task on the user's thread that takes longer ends for them, and with it the run.
constexpr std::chrono::milliseconds kLongTask{1000};
// The longest time that Close waits for functions of the user to return, and for another thread to leave Next.
constexpr std::chrono::milliseconds kPatience{750};

template <typename T>
T Option(const py::dict& options, const char* name, T otherwise) {
  return options.contains(name) ? options[name].cast<T>() : otherwise;
}

// Of the point at which an automatic cache keeps rows: a function of the names of the steps before each.
CachePointChoice ChoiceOf(const py::dict& given) {
  if (!given.contains("choose_cache_point")) return nullptr;
  const auto function = std::make_shared<const HeldObject>(py::object(given["choose_cache_point"]));
  return [function](absl::Span<const CachePoint> points) {
    const py::gil_scoped_acquire gil;
    py::list names;
    for (const CachePoint& point : points) names.append(point.after);
    return function->get()(names).cast<std::optional<int>>();
  };
}

// One that is sent nothing, and from whose memory the user may send: not set where the process does not use it yet.
std::optional<PlannedDevice> DeviceInUse(int number) {
  if (!HasActiveContext(number)) return std::nullopt;
  return PlannedDevice{.name = Cat("cuda:", number), .sends_from = MemoryKind::kPageLocked, .depth = 0};
}

std::optional<PlannedDevice> DeviceOf(const py::dict& given) {
  if (given.contains("page_locked_of")) return DeviceInUse(given["page_locked_of"].cast<int>());
  if (!given.contains("device")) return std::nullopt;
  const DeviceName name = ValueOrRaise(ParseDeviceName(given["device"].cast<std::string>()));
  PlannedDevice device{.name = name.text(), .sends_from = name.sends_from()};
  device.depth = Option(given, "device_depth", device.depth);
  device.memory = Option<int64_t>(given, "device_memory", 0);
  return device;
}

IterateOptions OptionsOf(const py::dict& given) {
  IterateOptions options;
  if (given.contains("seed") && !given["seed"].is_none()) options.seed = given["seed"].cast<uint64_t>();
  options.epoch = Option<uint64_t>(given, "epoch", 0);
  options.endless = Option(given, "endless", false);
  options.rank = Option<uint64_t>(given, "rank", 0);
  options.world = Option<uint64_t>(given, "world", 1);
  if (given.contains("even")) options.even = given["even"].cast<std::string>();
  options.state = Option<std::string>(given, "state", "");
  if (given.contains("start")) options.start = given["start"].cast<uint64_t>();
  options.optimize = Option(given, "optimize", true);
  options.disabled_passes = Option<std::vector<std::string>>(given, "disabled_passes", {});
  options.pull = Option(given, "pull", false);
  options.workers = Option(given, "workers", 0);
  options.window = Option(given, "window", 0);
  options.group = Option(given, "group", 0);
  options.memory = Option<int64_t>(given, "memory", options.memory);
  options.choose_cache_point = ChoiceOf(given);
  options.cache_folder = Option<std::string>(given, "cache_folder", "");
  options.profile = Option<int64_t>(given, "profile", 0);
  options.failed_rows_log = Option<std::string>(given, "failed_rows_log", "");
  options.device = DeviceOf(given);
  options.shelf = Option<std::shared_ptr<CacheShelf>>(given, "shelf", nullptr);
  return options;
}

py::dict StageDict(const StageReport& stage) {
  py::dict dict;
  dict["name"] = MessageLine(stage.name);
  dict["kind"] = std::string(KindName(stage.kind));
  dict["rows"] = stage.rows;
  dict["messages"] = stage.messages;
  dict["tasks"] = stage.tasks;
  dict["widest"] = stage.widest;
  dict["busy_s"] = stage.busy_s;
  dict["input_wait_s"] = stage.input_wait_s;
  dict["output_wait_s"] = stage.output_wait_s;
  dict["memory_wait_s"] = stage.memory_wait_s;
  dict["window"] = stage.window;
  dict["shards"] = stage.shards;
  dict["lane"] = std::string(LaneName(stage.lane));
  dict["bytes"] = stage.bytes;
  dict["found_rows"] = stage.found_rows;
  dict["found_bytes"] = stage.found_bytes;
  dict["read_s"] = stage.read_s;
  dict["cpu_s"] = stage.cpu_s;
  dict["cap"] = stage.cap;
  py::list caps;
  for (const StageReport::CapChange& change : stage.caps) {
    caps.append(py::make_tuple(change.at_s, change.cap, change.per_second));
  }
  dict["caps"] = caps;
  dict["depth"] = stage.depth;
  return dict;
}

py::dict DeviceDict(const DeviceReport& device) {
  py::dict dict;
  dict["name"] = MessageLine(device.name);
  dict["steps"] = device.steps;
  dict["batches"] = device.batches;
  dict["bytes"] = device.bytes;
  dict["staged_bytes"] = device.staged_bytes;
  dict["depth"] = device.depth;
  dict["ready"] = device.ready;
  dict["buffers"] = device.buffers;
  dict["buffer_bytes"] = device.buffer_bytes;
  dict["budget_bytes"] = device.budget_bytes;
  dict["copy_s"] = device.copy_s;
  dict["input_wait_s"] = device.input_wait_s;
  dict["room_wait_s"] = device.room_wait_s;
  dict["buffer_wait_s"] = device.buffer_wait_s;
  return dict;
}

// [{"name": "map[1]", "rows": 3, "first": ["photos/1.jpg: …"]}], of operators that have any.
py::list RowsByOperator(const std::vector<WarningReport>& reports) {
  py::list list;
  for (const WarningReport& report : reports) {
    if (report.rows == 0) continue;
    py::list first;
    for (const std::string& row : report.first) first.append(MessageLine(row));
    py::dict entry;
    entry["name"] = MessageLine(report.name);
    entry["rows"] = report.rows;
    entry["first"] = first;
    list.append(entry);
  }
  return list;
}

// A row that is a view, as a crop is of its picture, or one of many rows, would keep all that it is a view of. The row
// itself if it keeps nothing else, or if there is no memory for a copy.
Tensor AloneInMemory(Tensor row) {
  if (IsVariableLength(row.dtype())) return row;
  // Less is not worth a copy.
  constexpr size_t kSmall = 4096;
  const bool keeps_others = row.footprint() > kMostKeptByRow * row.bytes() + kSmall;
  if (row.contiguous() && !keeps_others) return row;
  absl::StatusOr<Tensor> copy = Tensor::Allocate(row.dtype(), row.shape());
  if (!copy.ok()) return row;
  row.CopyTo(copy->mutable_raw());
  return *std::move(copy);
}

// A warning, not an exception, because the pipeline is closed in any case.
void WarnOf(const UserCalls& calls) try {
  const std::vector<std::string> left_behind = calls.Running();
  if (left_behind.empty() || _Py_IsFinalizing() != 0) return;
  std::string names;
  for (const std::string& name : left_behind) Append(names, names.empty() ? "" : ", ", name);
  const std::string text =
      Printable(Cat(names, left_behind.size() == 1 ? " has" : " have",
                    " not returned: the iterator is closed, and the thread is left behind until it does"));
  constexpr Py_ssize_t kOfWhoCloses = 4;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), kOfWhoCloses) < 0) PyErr_WriteUnraisable(nullptr);
} catch (const std::bad_alloc&) {
  // No warning if there is no memory for it.
}

class __attribute__((visibility("hidden"))) BoundIteration {
 public:
  BoundIteration(const BoundGraph& graph, const py::dict& options, const py::dict& references)
      : objects_(std::make_shared<UserObjects>()),
        process_(getpid()),
        bytes_(Option(options, "view_bytes", false) ? Bytes::kViewed : Bytes::kCopied),
        lends_(Option(options, "lend", false)),
        shares_(Option(options, "arrow", false)) {
    ReleaseNow();
    if (graph.graph.has_skip_failed()) objects_->raised().KeepLatest();
    IterateOptions given = OptionsOf(options);
    given.limits = graph.limits;
    given.bindings = BindingsOf(references, true, objects_);
    bindings_.functions = given.bindings.functions;
    const bool sends = given.device.has_value() && given.device->depth > 0;
    if (sends && given.device->sends_from == MemoryKind::kPageLocked && !lends_) {
      Raise(UnsupportedError("NumPy has no arrays on ", given.device->name,
                             ": iterate with as_=\"torch\", or as_=\"dlpack\" for any library's from_dlpack"));
    }
    if (sends && shares_) {
      Raise(UnsupportedError("as_=\"arrow\" gives batches in host memory; leave device out: ", given.device->name));
    }
    if (sends) RefuseLists(graph.graph, given.device->name);
    iteration_ = ValueOrRaise(RunInterruptible([&] { return DeviceIteration::Start(graph.graph, std::move(given)); }),
                              &objects_->raised());
    const ir::Schema& schema = iteration_->schema();
    columns_ = DeliveredColumns(schema);
    for (const DeliveredColumn& column : columns_) names_.push_back(py::str(schema.columns[column.column].name));
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      if (schema.columns[i].type.ragged) splits_ = static_cast<int>(i);
    }
  }

  ~BoundIteration() {
    // Joins no thread: the threads of the pipeline are in the parent.
    if (inherited()) {
      iteration_.release();
      return;
    }
    if (iteration_ == nullptr) return;
    if (closed_ != Pipeline::Closed::kTooLate) CloseWithin(kPatience);
    if (closed_ == Pipeline::Closed::kTooLate) LeaveBehind(std::move(iteration_));
    if (closed_ == Pipeline::Closed::kFromWithin) EndOrphan(std::move(iteration_));
    {
      const Unlocked unlocked;
      iteration_.reset();
    }
    ReleaseNow();
  }
  BoundIteration(const BoundIteration&) = delete;

  // Marks this thread as the one that takes a row, during its life.
  class Turn {
   public:
    explicit Turn(BoundIteration& iteration) : iteration_(iteration) {
      std::thread::id nobody;
      if (!iteration.user_.compare_exchange_strong(nobody, std::this_thread::get_id())) {
        if (nobody == std::this_thread::get_id()) {
          Raise(UnsupportedError(
              "the iterator was asked for a row within a call that it makes; take rows of iter(ds) or ds.iterate(…)"));
        }
        Raise(UnsupportedError("another thread waits for this iterator; an iterator serves one thread at a time"));
      }
      iteration.waiting_since_ns_.store(NowNs(), std::memory_order_relaxed);
    }
    ~Turn() {
      iteration_.waiting_since_ns_.store(0, std::memory_order_relaxed);
      iteration_.user_.store(std::thread::id());
    }

   private:
    BoundIteration& iteration_;
  };

  // The fetched row, or the next one, as a dict; None at an epoch's end, until the next epoch is requested. The row
  // stays fetched until Given is called: an exception on its way to the user does not lose it.
  py::object Next() {
    CheckProcess();
    ReleaseNow();
    while (!at_end_ && !row_waits_) {
      const Pipeline::Outcome outcome = WaitOnce();
      at_end_ = outcome == Pipeline::Outcome::kEpochEnd;
      row_waits_ = outcome == Pipeline::Outcome::kRow;
      if (outcome == Pipeline::Outcome::kNothingYet && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    if (at_end_) return py::none();
    try {
      return WaitingRow();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_MemoryError)) throw;
    }
    Raise(ResourceError("Python has no memory for the next row, which waits until there is"));
  }

  void Given() {
    if (!std::exchange(row_waits_, false)) return;
    iteration_->Given();
    first_axes_ += first_axis_;
    row_.batch.reset();
    row_columns_ = py::object();
    columns_made_ = 0;
    ++given_;
  }

  // Tells it to end, without waiting for its threads; idle worker processes are gone when it returns.
  void Stop() {
    if (inherited()) return;
    const Unlocked unlocked;
    iteration_->Stop();
    objects_->EndEarly();
  }

  void Close(double patience_s) {
    if (!inherited()) CloseWithin(std::chrono::nanoseconds(static_cast<int64_t>(patience_s * 1e9)));
  }

  // For Python's garbage collector.
  int Traverse(visitproc visit, void* arg) const { return objects_->Traverse(visit, arg); }
  void LetGo() { objects_->Clear(); }

  void Ask(uint64_t epoch) {
    CheckProcess();
    at_end_ = false;
    given_ = 0;
    const Unlocked unlocked;
    iteration_->Ask(epoch);
  }

  // The parameters read in an epoch: [(parameter, first, last)], in the numbers of the operators that read them.
  py::list Reads(uint64_t epoch) const { return ReadInEpoch(bindings_, epoch); }

  void SetWorkers(const std::string& op, int workers) {
    CheckProcess();
    absl::Status set;
    {
      const Unlocked unlocked;
      set = iteration_->SetWorkers(op, workers);
    }
    RaiseIfError(set);
  }
  void ResetWorkers() {
    CheckProcess();
    const Unlocked unlocked;
    iteration_->ResetWorkers();
  }

  bool Outdated() const {
    CheckProcess();
    return RunInterruptible([this] { return iteration_->Outdated(); });
  }

  py::bytes State() {
    CheckProcess();
    return py::bytes(ValueOrRaise(iteration_->State(), &objects_->raised()));
  }
  // Made by the process from which this one was forked. Its threads are there, and its locks may be held forever.
  bool inherited() const { return getpid() != process_; }
  // The start of the current Turn, on the clock of time.monotonic(); 0: none.
  uint64_t waiting_since_ns() const { return waiting_since_ns_.load(std::memory_order_relaxed); }
  // The pipeline returned an error, and would return it again.
  bool failed() const { return failed_; }
  // Whether tensors are on a device whose memory the host cannot read.
  bool on_device() const { return iteration_->device() != nullptr; }
  uint64_t epoch() const { return iteration_->epoch(); }
  uint64_t delivered() const {
    CheckProcess();
    return iteration_->delivered();
  }
  // Rows given since the start of the epoch.
  uint64_t given() const { return given_; }
  py::list schema() const { return SchemaList(iteration_->schema()); }

  py::str Explain() const {
    CheckProcess();
    std::string text;
    {
      const Unlocked unlocked;
      text = ExplainRun(iteration_->report());
    }
    return MessageText(text);
  }

  // The trace and the page, for a closed iteration. `joined`: what it gave are batches of rows.
  py::tuple Profile(bool joined) const {
    CheckProcess();
    std::string trace;
    std::string page;
    {
      const Unlocked unlocked;
      const headrace::Profile profile = iteration_->profile();
      trace = ChromeTrace(profile);
      headrace::Report report = iteration_->report();
      if (joined) report.rows = first_axes_;
      page = ProfilePage(report, profile);
    }
    return py::make_tuple(MessageText(trace), MessageText(page));
  }

  py::list DescribeStall() const {
    CheckProcess();
    std::vector<std::string> lines;
    {
      const Unlocked unlocked;
      lines = iteration_->DescribeStall();
    }
    return MessageLines(lines);
  }

  py::dict Report() const {
    CheckProcess();
    headrace::Report report;
    {
      const Unlocked unlocked;
      report = iteration_->report();
    }
    py::dict dict;
    py::list stages;
    for (const StageReport& stage : report.stages) stages.append(StageDict(stage));
    dict["stages"] = stages;
    dict["warnings"] = RowsByOperator(report.warnings);
    dict["skipped"] = RowsByOperator(report.skipped);
    dict["wall_s"] = report.wall_s;
    dict["user_wait_s"] = report.user_wait_s;
    dict["delivered"] = report.delivered;
    dict["held_bytes"] = report.held_bytes;
    dict["peak_bytes"] = report.peak_bytes;
    dict["budget_bytes"] = report.budget_bytes;
    dict["workers"] = report.workers;
    if (report.device.has_value()) dict["device"] = DeviceDict(*report.device);
    dict["limit"] = std::string(LimitName(FindLimit(report).kind));
    dict["advice"] = MessageLines(Advice(report));
    return dict;
  }

 private:
  void CloseWithin(std::chrono::nanoseconds patience) {
    const Clock::time_point until = Clock::now() + patience;
    Pipeline::Closed closed = Pipeline::Closed::kFromWithin;
    {
      const Unlocked unlocked;
      iteration_->Stop();
      objects_->EndEarly();
      closed = iteration_->Close(patience);
      if (closed == Pipeline::Closed::kEntirely) WaitUntilLeft(until);
    }
    closed_ = closed;
    if (closed == Pipeline::Closed::kTooLate && !std::exchange(named_, true)) WarnOf(objects_->calls());
    objects_->Clear();
  }

  // Lets a thread that waited for a row return to Python, because it must not be in C++ at the interpreter's end.
  void WaitUntilLeft(Clock::time_point until) const {
    while (user_.load() != std::thread::id() && user_.load() != std::this_thread::get_id() && Clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void CheckProcess() const {
    if (!inherited()) return;
    Raise(UnsupportedError(
        "this iterator was made before a fork, and its threads stayed in the parent; make a new iterator in the child, "
        "or start the child with the 'spawn' method"));
  }

  Pipeline::Outcome WaitOnce() {
    absl::StatusOr<Pipeline::Outcome> outcome;
    HandledSignals signals;
    {
      const Unlocked unlocked;
      const Interrupt interrupt([&signals] { return signals.Came(); }, kLongTask);
      outcome = iteration_->Fetch(kSlice, row_);
      // What the task left may not be whole.
      if (signals.raised()) iteration_->Stop();
    }
    failed_ = !outcome.ok() || signals.raised();
    signals.Raise();
    if (outcome.ok() && *outcome == Pipeline::Outcome::kRow) first_axis_ = RowsIn(row_.columns);
    return ValueOrRaise(std::move(outcome), &objects_->raised());
  }

  // Of a batch; the first axis of ragged values counts something else.
  uint64_t RowsIn(const std::vector<Tensor>& columns) const {
    if (splits_ >= 0 && columns[splits_].elements() > 0) return static_cast<uint64_t>(columns[splits_].elements() - 1);
    for (const Tensor& column : columns) {
      if (!column.shape().empty()) return static_cast<uint64_t>(column.shape()[0]);
    }
    return 1;
  }

  // Where its rows begin is known on the device alone.
  static void RefuseLists(const ir::proto::Graph& graph, const std::string& device) {
    const absl::StatusOr<ir::Schema> schema = ir::Validate(graph).ok() ? ir::ResultSchema(graph) : ir::Schema();
    if (!schema.ok()) return;
    for (const DeliveredColumn& column : DeliveredColumns(*schema)) {
      if (column.splits < 0) continue;
      Raise(UnsupportedError("column \"", schema->columns[column.column].name, "\" is a list of rows, which ", device,
                             " does not take: write batch(ragged=\"splits\"), whose values and splits become two "
                             "tensors there, or \"pad\""));
    }
  }

  py::object ObjectOf(const Tensor& tensor) const {
    return lends_ ? DLPackOf(tensor, bytes_, row_.batch) : ArrayOf(tensor, Access::kWhereAlone, bytes_);
  }

  // Its rows are views of one array, which may be written to where that one may.
  py::object RowList(const Tensor& values, const Tensor& splits) const {
    if (lends_) return ListOf(values, splits, [this](const Tensor& row) { return ObjectOf(row); });
    const py::object whole = ObjectOf(values);
    int64_t begin = 0;
    return ListOf(values, splits, [&](const Tensor& row) -> py::object {
      const int64_t end = begin + row.dim(0);
      return whole[py::slice(std::exchange(begin, end), end, 1)];
    });
  }

  // Continues with the first column that is not converted yet.
  py::object WaitingRow() {
    if (shares_ && !row_columns_) {
      const py::object batch = SharedBatchOf(iteration_->schema(), row_.columns);
      row_.columns.clear();
      row_columns_ = batch;
    }
    if (shares_) return row_columns_;
    if (!row_columns_) row_columns_ = py::dict();
    for (; columns_made_ < columns_.size(); ++columns_made_) {
      const DeliveredColumn& column = columns_[columns_made_];
      Tensor& tensor = row_.columns[column.column];
      if (column.splits < 0 && !on_device()) tensor = AloneInMemory(std::move(tensor));
      row_columns_[names_[columns_made_]] =
          column.splits < 0 ? ObjectOf(tensor) : RowList(tensor, row_.columns[column.splits]);
      // Leaves the array as the only owner.
      const Tensor made = std::move(tensor);
    }
    return row_columns_;
  }

  const std::shared_ptr<UserObjects> objects_;
  HostBindings bindings_;  // functions and parameters alone
  const pid_t process_;
  const Bytes bytes_;
  const bool lends_;   // through DLPack
  const bool shares_;  // through Arrow
  std::unique_ptr<DeviceIteration> iteration_;
  std::vector<DeliveredColumn> columns_;
  std::vector<py::str> names_;
  int splits_ = -1;  // a column of splits; -1: there is none
  // The fetched row, and its columns converted so far.
  DeviceRow row_;
  py::object row_columns_;
  size_t columns_made_ = 0;
  bool row_waits_ = false;
  bool at_end_ = false;
  uint64_t given_ = 0;
  // The length of the first axis of the row that waits, which is its number of rows if it is a batch; and the sum over
  // those given in all epochs.
  uint64_t first_axis_ = 0;
  uint64_t first_axes_ = 0;
  Pipeline::Closed closed_ = Pipeline::Closed::kFromWithin;
  bool named_ = false;
  std::atomic<std::thread::id> user_{};
  std::atomic<uint64_t> waiting_since_ns_{0};
  bool failed_ = false;
};

// An attribute, by a name that is interned once.
template <const char* kName>
py::object Attribute(const py::handle& object) {
  static PyObject* const name = PyUnicode_InternFromString(kName);
  PyObject* value = PyObject_GetAttr(object.ptr(), name);
  if (value == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(value);
}
constexpr char kEngine[] = "_engine";
constexpr char kPlain[] = "_plain";

py::object NextOrFail(const py::object& iterator, const py::object& engine, BoundIteration& iteration) {
  try {
    return iteration.Next();
  } catch (py::error_already_set& error) {
    const bool open = Attribute<kEngine>(iterator).is(engine);
    if (iteration.failed() && open) iterator.attr("_fail")(engine, error.value());
    throw;
  }
}

// Iterator.__next__. Not written in Python, where Ctrl-C could take the row between two instructions on its way to the
// loop. Calls Python code if there is more to do than to return the row, which stays fetched meanwhile.
py::object GiveNext(const py::object& iterator) {
  const py::object engine = Attribute<kEngine>(iterator);
  if (engine.is_none()) return iterator.attr("_raise_why_over")();
  auto& iteration = engine.cast<BoundIteration&>();
  const BoundIteration::Turn turn(iteration);
  const bool plain = Attribute<kPlain>(iterator).ptr() == Py_True;
  if (!plain) iterator.attr("_ask")(engine);
  py::object row = NextOrFail(iterator, engine, iteration);
  if (row.is_none()) {
    iterator.attr("_end")(engine);
    throw py::stop_iteration();
  }
  if (!plain) row = iterator.attr("_finish")(engine, row);
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  iteration.Given();
  return row;
}

py::str Explain(const BoundGraph& graph, const py::dict& options, const py::dict& references, bool passes) {
  const auto objects = std::make_shared<UserObjects>();
  IterateOptions given = OptionsOf(options);
  given.limits = graph.limits;
  given.bindings = BindingsOf(references, false, objects);
  std::vector<DeviceTail> tails;
  if (MayPlaceSteps(given)) {
    given.reduce = [&](const ir::proto::Graph& each) { return PlaceSteps(each, given.limits, tails); };
  }
  std::string text =
      ValueOrRaise(RunInterruptible([&] { return ExplainGraph(graph.graph, given, passes); }), &objects->raised());
  if (!tails.empty()) Append(text, "  after the copy it does ", TailsText(tails), ", if it has kernels\n");
  return MessageText(text);
}

// The number of rows of the options' rank; None if not known, -1 if endless.
py::object Count(const BoundGraph& graph, const py::dict& options, const py::dict& references) {
  const auto objects = std::make_shared<UserObjects>();
  IterateOptions given = OptionsOf(options);
  given.bindings = BindingsOf(references, false, objects);
  const Cardinality rows =
      ValueOrRaise(RunInterruptible([&] { return CountRows(graph.graph, given); }), &objects->raised());
  if (rows.kind == Cardinality::Kind::kEndless) return py::int_(-1);
  if (!rows.known()) return py::none();
  return py::int_(rows.rows);
}

// Null during its constructor, in which other threads may run the garbage collector.
BoundIteration* IterationIn(PyObject* self) {
  const auto held = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  return held.holder_constructed() ? held.value_ptr<BoundIteration>() : nullptr;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const BoundIteration* iteration = IterationIn(self);
  return iteration == nullptr ? 0 : iteration->Traverse(visit, arg);
}

int LetGo(PyObject* self) {
  if (BoundIteration* iteration = IterationIn(self)) iteration->LetGo();
  return 0;
}

void TakePartInCollection(PyHeapTypeObject* type) {
  type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = Traverse;
  type->ht_type.tp_clear = LetGo;
}

void StopThreads(double patience_s) {
  if (!LostInFork()) {
    const Unlocked unlocked;
    WaitForOrphans(Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(patience_s * 1e9)));
    WorkerPool::StopShared();
  }
  ReleaseNow();
}

}  // namespace

void BindIterator(py::module_& module) {
  py::class_<CacheShelf, std::shared_ptr<CacheShelf>>(module, "CacheShelf").def(py::init<>());
  py::class_<BoundIteration>(module, "Iteration", py::custom_type_setup(&TakePartInCollection))
      .def(py::init<const BoundGraph&, const py::dict&, const py::dict&>(), py::arg("graph"), py::arg("options"),
           py::arg("references"))
      .def("stop", &BoundIteration::Stop)
      .def("close", &BoundIteration::Close, py::arg("patience") = std::chrono::duration<double>(kPatience).count())
      .def("ask", &BoundIteration::Ask)
      .def("reads", &BoundIteration::Reads)
      .def("set_workers", &BoundIteration::SetWorkers)
      .def("reset_workers", &BoundIteration::ResetWorkers)
      .def("outdated", &BoundIteration::Outdated)
      .def("state", &BoundIteration::State)
      .def("explain", &BoundIteration::Explain)
      .def("describe_stall", &BoundIteration::DescribeStall)
      .def("report", &BoundIteration::Report)
      .def("profile", &BoundIteration::Profile, py::arg("joined") = false)
      .def("schema", &BoundIteration::schema)
      .def_property_readonly("waiting_since_ns", &BoundIteration::waiting_since_ns)
      .def_property_readonly("inherited", &BoundIteration::inherited)
      .def_property_readonly("failed", &BoundIteration::failed)
      .def_property_readonly("on_device", &BoundIteration::on_device)
      .def_property_readonly("epoch", &BoundIteration::epoch)
      .def_property_readonly("delivered", &BoundIteration::delivered)
      .def_property_readonly("given", &BoundIteration::given);
  module.attr("give_next") = py::cpp_function(&GiveNext, py::name("__next__"), py::is_method(module));
  module.def("explain", &Explain, py::arg("graph"), py::arg("options"), py::arg("references"), py::arg("passes"));
  module.def("count", &Count, py::arg("graph"), py::arg("options"), py::arg("references"));
  module.def("device_name", [](const std::string& name) { return ValueOrRaise(ParseDeviceName(name)).text(); });
  module.def("stop_threads", &StopThreads, py::arg("patience"));
}

}  // namespace headrace::python

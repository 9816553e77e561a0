#include "python/binding/module/iterator_binding.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/fork_watch.h"
#include "core/interrupt.h"
#include "engine/device/device_name.h"
#include "engine/exec/worker_pool.h"
#include "engine/front/run_options.h"
#include "engine/front/run_report.h"
#include "engine/front/session.h"
#include "io/files/far_listings.h"
#include "ir/graph.pb.h"
#include "ops/rows/separate_row.h"
#include "python/binding/host/orphans.h"
#include "python/binding/host/user_objects.h"
#include "python/binding/host/user_parameter.h"
#include "python/binding/module/graph_binding.h"
#include "python/binding/module/host_binding.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/handled_signals.h"
#include "python/binding/values/interpreter_end.h"
#include "python/binding/values/row_list.h"
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

// Options that are objects of Python, or say what rows are made to, are not of the run's.
bool IsOfTheFront(std::string_view name) {
  constexpr std::string_view kNames[] = {"choose_cache_point", "shelf",  "view_bytes",    "lend", "arrow", "storage",
                                         "listings",           "ranges", "rows_elsewhere"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Those of the context, under those that are given; null: there are none.
std::shared_ptr<const StorageTable> StorageOf(const py::dict& given) {
  std::shared_ptr<const StorageTable> storage = StorageOfContext();
  const std::shared_ptr<StorageTable> over = Option<std::shared_ptr<StorageTable>>(given, "storage", nullptr);
  if (over == nullptr) return storage;
  if (storage == nullptr) return over;
  return std::make_shared<const StorageTable>(storage->With(*over));
}

RunOptionValue OptionValueOf(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value)) return value.cast<std::string>();
  if (PyIndex_Check(value.ptr()) == 0) return value.cast<std::vector<std::string>>();
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(py::int_(value.cast<py::object>()).ptr(), &overflow);
  if (overflow > 0) return value.cast<uint64_t>();
  return number;
}

// None stands for an option that is not given.
IterateOptions OptionsOf(const py::dict& given) {
  std::vector<std::string> names;
  std::vector<RunOptionValue> values;
  for (const auto& [name, value] : given) {
    std::string text = name.cast<std::string>();
    if (value.is_none() || IsOfTheFront(text)) continue;
    names.push_back(std::move(text));
    values.push_back(OptionValueOf(value));
  }
  std::vector<RunOption> read;
  for (size_t i = 0; i < names.size(); ++i) read.push_back({names[i], std::move(values[i])});
  IterateOptions options = ValueOrRaise(RunOptionsOf(read));
  options.choose_cache_point = ChoiceOf(given);
  options.shelf = Option<std::shared_ptr<CacheShelf>>(given, "shelf", nullptr);
  options.storage = StorageOf(given);
  options.listings = Option<std::shared_ptr<FarListings>>(given, "listings", nullptr);
  options.ranges = Option(given, "ranges", false);
  options.rows_elsewhere = Option(given, "rows_elsewhere", std::string());
  return options;
}

py::object ObjectOf(const ReportValue& value);

py::dict DictOf(const std::vector<ReportField>& fields) {
  py::dict dict;
  for (const ReportField& field : fields) dict[py::str(field.name.data(), field.name.size())] = ObjectOf(field.value);
  return dict;
}

// Makes what Python has for a value of a report.
struct ToPython {
  py::object operator()(bool value) const { return py::bool_(value); }
  py::object operator()(int64_t value) const { return py::int_(value); }
  py::object operator()(uint64_t value) const { return py::int_(value); }
  py::object operator()(double value) const { return py::float_(value); }
  py::object operator()(const std::string& text) const { return MessageLine(text); }
  py::object operator()(const std::vector<ReportField>& fields) const { return DictOf(fields); }
  py::object operator()(const std::vector<ReportValue>& values) const {
    py::list list;
    for (const ReportValue& value : values) list.append(ObjectOf(value));
    return list;
  }
  py::object operator()(const ReportTuple& given) const { return py::tuple((*this)(given.values)); }
};

py::object ObjectOf(const ReportValue& value) { return std::visit(ToPython(), value.value); }

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
  if (left_behind.empty() || InterpreterEnds()) return;
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
        bytes_(Option(options, "view_bytes", false) ? Bytes::kViewed : Bytes::kCopied),
        lends_(Option(options, "lend", false)),
        shares_(Option(options, "arrow", false)) {
    ReleaseNow();
    if (graph.graph.has_skip_failed()) objects_->raised().KeepLatest();
    IterateOptions given = OptionsOf(options);
    const py::object storage = StorageObject(given.storage);
    objects_->set_storage(storage);
    // Of what is called on this thread, such as what packs functions for worker processes.
    const StorageInContext context(storage);
    given.limits = graph.limits;
    given.bindings = BindingsOf(references, true, objects_);
    bindings_.functions = given.bindings.functions;
    RefuseDevice(given);
    session_ = ValueOrRaise(RunInterruptible([&] { return Session::Start(graph.graph, std::move(given)); }),
                            &objects_->raised());
    const ir::Schema schema = session_->schema();
    for (const ir::DeliveredColumn& column : session_->columns()) {
      names_.push_back(py::str(schema.columns[column.column].name));
    }
  }

  ~BoundIteration() {
    if (session_ == nullptr || session_->inherited()) return;
    if (session_->closed() != Session::Closed::kTooLate) CloseWithin(kPatience);
    const Session::Closed closed = session_->closed();
    if (closed == Session::Closed::kTooLate) LeaveBehind(std::move(session_));
    if (closed == Session::Closed::kFromWithin) EndOrphan(std::move(session_));
    {
      const Unlocked unlocked;
      session_.reset();
    }
    ReleaseNow();
  }
  BoundIteration(const BoundIteration&) = delete;

  Session& session() { return *session_; }

  // The fetched row, or the next one, as a dict; None at an epoch's end, until the next epoch is requested. The row
  // stays fetched until Given is called: an exception on its way to the user does not lose it.
  py::object Next() {
    CheckProcess();
    ReleaseNow();
    Session::Outcome outcome = WaitOnce();
    while (outcome == Session::Outcome::kNothingYet) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      outcome = WaitOnce();
    }
    if (outcome == Session::Outcome::kEpochEnd) return py::none();
    try {
      return WaitingRow();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_MemoryError)) throw;
    }
    Raise(ResourceError("Python has no memory for the next row, which waits until there is"));
  }

  void Given() {
    if (!session_->Given()) return;
    row_columns_ = py::object();
    columns_made_ = 0;
  }

  // Tells it to end, without waiting for its threads; idle worker processes are gone when it returns.
  void Stop() {
    if (inherited()) return;
    const Unlocked unlocked;
    session_->Stop();
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
    const Unlocked unlocked;
    session_->Ask(epoch);
  }

  // Returns what to ask for once the range before has ended.
  uint64_t AddRange(uint64_t first, uint64_t end) {
    CheckProcess();
    absl::StatusOr<uint64_t> number;
    {
      const Unlocked unlocked;
      number = session_->AddRange({first, end});
    }
    return ValueOrRaise(std::move(number));
  }

  // The parameters read in an epoch: [(parameter, first, last)], in the numbers of the operators that read them.
  py::list Reads(uint64_t epoch) const { return ReadInEpoch(bindings_, epoch); }

  void SetWorkers(const std::string& op, int workers) {
    CheckProcess();
    absl::Status set;
    {
      const Unlocked unlocked;
      set = session_->SetWorkers(op, workers);
    }
    RaiseIfError(set);
  }
  void ResetWorkers() {
    CheckProcess();
    const Unlocked unlocked;
    session_->ResetWorkers();
  }

  bool Outdated() const {
    CheckProcess();
    return RunInterruptible([this] { return session_->Outdated(); });
  }

  py::bytes State() {
    CheckProcess();
    return py::bytes(ValueOrRaise(session_->State(), &objects_->raised()));
  }
  // Made by the process from which this one was forked.
  bool inherited() const { return session_->inherited(); }
  // On the clock of time.monotonic().
  uint64_t waiting_since_ns() const { return session_->waiting_since_ns(); }
  bool failed() const { return session_->failed(); }
  bool on_device() const { return session_->on_device(); }
  uint64_t epoch() const { return session_->epoch(); }
  uint64_t delivered() const {
    CheckProcess();
    return session_->delivered();
  }
  uint64_t given() const { return session_->given(); }
  uint64_t seed() const {
    CheckProcess();
    return session_->seed();
  }
  std::string even() const { return session_->even(); }
  uint64_t batches() const { return session_->batches(); }
  // Its graph, [(operator, hash)], [(source, count, hash)].
  py::tuple Identity() const {
    CheckProcess();
    const RunIdentity identity = session_->identity();
    py::list operators;
    for (const auto& [name, hash] : identity.operators) operators.append(py::make_tuple(MessageText(name), hash));
    py::list sources;
    for (const Fingerprint& each : identity.sources) {
      sources.append(py::make_tuple(MessageText(each.source), each.count, each.hash));
    }
    return py::make_tuple(py::str(identity.graph), operators, sources);
  }
  py::list schema() const { return SchemaList(session_->schema()); }

  py::str Explain() const {
    CheckProcess();
    std::string text;
    {
      const Unlocked unlocked;
      text = session_->Explain();
    }
    return MessageText(text);
  }

  // The trace and the page, for a closed iteration. `joined`: what it gave are batches of rows.
  py::tuple Profile(bool joined) const {
    CheckProcess();
    std::pair<std::string, std::string> files;
    {
      const Unlocked unlocked;
      files = session_->Profile(joined);
    }
    return py::make_tuple(MessageText(files.first), MessageText(files.second));
  }

  py::list DescribeStall() const {
    CheckProcess();
    std::vector<std::string> lines;
    {
      const Unlocked unlocked;
      lines = session_->DescribeStall();
    }
    return MessageLines(lines);
  }

  py::dict Report() const {
    CheckProcess();
    std::vector<ReportField> fields;
    {
      const Unlocked unlocked;
      fields = ReportFields(session_->report());
    }
    return DictOf(fields);
  }

 private:
  void CheckProcess() const { RaiseIfError(session_->CheckProcess()); }

  // Of those that it would send to, what Python has no arrays for.
  void RefuseDevice(const IterateOptions& given) const {
    const bool sends = given.device.has_value() && given.device->depth > 0;
    if (!sends) return;
    if (given.device->sends_from == MemoryKind::kPageLocked && !lends_) {
      Raise(UnsupportedError("NumPy has no arrays on ", given.device->name,
                             ": iterate with as_=\"torch\", or as_=\"dlpack\" for any library's from_dlpack"));
    }
    if (shares_) {
      Raise(UnsupportedError("as_=\"arrow\" gives batches in host memory; leave device out: ", given.device->name));
    }
  }

  void CloseWithin(std::chrono::nanoseconds patience) {
    Session::Closed closed = Session::Closed::kFromWithin;
    {
      const Unlocked unlocked;
      session_->Stop();
      objects_->EndEarly();
      closed = session_->Close(patience);
    }
    if (closed == Session::Closed::kTooLate && !std::exchange(named_, true)) WarnOf(objects_->calls());
    objects_->Clear();
  }

  Session::Outcome WaitOnce() {
    absl::StatusOr<Session::Outcome> outcome;
    HandledSignals signals;
    {
      const Unlocked unlocked;
      const Interrupt interrupt([&signals] { return signals.Came(); }, kLongTask);
      outcome = session_->Fetch(kSlice);
      // What the task left may not be whole.
      if (signals.raised()) session_->Fail();
    }
    signals.Raise();
    return ValueOrRaise(std::move(outcome), &objects_->raised());
  }

  py::object ObjectOf(const Tensor& tensor) const {
    return lends_ ? DLPackOf(tensor, bytes_, session_->row().batch) : ArrayOf(tensor, Access::kWhereAlone, bytes_);
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
    std::vector<Tensor>& tensors = session_->row().columns;
    if (shares_ && !row_columns_) {
      const py::object batch = SharedBatchOf(session_->schema(), tensors);
      tensors.clear();
      row_columns_ = batch;
    }
    if (shares_) return row_columns_;
    if (!row_columns_) row_columns_ = py::dict();
    const std::vector<ir::DeliveredColumn>& columns = session_->columns();
    for (; columns_made_ < columns.size(); ++columns_made_) {
      const ir::DeliveredColumn& column = columns[columns_made_];
      Tensor& tensor = tensors[column.column];
      if (column.splits < 0 && !on_device()) tensor = AloneInMemory(std::move(tensor));
      row_columns_[names_[columns_made_]] =
          column.splits < 0 ? ObjectOf(tensor) : RowList(tensor, tensors[static_cast<size_t>(column.splits)]);
      // Leaves the array as the only owner.
      const Tensor made = std::move(tensor);
    }
    return row_columns_;
  }

  const std::shared_ptr<UserObjects> objects_;
  HostBindings bindings_;  // functions and parameters alone
  const Bytes bytes_;
  const bool lends_;   // through DLPack
  const bool shares_;  // through Arrow
  std::unique_ptr<Session> session_;
  std::vector<py::str> names_;
  // The columns of the row that waits, converted so far.
  py::object row_columns_;
  size_t columns_made_ = 0;
  bool named_ = false;
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
  std::optional<Session::Turn> turn(std::in_place, iteration.session());
  RaiseIfError(turn->status());
  const bool plain = Attribute<kPlain>(iterator).ptr() == Py_True;
  if (!plain) iterator.attr("_ask")(engine);
  py::object row = NextOrFail(iterator, engine, iteration);
  if (row.is_none()) {
    const py::object last = iterator.attr("_end")(engine);
    // Another thread may take the engine from where this leaves it.
    turn.reset();
    if (!last.is_none()) last(engine);
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
  const std::string text = ValueOrRaise(
      RunInterruptible([&] { return ExplainRequest(graph.graph, std::move(given), passes); }), &objects->raised());
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
  py::class_<FarListings, std::shared_ptr<FarListings>>(module, "FarListings").def(py::init<>());
  py::class_<BoundIteration>(module, "Iteration", py::custom_type_setup(&TakePartInCollection))
      .def(py::init<const BoundGraph&, const py::dict&, const py::dict&>(), py::arg("graph"), py::arg("options"),
           py::arg("references"))
      .def("stop", &BoundIteration::Stop)
      .def("close", &BoundIteration::Close, py::arg("patience") = std::chrono::duration<double>(kPatience).count())
      .def("ask", &BoundIteration::Ask)
      .def("add_range", &BoundIteration::AddRange)
      .def("reads", &BoundIteration::Reads)
      .def("set_workers", &BoundIteration::SetWorkers)
      .def("reset_workers", &BoundIteration::ResetWorkers)
      .def("outdated", &BoundIteration::Outdated)
      .def("state", &BoundIteration::State)
      .def("explain", &BoundIteration::Explain)
      .def("describe_stall", &BoundIteration::DescribeStall)
      .def("report", &BoundIteration::Report)
      .def("profile", &BoundIteration::Profile, py::arg("joined") = false)
      .def("identity", &BoundIteration::Identity)
      .def("schema", &BoundIteration::schema)
      .def_property_readonly("waiting_since_ns", &BoundIteration::waiting_since_ns)
      .def_property_readonly("inherited", &BoundIteration::inherited)
      .def_property_readonly("failed", &BoundIteration::failed)
      .def_property_readonly("on_device", &BoundIteration::on_device)
      .def_property_readonly("epoch", &BoundIteration::epoch)
      .def_property_readonly("delivered", &BoundIteration::delivered)
      .def_property_readonly("given", &BoundIteration::given)
      .def_property_readonly("seed", &BoundIteration::seed)
      .def_property_readonly("even", &BoundIteration::even)
      .def_property_readonly("batches", &BoundIteration::batches);
  module.attr("give_next") = py::cpp_function(&GiveNext, py::name("__next__"), py::is_method(module));
  module.def("explain", &Explain, py::arg("graph"), py::arg("options"), py::arg("references"), py::arg("passes"));
  module.def("count", &Count, py::arg("graph"), py::arg("options"), py::arg("references"));
  module.def("device_name", [](const std::string& name) { return ValueOrRaise(ParseDeviceName(name)).text(); });
  module.def("stop_threads", &StopThreads, py::arg("patience"));
}

}  // namespace headrace::python

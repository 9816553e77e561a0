#include "python/binding/process/worker_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <pybind11/stl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/error.h"
#include "core/fork_watch.h"
#include "core/philox.h"
#include "core/row_id.h"
#include "python/binding/host/dataset_rows.h"
#include "python/binding/host/user_function.h"
#include "python/binding/host/user_objects.h"
#include "python/binding/process/exchange.h"
#include "python/binding/process/wire.h"
#include "python/binding/process/worker_process.h"
#include "python/binding/values/thread_state.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// Ends this process and all that it has started, which are in a group of their own (worker_process.cc).
[[noreturn]] void EndGroup() {
  if (getpgrp() == getpid()) kill(0, SIGKILL);
  _exit(0);
}

// The descriptors that WorkerProcess::Start gives.
constexpr int kSocket = 3;
constexpr int kCalls = 4;
constexpr int kResults = 5;

// The same open file, for one code that this process runs.
int Again(int descriptor) {
  const int again = fcntl(descriptor, F_DUPFD_CLOEXEC, kResults);
  // The parent sees a dead process, and starts another.
  if (again < 0) _exit(1);
  return again;
}

// Its end of what it shares with the parent.
class Parent {
 public:
  Parent() : objects_(std::make_shared<UserObjects>()), calls_(Again(kCalls)), results_(Again(kResults)) {
    // A child that was forked while this process was made ready came back.
    if (LostInFork()) _exit(1);
  }

  const std::shared_ptr<UserObjects>& objects() const { return objects_; }

  // What gives the result of a call: an error, and what there is of a result all the same.
  using GiveResult = absl::FunctionRef<void(const absl::Status& error, absl::FunctionRef<void(WireWriter&)> put)>;

  // Says that this process is ready, or why not.
  void Begin(const absl::Status& status) {
    WireWriter writer(results_);
    PutResult(writer, status, [](WireWriter&) {});
    Answer({writer.bytes(), 1});
  }

  // Waits for an exchange and makes its calls, but begins none once they have taken long; what is left comes again.
  // `make` gets the reader, which stands at a call, and gives its result. False: other code came, as `other_code`.
  bool Serve(absl::FunctionRef<void(WireReader& reader, GiveResult give)> make) {
    const size_t bytes = Wait();
    if (other_code_ >= 0) return false;
    const auto begin = std::chrono::steady_clock::now();
    WireWriter writer(results_);
    uint64_t made = 0;
    const absl::Status shown = calls_.Show(bytes);
    if (shown.ok()) {
      WireReader reader(calls_, bytes, Exchange::kBytes);
      Exchange& exchange = Exchange::In(calls_);
      do {
        if (!MakeCall(writer, reader, made == 0, make)) break;
        exchange.SetMade(++made);
      } while (reader.status().ok() && made < exchange.calls && writer.bytes() < kLongBytes &&
               std::chrono::steady_clock::now() - begin < kLong);
    } else {
      PutResult(writer, shown, [](WireWriter& result) { result.Number(0); });
      made = 1;
    }
    LetGo();
    Answer({writer.bytes(), made});
    return true;
  }

  // The descriptor of the memory with it.
  int other_code() const { return other_code_; }

 private:
  // Calls of an exchange that have taken so long, or gave so much, are answered at once.
  static constexpr auto kLong = std::chrono::milliseconds(2);
  static constexpr size_t kLongBytes = size_t{1} << 20;

  // Waits for an exchange, and returns how many bytes it takes, or for other code; ends this process if there will be
  // neither.
  size_t Wait() {
    uint64_t size = 0;
    iovec part = {&size, sizeof(size)};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    {
      const Unlocked unlocked;
      do {
        got = recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC);
      } while (got < 0 && errno == EINTR);
    }
    if (got != sizeof(size)) EndGroup();
    if (size != Exchange::kOtherCode) return size;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    // There was no room for its descriptor here.
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) _exit(1);
    std::memcpy(&other_code_, CMSG_DATA(header), sizeof(other_code_));
    return 0;
  }

  // False, with nothing changed: there is no memory for the result beside those before; the call has to come again.
  bool MakeCall(WireWriter& writer, WireReader& reader, bool first,
                absl::FunctionRef<void(WireReader& reader, GiveResult give)> make) {
    const size_t before = writer.bytes();
    make(reader, [&](const absl::Status& error, absl::FunctionRef<void(WireWriter&)> put) {
      PutResult(writer, error, put);
      if (writer.status().ok()) return;
      const absl::Status lack = writer.status();
      writer.Rewind(before);
      if (first) PutResult(writer, lack, [](WireWriter& result) { result.Number(0); });
    });
    return writer.bytes() > before;
  }

  void PutResult(WireWriter& writer, const absl::Status& error, absl::FunctionRef<void(WireWriter&)> put) {
    PutError(writer, error);
    put(writer);
  }

  // After the calls: the parent writes the next ones to the same memory. What the user's code has kept of them stays as
  // it is.
  void LetGo() {
    if (calls_.mapping() == nullptr || calls_.mapping().use_count() == 1) return;
    const absl::Status kept = calls_.mapping()->MakePrivate();
    // The parent sees a dead process, and starts another.
    if (!kept.ok()) _exit(1);
    calls_.Forget();
  }

  void Answer(const Answered& answer) {
    results_.Written(answer.bytes);
    const Unlocked unlocked;
    while (send(kSocket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
  }

  void PutError(WireWriter& writer, const absl::Status& status) {
    writer.Put(status);
    if (status.ok()) return;
    const py::object exception = objects_->raised().Take(GetErrorField(status, ErrorField::kFunction));
    const py::object pickled = py::module_::import("headrace._workers.processes").attr("pickled")(exception);
    writer.Text(std::string(py::cast<py::bytes>(pickled)));
  }

  const std::shared_ptr<UserObjects> objects_;
  SharedMemory calls_;
  SharedMemory results_;
  int other_code_ = -1;
};

void PutTensors(WireWriter& writer, const std::vector<Tensor>& tensors) {
  writer.Number(tensors.size());
  for (const Tensor& tensor : tensors) writer.Put(tensor);
}

// Sets Python's global generators for one row, by a function of headrace.worker; None: they are left alone.
class GlobalSeeds {
 public:
  explicit GlobalSeeds(py::object seed) : seed_(std::move(seed)) {}
  void Set(uint64_t key, uint64_t row) const {
    if (!seed_.is_none()) seed_(MixKey(key, row));
  }

 private:
  const py::object seed_;
};

struct ServedFunction {
  std::shared_ptr<HostFunction> function;
  GlobalSeeds seeds;
};

absl::StatusOr<std::vector<Tensor>> CallFunction(const std::vector<ServedFunction>& functions, WireReader& reader) {
  const uint64_t number = reader.Number();
  const uint64_t key = reader.Number();
  const uint64_t row = reader.Number();
  std::vector<Tensor> inputs(reader.Number());
  for (Tensor& input : inputs) input = reader.View();
  HEADRACE_RETURN_IF_ERROR(reader.status());
  const ServedFunction& called = functions.at(number);
  called.seeds.Set(key, row);
  RowRandom random(key, row);
  OutputAllocator output;
  return called.function->Call(inputs, &random, output);
}

// `given`: callables, each with whether it takes `rng`, and what seeds for it.
int ServeFunctions(const std::vector<std::tuple<py::object, bool, py::object>>& given) {
  Parent parent;
  std::vector<ServedFunction> functions;
  for (const auto& [callable, wants_rng, seed] : given) {
    functions.push_back({UserFunction(callable, wants_rng, false, {}, parent.objects()), GlobalSeeds(seed)});
  }
  parent.Begin(absl::OkStatus());
  while (parent.Serve([&](WireReader& reader, Parent::GiveResult give) {
    const absl::StatusOr<std::vector<Tensor>> results = CallFunction(functions, reader);
    give(results.status(),
         [&](WireWriter& writer) { PutTensors(writer, results.ok() ? *results : std::vector<Tensor>()); });
  })) {
  }
  return parent.other_code();
}

absl::Status ReadRows(HostRows& source, const GlobalSeeds& seeds, WireReader& reader,
                      std::vector<std::vector<Tensor>>& rows) {
  const uint64_t key = reader.Number();
  std::vector<uint64_t> indices(reader.Number());
  for (uint64_t& index : indices) index = reader.Number();
  HEADRACE_RETURN_IF_ERROR(reader.status());
  if (source.in_runs()) {
    seeds.Set(key, indices[0]);
    return source.Read(key, indices, rows);
  }
  for (const uint64_t index : indices) {
    seeds.Set(key, index);
    HEADRACE_RETURN_IF_ERROR(source.Read(key, {&index, 1}, rows));
  }
  return absl::OkStatus();
}

int ServeRows(const py::object& dataset, const std::vector<std::string>& columns, const py::object& seed) {
  Parent parent;
  const std::shared_ptr<HostRows> source = DatasetRows(dataset, columns, parent.objects());
  const GlobalSeeds seeds(seed);
  parent.Begin(absl::OkStatus());
  while (parent.Serve([&](WireReader& reader, Parent::GiveResult give) {
    std::vector<std::vector<Tensor>> rows;
    const absl::Status status = ReadRows(*source, seeds, reader, rows);
    give(status, [&](WireWriter& writer) {
      writer.Number(rows.size());
      for (const std::vector<Tensor>& row : rows) PutTensors(writer, row);
    });
  })) {
  }
  return parent.other_code();
}

// Says that the process could not begin.
void ServeFailure(const py::object& exception, const std::string& name) {
  Parent parent;
  const absl::Status status = parent.objects()->Call(name, [&]() -> absl::Status {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    throw py::error_already_set();
  });
  parent.Begin(status);
}

// Ends this process as soon as process `parent`, or its end of the socket, is gone; and one that is forked from it when
// it comes back from the user's code.
void EndWithParent(int parent) {
  WatchForks();
  ServeEngine();
  const int watch = WatchProcess(parent);
  if (getppid() != parent) EndGroup();
  std::thread([watch] {
    std::array<pollfd, 2> waited = {pollfd{kSocket, 0, 0}, pollfd{watch, POLLIN, 0}};
    while (poll(waited.data(), watch < 0 ? 1 : 2, -1) < 0 && errno == EINTR) continue;
    EndGroup();
  }).detach();
}

}  // namespace

void BindWorkerLoop(py::module_& module) {
  module.def("serve_functions", &ServeFunctions, py::arg("functions"));
  module.def("serve_rows", &ServeRows, py::arg("dataset"), py::arg("columns"), py::arg("seed"));
  module.def("serve_failure", &ServeFailure, py::arg("exception"), py::arg("name"));
  module.def("end_with_parent", &EndWithParent, py::arg("parent"));
}

}  // namespace headrace::python

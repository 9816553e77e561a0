#include "python/headrace/process_pool.h"

#include <pybind11/stl.h>

#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/cord.h"
#include "core/error.h"
#include "core/stop_signal.h"
#include "python/headrace/called.h"
#include "python/headrace/unlocked.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// A row is made again twice, and a process started again.
constexpr int kMostDeaths = 3;

// "a; b"
void AddDeath(std::string& deaths, const std::string& death) { Append(deaths, deaths.empty() ? "" : "; ", death); }

}  // namespace

ProcessPool::ProcessPool(std::string name, const py::object& pool, bool packs, std::shared_ptr<UserObjects> objects)
    : name_(std::move(name)), objects_(std::move(objects)), processes_(pool.attr("processes").cast<size_t>()) {
  if (!packs) return;
  const py::object packed = Called(pool.attr("packed"), py::tuple());
  std::tie(command_, code_) = packed.cast<std::pair<std::vector<std::string>, int>>();
}

ProcessPool::~ProcessPool() {
  if (getpid() != owner_) {
    // A fork: the processes belong to the parent.
    for (Slot& slot : processes_) slot.process.release();
    return;
  }
  processes_.clear();
  if (code_ >= 0) close(code_);
}

void ProcessPool::EndNow() {
  if (getpid() != owner_) return;
  std::vector<std::unique_ptr<WorkerProcess>> idle;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (Slot& slot : processes_) {
      if (slot.process != nullptr) slot.process->Kill();
      // The caller of the others takes them out.
      if (!slot.taken) idle.push_back(std::move(slot.process));
    }
  }
  changed_.notify_all();
}

absl::StatusOr<size_t> ProcessPool::TakeSlot() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (closed_) return ObjectsReleased(name_);
    std::optional<size_t> found;
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i].taken) continue;
      // One that runs rather than one to start.
      if (!found.has_value() || (processes_[*found].process == nullptr && processes_[i].process != nullptr)) found = i;
    }
    if (found.has_value()) {
      processes_[*found].taken = true;
      return *found;
    }
    changed_.wait(lock);
  }
}

void ProcessPool::GiveBack(size_t slot) {
  std::unique_ptr<WorkerProcess> late;
  {
    const std::lock_guard lock(mutex_);
    processes_[slot].taken = false;
    if (closed_) late = std::move(processes_[slot].process);
  }
  changed_.notify_one();
}

absl::Status ProcessPool::StartIn(size_t slot) {
  std::string deaths;
  for (int death = 0; death < kMostDeaths; ++death) {
    HEADRACE_RETURN_IF_ERROR(SpawnIn(slot));
    Ended ended = Ended::kBroken;
    HEADRACE_RETURN_IF_ERROR(HearStart(*processes_[slot].process, ended));
    if (ended == Ended::kAnswered) return absl::OkStatus();
    AddDeath(deaths, Reap(slot));
    HEADRACE_RETURN_IF_ERROR(StillWanted());
  }
  return ResourceError("the worker processes of ", name_, " die before they are ready (", deaths,
                       "); what they say of it is on stderr");
}

absl::Status ProcessPool::StillWanted() {
  if (StopSignal::Raised()) return StopSignal::Error();
  const std::lock_guard lock(mutex_);
  return closed_ ? ObjectsReleased(name_) : absl::OkStatus();
}

absl::Status ProcessPool::HearStart(WorkerProcess& process, Ended& ended) {
  size_t bytes = 0;
  HEADRACE_RETURN_IF_ERROR(Hear(process, bytes, ended));
  if (ended == Ended::kDied) return absl::OkStatus();
  ended = Ended::kAnswered;
  WireReader reader(process.results(), bytes);
  return ErrorOf(reader);
}

absl::Status ProcessPool::SpawnIn(size_t slot) {
  std::vector<std::string> command = command_;
  command.push_back(std::to_string(getpid()));
  command.push_back(std::to_string(slot));
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> process, WorkerProcess::Start(command, code_));
  const std::lock_guard lock(mutex_);
  processes_[slot].process = std::move(process);
  // Was closed meanwhile.
  if (closed_) processes_[slot].process->Kill();
  return absl::OkStatus();
}

absl::Status ProcessPool::Hear(WorkerProcess& process, size_t& bytes, Ended& ended) {
  while (true) {
    HEADRACE_ASSIGN_OR_RETURN(const WorkerProcess::Heard heard, process.Receive(bytes));
    if (heard == WorkerProcess::Heard::kResult) return absl::OkStatus();
    if (heard == WorkerProcess::Heard::kEnded) {
      ended = Ended::kDied;
      return absl::OkStatus();
    }
    // Ctrl-C, where the user's own thread waits.
    const absl::Status signalled = objects_->Call(name_, []() -> absl::Status {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return absl::OkStatus();
    });
    if (signalled.ok()) continue;
    // What it gives later would be taken for the result of another call.
    process.Kill();
    return signalled;
  }
}

absl::Status ProcessPool::CallIn(size_t slot, absl::FunctionRef<void(WireWriter&)> write,
                                 absl::FunctionRef<absl::Status(WireReader&)> read, Ended& ended) {
  if (processes_[slot].process != nullptr && processes_[slot].process->Ended()) Reap(slot);
  if (processes_[slot].process == nullptr) {
    const absl::Status started = StartIn(slot);
    // Not the row's own error.
    if (!started.ok()) return BeyondRow(started);
  }
  WorkerProcess& process = *processes_[slot].process;
  WireWriter writer(process.calls());
  write(writer);
  HEADRACE_RETURN_IF_ERROR(writer.status());
  if (!process.Send(writer.bytes())) {
    ended = Ended::kGone;
    return absl::OkStatus();
  }
  size_t bytes = 0;
  HEADRACE_RETURN_IF_ERROR(Hear(process, bytes, ended));
  if (ended == Ended::kDied) return absl::OkStatus();
  process.ChargeMemory();
  WireReader reader(process.results(), bytes);
  absl::Status status = ErrorOf(reader);
  absl::Status taken = read(reader);
  HEADRACE_RETURN_IF_ERROR(reader.status());
  ended = Ended::kAnswered;
  return status.ok() ? taken : status;
}

absl::Status ProcessPool::Call(absl::FunctionRef<void(WireWriter&)> write,
                               absl::FunctionRef<absl::Status(WireReader&)> read) {
  std::optional<Unlocked> unlocked;
  if (PyGILState_Check() != 0) unlocked.emplace();
  std::string deaths;
  for (int death = 0; death < kMostDeaths;) {
    HEADRACE_ASSIGN_OR_RETURN(const size_t slot, TakeSlot());
    Ended ended = Ended::kBroken;
    absl::Status status = CallIn(slot, write, read, ended);
    const std::string how = ended == Ended::kAnswered ? std::string() : Reap(slot);
    GiveBack(slot);
    if (ended != Ended::kDied && ended != Ended::kGone) return status;
    HEADRACE_RETURN_IF_ERROR(StillWanted());
    if (ended == Ended::kGone) continue;
    AddDeath(deaths, how);
    if (++death < kMostDeaths) Warn(how);
  }
  return ResourceError(name_, ": ", kMostDeaths, " worker processes died of this row (", deaths, ")");
}

std::string ProcessPool::Reap(size_t slot) {
  std::unique_ptr<WorkerProcess> process;
  {
    const std::lock_guard lock(mutex_);
    process = std::move(processes_[slot].process);
  }
  if (process == nullptr) return "";
  const pid_t pid = process->pid();
  const std::string how = process->Reap();
  return Cat("process ", pid, " ", how);
}

void ProcessPool::Warn(const std::string& death) {
  const std::string line = Cat("headrace: worker ", death, " in ", name_, "; its row is made again by another\n");
  // Nothing depends on whether the line can be written.
  objects_
      ->Call(name_,
             [&line]() -> absl::Status {
               PySys_FormatStderr("%s", line.c_str());
               return absl::OkStatus();
             })
      .IgnoreError();
}

absl::Status ProcessPool::ErrorOf(WireReader& reader) {
  const absl::Status given = reader.Error();
  HEADRACE_RETURN_IF_ERROR(reader.status());
  if (given.ok()) return given;
  const std::string pickled(reader.Text());
  // The handle is that of the other process.
  const std::string handle = GetErrorField(given, ErrorField::kFunction);
  if (handle.empty()) return given;
  absl::Status error(given.code(), given.message());
  given.ForEachPayload([&](absl::string_view name, const absl::Cord& value) {
    if (std::string(value) != handle || name != "headrace/function") error.SetPayload(name, value);
  });
  const absl::Status kept = objects_->Call(name_, [&]() -> absl::Status {
    const py::object exception = py::module_::import("headrace.processes")
                                     .attr("exception_of")(py::bytes(pickled), std::string(given.message()));
    AddErrorField(error, ErrorField::kFunction, objects_->raised().Hold(exception));
    return absl::OkStatus();
  });
  return kept.ok() ? error : kept;
}

}  // namespace headrace::python

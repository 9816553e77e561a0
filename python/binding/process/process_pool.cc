#include "python/binding/process/process_pool.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/cord.h"
#include "core/error.h"
#include "core/printable.h"
#include "core/stop_signal.h"
#include "python/binding/process/exchange.h"
#include "python/binding/process/kept_processes.h"
#include "python/binding/values/called.h"
#include "python/binding/values/thread_state.h"
#include "python/binding/values/unlocked.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// A row is made again twice, and a process started again.
constexpr int kMostDeaths = 3;
// That a process with code of an earlier run has, in which it may hang.
constexpr std::chrono::seconds kOlderCode{10};
// Shared with a process that is kept, outside of every budget.
constexpr int64_t kMostKeptBytes = int64_t{32} << 20;
// Calls of more bytes are not put into one exchange.
constexpr size_t kExchangeBytes = size_t{256} << 10;
// Results of earlier calls are looked for first after so long; then ever less often.
constexpr int kFirstLookMs = 4;
constexpr int kLastLookMs = 256;
// The end of a pool is seen within this time by what waits for a process to load its code, and by calls.
constexpr int kStartLookMs = 20;
constexpr std::chrono::milliseconds kGrace(300);

// "a; b"
void AddDeath(std::string& deaths, const std::string& death) { Append(deaths, deaths.empty() ? "" : "; ", death); }

}  // namespace

ProcessPool::ProcessPool(std::string name, const py::object& pool, bool packs, std::shared_ptr<UserObjects> objects)
    : name_(std::move(name)), objects_(std::move(objects)), processes_(pool.attr("processes").cast<size_t>()) {
  if (!packs) return;
  // Imported here, as few pipelines need it.
  const py::object pack = py::module_::import("headrace._workers.processes").attr("packed");
  const py::object packed = Called(pack, py::make_tuple(pool.attr("code")));
  std::tie(command_.folder, command_.arguments, code_, kind_) =
      packed.cast<std::tuple<std::string, std::vector<std::string>, int, std::string>>();
}

ProcessPool::~ProcessPool() {
  if (getpid() != owner_) {
    // A fork: the processes belong to the parent.
    for (Slot& slot : processes_) slot.process.release();
    return;
  }
  for (size_t i = 0; i < processes_.size(); ++i) Leave(i, std::move(processes_[i].process));
  if (code_ >= 0) close(code_);
}

std::string ProcessPool::KeptName(size_t slot) const { return Cat(slot, " ", kind_); }

void ProcessPool::Leave(size_t slot, std::unique_ptr<WorkerProcess> process) {
  if (process == nullptr || process->Ended() || process->HasChildren()) return;
  if (process->SharedBytes() > kMostKeptBytes) return;
  KeptProcesses::OfProgram().Keep(KeptName(slot), std::move(process));
}

void ProcessPool::EndNow() {
  if (getpid() != owner_) return;
  LeaveUntaken();
  std::unique_lock lock(mutex_);
  const auto taken = [](const Slot& slot) { return slot.taken; };
  changed_.wait_for(lock, kGrace, [&] { return std::none_of(processes_.begin(), processes_.end(), taken); });
  for (Slot& slot : processes_) {
    if (!slot.taken || slot.process == nullptr) continue;
    // Its caller takes it out.
    slot.process->Kill();
    slot.killed = true;
  }
}

void ProcessPool::LeaveUntaken() {
  std::vector<std::unique_ptr<WorkerProcess>> untaken(processes_.size());
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (!processes_[i].taken) untaken[i] = std::move(processes_[i].process);
    }
  }
  changed_.notify_all();
  for (size_t i = 0; i < untaken.size(); ++i) Leave(i, std::move(untaken[i]));
}

absl::StatusOr<size_t> ProcessPool::TakeSlot() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (closed_) return ObjectsReleased(name_);
    std::optional<size_t> found;
    // One that is ready rather than one that starts, and that rather than one to start.
    const auto progress = [this](size_t i) {
      return processes_[i].ready ? 2 : processes_[i].process == nullptr ? 0 : 1;
    };
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (!processes_[i].taken && (!found.has_value() || progress(*found) < progress(i))) found = i;
    }
    if (found.has_value()) {
      processes_[*found].taken = true;
      return *found;
    }
    changed_.wait(lock);
  }
}

void ProcessPool::GiveBack(size_t slot) {
  {
    std::unique_lock lock(mutex_);
    Slot& given = processes_[slot];
    if (closed_) {
      std::unique_ptr<WorkerProcess> process = std::move(given.process);
      const bool killed = given.killed;
      lock.unlock();
      if (!killed) Leave(slot, std::move(process));
      process.reset();
      lock.lock();
    }
    // EndNow waits for this, so that the next run finds the process.
    given.taken = false;
  }
  changed_.notify_all();
}

absl::Status ProcessPool::StartIn(size_t slot, Ended& ended) {
  std::string deaths;
  for (int death = 0; death < kMostDeaths; ++death) {
    if (processes_[slot].process == nullptr) HEADRACE_RETURN_IF_ERROR(SpawnIn(slot));
    SpawnOthers();
    HEADRACE_RETURN_IF_ERROR(HearStart(*processes_[slot].process, ended));
    processes_[slot].ready = ended == Ended::kAnswered;
    if (processes_[slot].ready) return absl::OkStatus();
    AddDeath(deaths, Reap(slot));
    // It may have ended because what it has imported was edited since.
    if (processes_[slot].kept) --death;
    HEADRACE_RETURN_IF_ERROR(StillWanted());
  }
  return ResourceError("the worker processes of ", name_, " die before they are ready (", deaths,
                       "); what they say of it is on stderr");
}

void ProcessPool::SpawnOthers() {
  std::vector<size_t> others;
  {
    const std::lock_guard lock(mutex_);
    if (spawned_) return;
    spawned_ = true;
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i].taken || processes_[i].process != nullptr) continue;
      processes_[i].taken = true;
      others.push_back(i);
    }
  }
  for (const size_t other : others) {
    // The first call there starts it again, and says what is wrong.
    SpawnIn(other).IgnoreError();
    GiveBack(other);
  }
}

absl::Status ProcessPool::StillWanted() {
  if (StopSignal::Raised()) return StopSignal::Error();
  const std::lock_guard lock(mutex_);
  return closed_ ? ObjectsReleased(name_) : absl::OkStatus();
}

absl::Status ProcessPool::HearStart(WorkerProcess& process, Ended& ended) {
  WorkerProcess::Heard heard = WorkerProcess::Heard::kNothing;
  Answered answer;
  const auto older_code_ends = std::chrono::steady_clock::now() + kOlderCode;
  // What it says of code that an earlier run has left it with is of no interest.
  do {
    HEADRACE_RETURN_IF_ERROR(Hear(process, kStartLookMs, heard, answer));
    if (heard != WorkerProcess::Heard::kNothing) continue;
    if (process.LoadsOlderCode() && std::chrono::steady_clock::now() > older_code_ends) process.Kill();
    absl::Status wanted = StillWanted();
    if (wanted.ok()) continue;
    // A later run may want what it loads.
    ended = Ended::kUnwanted;
    return wanted;
  } while (heard == WorkerProcess::Heard::kNothing ||
           (heard == WorkerProcess::Heard::kAnswer && !process.HeardStart()));
  ended = heard == WorkerProcess::Heard::kEnded ? Ended::kDied : Ended::kAnswered;
  if (ended == Ended::kDied) return absl::OkStatus();
  WireReader reader(process.results(), answer.bytes);
  return ErrorOf(reader);
}

absl::Status ProcessPool::SpawnIn(size_t slot) {
  std::unique_ptr<WorkerProcess> process = KeptProcesses::OfProgram().Take(KeptName(slot));
  const bool kept = process != nullptr && process->GiveCode(code_);
  if (!kept) {
    WorkerProcess::Command command = command_;
    command.arguments.push_back(std::to_string(getpid()));
    command.arguments.push_back(std::to_string(slot));
    HEADRACE_ASSIGN_OR_RETURN(process, WorkerProcess::Start(command, code_));
  }
  const std::lock_guard lock(mutex_);
  processes_[slot].process = std::move(process);
  processes_[slot].kept = kept;
  return absl::OkStatus();
}

absl::Status ProcessPool::Hear(WorkerProcess& process, int wait_ms, WorkerProcess::Heard& heard, Answered& answer) {
  HEADRACE_ASSIGN_OR_RETURN(heard, process.Receive(wait_ms, answer));
  if (heard != WorkerProcess::Heard::kNothing || OnEnginesThread()) return absl::OkStatus();
  // Ctrl-C, where the user's own thread waits.
  const absl::Status signalled = objects_->Call(name_, []() -> absl::Status {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return absl::OkStatus();
  });
  // What it gives later would be taken for the results of other calls.
  if (!signalled.ok()) process.Kill();
  return signalled;
}

void ProcessPool::Progress::Give(absl::Status error, WireReader* reader) {
  deaths = 0;
  told.clear();
  calls.Take(next++, std::move(error), reader);
}

absl::StatusOr<size_t> ProcessPool::WriteCalls(WorkerProcess& process, const Progress& progress, size_t& bytes) {
  WireWriter writer(process.calls());
  for (size_t i = 0; i < Exchange::kBytes / sizeof(uint64_t); ++i) writer.Number(0);
  size_t written = 0;
  const size_t most = std::min(progress.most, progress.calls.count() - progress.next);
  while (written < most && (written == 0 || writer.bytes() < kExchangeBytes)) {
    const size_t before = writer.bytes();
    progress.calls.Write(progress.next + written, writer);
    if (!writer.status().ok()) {
      if (written == 0) return writer.status();
      // The next exchange has room for it, or shows that it is too large.
      writer.Rewind(before);
      break;
    }
    ++written;
  }
  Exchange::In(process.calls()).calls = written;
  bytes = writer.bytes();
  return written;
}

absl::Status ProcessPool::TakeResults(WorkerProcess& process, size_t bytes, size_t end, size_t& at,
                                      Progress& progress) {
  if (progress.next >= end) return absl::OkStatus();
  WireReader reader(process.results(), bytes, at);
  while (progress.next < end) {
    absl::Status error = ErrorOf(reader);
    HEADRACE_RETURN_IF_ERROR(reader.status());
    progress.Give(std::move(error), &reader);
    HEADRACE_RETURN_IF_ERROR(reader.status());
  }
  at = reader.at();
  progress.calls.Taken(progress.next);
  return absl::OkStatus();
}

absl::Status ProcessPool::HearResults(WorkerProcess& process, size_t sent, Progress& progress, Ended& ended) {
  const size_t first = progress.next;
  size_t at = 0;
  WorkerProcess::Heard heard = WorkerProcess::Heard::kNothing;
  Answered answer;
  int look_ms = kFirstLookMs;
  while (true) {
    // The last one is what the answer brings.
    const bool looks = progress.next + 1 < first + sent;
    HEADRACE_RETURN_IF_ERROR(Hear(process, looks ? look_ms : -1, heard, answer));
    if (heard == WorkerProcess::Heard::kAnswer) break;
    const size_t made = std::min<size_t>(Exchange::In(process.calls()).Made(), sent);
    // Afterwards: the memory of these results may have been added meanwhile.
    HEADRACE_RETURN_IF_ERROR(process.results().Show(0));
    HEADRACE_RETURN_IF_ERROR(TakeResults(process, process.results().bytes(), first + made, at, progress));
    if (heard == WorkerProcess::Heard::kEnded) {
      ended = progress.next < first + sent ? Ended::kDied : Ended::kGone;
      return absl::OkStatus();
    }
    look_ms = std::min(2 * look_ms, kLastLookMs);
  }
  process.ChargeMemory();
  HEADRACE_RETURN_IF_ERROR(
      TakeResults(process, answer.bytes, first + std::min<size_t>(answer.calls, sent), at, progress));
  if (progress.next == first) return InternalError("a process answered none of ", sent, " calls");
  ended = Ended::kAnswered;
  return absl::OkStatus();
}

absl::Status ProcessPool::ExchangeIn(size_t slot, Progress& progress, Ended& ended) {
  if (processes_[slot].ready && processes_[slot].process->Ended()) Reap(slot);
  if (!processes_[slot].ready) {
    const absl::Status started = StartIn(slot, ended);
    // Not the row's own error.
    if (!started.ok()) return BeyondRow(started);
    ended = Ended::kBroken;
  }
  WorkerProcess& process = *processes_[slot].process;
  size_t bytes = 0;
  HEADRACE_ASSIGN_OR_RETURN(const size_t sent, WriteCalls(process, progress, bytes));
  if (!process.Send(bytes)) {
    ended = Ended::kGone;
    return absl::OkStatus();
  }
  const size_t first = progress.next;
  HEADRACE_RETURN_IF_ERROR(HearResults(process, sent, progress, ended));
  // A process that stopped early has met calls that take long.
  const size_t made = progress.next - first;
  if (ended == Ended::kAnswered && made < sent) progress.most = std::max<size_t>(1, made);
  return absl::OkStatus();
}

void ProcessPool::NoteDeath(const std::string& how, Progress& progress) {
  progress.most = 1;
  AddDeath(progress.told, how);
  if (++progress.deaths < kMostDeaths) {
    Warn(how);
    return;
  }
  progress.Give(ResourceError(name_, ": ", kMostDeaths, " worker processes died of this row (", progress.told, ")"),
                nullptr);
}

void ProcessPool::Make(ProcessCalls& calls) {
  std::optional<Unlocked> unlocked;
  if (PyGILState_Check() != 0) unlocked.emplace();
  Progress progress{.calls = calls, .most = calls.count()};
  while (progress.next < calls.count()) {
    if (absl::Status wanted = StillWanted(); !wanted.ok()) {
      progress.Give(std::move(wanted), nullptr);
      continue;
    }
    const absl::StatusOr<size_t> slot = TakeSlot();
    if (!slot.ok()) {
      progress.Give(slot.status(), nullptr);
      continue;
    }
    Ended ended = Ended::kBroken;
    absl::Status status = ExchangeIn(*slot, progress, ended);
    const bool stays = ended == Ended::kAnswered || ended == Ended::kUnwanted;
    const std::string how = stays ? std::string() : Reap(*slot);
    GiveBack(*slot);
    if (progress.next == calls.count()) break;
    if (!status.ok()) {
      progress.Give(std::move(status), nullptr);
    } else if (ended == Ended::kDied && StillWanted().ok()) {
      NoteDeath(how, progress);
    }
  }
  calls.Taken(calls.count());
}

std::string ProcessPool::Reap(size_t slot) {
  std::unique_ptr<WorkerProcess> process;
  {
    const std::lock_guard lock(mutex_);
    process = std::move(processes_[slot].process);
    processes_[slot].ready = false;
  }
  if (process == nullptr) return "";
  const pid_t pid = process->pid();
  const std::string how = process->Reap();
  return Cat("process ", pid, " ", how);
}

void ProcessPool::Warn(const std::string& death) {
  const std::string line =
      Cat("headrace: worker ", death, " in ", Printable(name_), "; its row is made again by another\n");
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
    const py::object exception = py::module_::import("headrace._workers.processes")
                                     .attr("exception_of")(py::bytes(pickled), std::string(given.message()));
    AddErrorField(error, ErrorField::kFunction, objects_->raised().Hold(exception));
    return absl::OkStatus();
  });
  return kept.ok() ? error : kept;
}

}  // namespace headrace::python

#include "python/binding/host/user_calls.h"

#include <exception>

#include "core/caught_error.h"
#include "core/error.h"
#include "core/fork_watch.h"
#include "core/printable.h"
#include "engine/exec/worker_pool.h"
#include "python/binding/values/context_storage.h"
#include "python/binding/values/deferred_release.h"
#include "python/binding/values/held_gil.h"
#include "python/binding/values/thread_state.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

class GilHold : public HostLock {
 private:
  const HeldGil gil_;
};

// The thread is the only one of its process, and nothing waits for its result.
bool AloneAfterFork() { return LostInFork() && OnEnginesThread(); }

[[noreturn]] void EndChild(const std::string& name) {
  if (PyErr_Occurred() != nullptr) {
    // Does not return for SystemExit.
    PyErr_Print();
  } else {
    PySys_FormatStderr(
        "headrace: a child process that was forked in %s came back from it, where the pipeline has no other threads; "
        "it "
        "ends here. End it by sys.exit() or os._exit().\n",
        Printable(name).c_str());
  }
  Py_Exit(1);
}

}  // namespace

std::unique_ptr<HostLock> HoldGil() {
  if (!KeepThreadState()) return nullptr;
  return std::make_unique<GilHold>();
}

class UserCalls::Entry {
 public:
  Entry(UserCalls& calls, const std::string& name) : calls_(calls), name_(name), next_(calls.latest_) {
    calls.latest_ = this;
    if (next_ != nullptr) next_->before_ = this;
  }
  ~Entry() {
    (before_ == nullptr ? calls_.latest_ : before_->next_) = next_;
    if (next_ != nullptr) next_->before_ = before_;
  }
  Entry(const Entry&) = delete;

  std::string Text() const {
    const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since_).count() / 100;
    return Cat(name_, " (for ", static_cast<double>(tenths) / 10, " s)");
  }
  const Entry* next() const { return next_; }

 private:
  UserCalls& calls_;
  const std::string& name_;
  const Clock::time_point since_ = Clock::now();
  Entry* next_;
  Entry* before_ = nullptr;
};

absl::Status UserCalls::Call(const std::string& name, RaisedExceptions& raised,
                             absl::FunctionRef<absl::Status()> body) {
  if (!KeepThreadState()) return ResourceError("the machine has no memory for a thread that calls ", name);
  try {
    const HeldGil gil;
    const Entry entry(*this, name);
    ReleaseNow();
    return Caught(name, raised, body);
  } catch (const std::exception&) {
    return CaughtError();
  }
}

absl::Status UserCalls::Caught(const std::string& name, RaisedExceptions& raised,
                               absl::FunctionRef<absl::Status()> body) {
  try {
    const StorageInContext storage(storage_.get());
    absl::Status status = body();
    if (AloneAfterFork()) EndChild(name);
    return status;
  } catch (py::error_already_set& error) {
    if (AloneAfterFork()) {
      error.restore();
      EndChild(name);
    }
    return raised.Keep(error, name);
  } catch (py::builtin_exception& error) {
    error.set_error();
    py::error_already_set set;
    return raised.Keep(set, name);
  }
}

std::vector<std::string> UserCalls::Running() const {
  std::vector<std::string> texts;
  for (const Entry* entry = latest_; entry != nullptr; entry = entry->next()) texts.push_back(entry->Text());
  return texts;
}

}  // namespace headrace::python

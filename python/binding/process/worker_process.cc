#include "python/binding/process/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "io/files/opened_file.h"
#include "python/binding/values/thread_state.h"

extern char** environ;

namespace headrace::python {
namespace {

// A process that has lost its connection ends within this time, or is ended.
constexpr int kDyingMs = 1000;
// A signal that came just before the user's own thread waits is seen within this time.
constexpr int kSignalMs = 500;
// Above the descriptors that the process gets, so that none overwrites another.
constexpr int kLeastDescriptor = 16;
// The first of them.
constexpr int kFirstGiven = 3;
// PIDFD_SIGNAL_PROCESS_GROUP, of Linux 6.9.
constexpr unsigned kToItsGroup = 1U << 2;

// The same open file above the descriptors given; closes `descriptor`. -1 with errno: the process has no more.
int Raised(int descriptor) {
  if (descriptor < 0 || descriptor >= kLeastDescriptor) return descriptor;
  const int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, kLeastDescriptor);
  const int failed = errno;
  close(descriptor);
  errno = failed;
  return raised;
}

// With these, the current folder and the standard descriptors alone, in a process group of its own, where Ctrl-C in a
// terminal does not reach it, and with no signal blocked or ignored.
int Spawn(const WorkerProcess::Command& command, const std::array<int, 4>& given, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  for (size_t i = 0; i < given.size(); ++i) {
    posix_spawn_file_actions_adddup2(&files, given[i], kFirstGiven + static_cast<int>(i));
  }
  // The folder that is current here, which may have been deleted, or be one that cannot be read.
  const int folder = kFirstGiven + static_cast<int>(given.size());
  posix_spawn_file_actions_addopen(&files, folder, ".", O_PATH | O_DIRECTORY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, folder + 1);
  // Where this program imported from, as it must not import from a folder of data that is current by now.
  posix_spawn_file_actions_addchdir_np(&files, command.folder.c_str());
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int failed = posix_spawn(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

absl::Status NoProcess(int failed) {
  return ResourceError("the machine has no room for a worker process: ", std::strerror(failed));
}

}  // namespace

int WatchProcess(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const Command& command, int code) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return NoProcess(errno);
  const int theirs = Raised(ends[1]);
  const int calls = Raised(SharedMemory::NewDescriptor());
  const int results = Raised(SharedMemory::NewDescriptor());
  const int own_code = fcntl(code, F_DUPFD_CLOEXEC, kLeastDescriptor);
  int failed = theirs < 0 || calls < 0 || results < 0 || own_code < 0 ? errno : 0;
  // From here on its destructor closes what is there.
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess(Raised(ends[0]), calls, results));
  if (failed == 0) failed = Spawn(command, {theirs, calls, results, own_code}, worker->pid_);
  if (failed != 0) worker->gone_ = true;
  if (theirs >= 0) close(theirs);
  if (own_code >= 0) close(own_code);
  if (failed != 0) return NoProcess(failed);
  worker->watch_ = WatchProcess(worker->pid_);
  return worker;
}

WorkerProcess::~WorkerProcess() {
  Kill();
  Reap();
  if (watch_ >= 0) close(watch_);
  close(socket_);
  LeaveTask();
}

void WorkerProcess::LeaveTask() {
  if (account_ != nullptr) account_->Charge(-charged_);
  account_ = nullptr;
  charged_ = 0;
}

bool WorkerProcess::GiveCode(int code) {
  uint64_t size = Exchange::kOtherCode;
  iovec part = {&size, sizeof(size)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &code, sizeof(code));
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent != sizeof(size)) return false;
  ++unheard_starts_;
  return true;
}

bool WorkerProcess::Ended() const {
  std::array<pollfd, 2> looked = {pollfd{socket_, 0, 0}, pollfd{watch_, POLLIN, 0}};
  return poll(looked.data(), watch_ < 0 ? 1 : 2, 0) > 0;
}

bool WorkerProcess::HasChildren() const {
  std::error_code failed;
  std::filesystem::directory_iterator thread(Cat("/proc/", pid_, "/task"), failed);
  for (; !failed && thread != std::filesystem::directory_iterator(); thread.increment(failed)) {
    const Descriptor children = OpenToRead(thread->path() / "children");
    char first = 0;
    if (!children.is_open() || read(children.get(), &first, 1) != 0) return true;
  }
  return static_cast<bool>(failed);
}

bool WorkerProcess::Send(size_t bytes) {
  calls_.Written(bytes);
  const uint64_t size = bytes;
  ssize_t sent = 0;
  do {
    sent = send(socket_, &size, sizeof(size), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == sizeof(size);
}

absl::StatusOr<WorkerProcess::Heard> WorkerProcess::Receive(int wait_ms, Answered& answer) {
  // The user's own thread looks for signals.
  if (!OnEnginesThread()) wait_ms = wait_ms < 0 ? kSignalMs : std::min(wait_ms, kSignalMs);
  // Also its end, because a process that it forked may hold the other end of the socket.
  std::array<pollfd, 2> waited = {pollfd{socket_, POLLIN, 0}, pollfd{watch_, POLLIN, 0}};
  const int ready = poll(waited.data(), watch_ < 0 ? 1 : 2, wait_ms);
  if (ready <= 0) {
    if (ready == 0 || errno == EINTR) return Heard::kNothing;
    return ResourceError("waiting for a worker process failed: ", std::strerror(errno));
  }
  const ssize_t got = recv(socket_, &answer, sizeof(answer), MSG_DONTWAIT);
  if (got != sizeof(answer)) return Heard::kEnded;
  HEADRACE_RETURN_IF_ERROR(results_.Show(answer.bytes));
  return Heard::kAnswer;
}

void WorkerProcess::ChargeMemory() {
  TaskMemory* const task = TaskMemory::Current();
  if (account_ == nullptr && task != nullptr) account_ = task->account();
  if (account_ == nullptr) return;
  const auto held = static_cast<int64_t>(calls_.bytes() + results_.bytes());
  account_->Charge(held - charged_);
  charged_ = held;
}

bool WorkerProcess::Wait(int options, siginfo_t& state) const {
  int failed = 0;
  do {
    failed = watch_ >= 0 ? waitid(P_PIDFD, static_cast<id_t>(watch_), &state, options)
                         : waitid(P_PID, static_cast<id_t>(pid_), &state, options);
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

void WorkerProcess::KillGroup() const {
  if (watch_ >= 0 && syscall(SYS_pidfd_send_signal, watch_, SIGKILL, nullptr, kToItsGroup) == 0) return;
  // Older systems know the group by its number alone: another's once this program has reaped its children itself.
  siginfo_t state = {};
  if (Wait(WEXITED | WNOHANG | WNOWAIT, state)) kill(-pid_, SIGKILL);
}

void WorkerProcess::Kill() {
  const std::lock_guard lock(mutex_);
  if (gone_) return;
  KillGroup();
  // Wakes a thread in Receive where the system cannot watch processes.
  shutdown(socket_, SHUT_RDWR);
}

std::string WorkerProcess::Reap() {
  {
    const std::lock_guard lock(mutex_);
    if (gone_) return "has ended";
  }
  // One that has only closed its socket does not end by itself.
  pollfd ended = {watch_, POLLIN, 0};
  if (watch_ >= 0) poll(&ended, 1, kDyingMs);
  KillGroup();
  siginfo_t state = {};
  const std::lock_guard lock(mutex_);
  const bool found = Wait(WEXITED, state);
  gone_ = true;
  if (!found) return "has ended";
  if (state.si_code == CLD_EXITED) return Cat("ended with exit status ", state.si_status);
  return Cat("was killed by signal ", state.si_status, " (", strsignal(state.si_status), ")");
}

}  // namespace headrace::python

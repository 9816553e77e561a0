#include "io/files/s3/process_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "io/files/descriptor.h"
#include "io/files/system_error.h"

extern char** environ;

namespace headrace::s3 {
namespace {

constexpr size_t kMostOutput = size_t{1} << 16;

// Starts the shell with this output; its group is its own, so that what it started is killed with it.
int StartShell(const std::string& command, int output, pid_t& started) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  // Threads of the engine take no signals, and Python ignores broken pipes: neither is meant for the command.
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  const int error = posix_spawn(&started, "/bin/sh", &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads to the end; false: too much, or too late.
bool ReadToEnd(const Descriptor& from, std::chrono::milliseconds limit, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit;
  std::array<char, 4096> block;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{from.get(), POLLIN, 0};
    const int polled = poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (polled < 0 && errno != EINTR) return false;
    if (polled <= 0) continue;
    const ssize_t got = read(from.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    text.append(block.data(), static_cast<size_t>(got));
    if (text.size() > kMostOutput) return false;
  }
}

int WaitFor(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // namespace

absl::StatusOr<std::string> OutputOfCommand(const std::string& command, std::chrono::milliseconds limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ResourceError("no pipe for credential_process: ", SystemMessage(errno));
  const Descriptor reads(ends[0]);
  pid_t process = 0;
  {
    const Descriptor writes(ends[1]);
    const int error = StartShell(command, writes.get(), process);
    if (error != 0) return ResourceError("credential_process did not start: ", SystemMessage(error));
  }
  std::string text;
  const bool whole = ReadToEnd(reads, limit, text);
  if (!whole) kill(-process, SIGKILL);
  const int status = WaitFor(process);
  if (!whole) return DataError("credential_process did not end in time, or printed more than credentials");
  // A host that ignores SIGCHLD takes the status away.
  if (status != -1 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
    return DataError("credential_process failed, with status ", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return text;
}

}  // namespace headrace::s3

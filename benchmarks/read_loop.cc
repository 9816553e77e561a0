// read_loop DIR [--threads N] [--files N] [--warm-up N]: files per second of a plain loop over the files of a folder.
// Each thread takes the next file, opens it, stats it, reads it into the buffer that it used before, and closes it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string folder;
  int threads = 2;
  int64_t files = 20000;
  int64_t warm_up = 2000;
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, 2) != "--") {
      arguments.folder = argument;
      continue;
    }
    const int64_t number = ++i < argc ? std::atoll(argv[i]) : 0;
    if (number < 1) return false;
    if (argument == "--threads") {
      arguments.threads = static_cast<int>(number);
    } else if (argument == "--files") {
      arguments.files = number;
    } else if (argument == "--warm-up") {
      arguments.warm_up = number;
    } else {
      return false;
    }
  }
  return !arguments.folder.empty();
}

// The number of bytes read; -1: it could not be read.
int64_t ReadFile(const std::string& path, std::vector<char>& buffer) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat stat;
  int64_t done = fstat(descriptor, &stat) == 0 ? 0 : -1;
  if (done == 0 && buffer.size() < static_cast<size_t>(stat.st_size)) buffer.resize(stat.st_size);
  while (done >= 0 && done < stat.st_size) {
    const ssize_t got = read(descriptor, buffer.data() + done, stat.st_size - done);
    done = got > 0 ? done + got : -1;
  }
  close(descriptor);
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::cerr << "usage: read_loop DIR [--threads N] [--files N] [--warm-up N]\n";
    return 2;
  }
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(arguments.folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> bytes{0};
  std::atomic<bool> failed{paths.empty()};
  Clock::time_point begin;
  std::barrier start(arguments.threads, [&]() noexcept {
    next = 0;
    bytes = 0;
    begin = Clock::now();
  });
  const auto read = [&](int64_t until, std::vector<char>& buffer) {
    for (int64_t i = next++; i < until && !failed; i = next++) {
      const int64_t got = ReadFile(paths[i % paths.size()], buffer);
      bytes += std::max<int64_t>(0, got);
      if (got < 0) failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < arguments.threads; ++i) {
    threads.emplace_back([&] {
      std::vector<char> buffer;
      read(arguments.warm_up, buffer);
      start.arrive_and_wait();
      read(arguments.files, buffer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (failed) {
    std::cerr << "not all files of " << arguments.folder << " could be read\n";
    return 1;
  }
  std::cout << static_cast<double>(arguments.files) / seconds << " files/s, "
            << static_cast<double>(bytes) / seconds / (1 << 20) << " MiB/s, " << arguments.threads << " threads\n";
}

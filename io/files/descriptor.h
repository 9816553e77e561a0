// `Descriptor` owns a file descriptor and closes it.
// Threads: a movable value; used by one thread at a time.
#ifndef HEADRACE_IO_FILES_DESCRIPTOR_H_
#define HEADRACE_IO_FILES_DESCRIPTOR_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace headrace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  // Retries after a signal of the program's own threads. On failure not open, with errno set.
  static Descriptor Open(const std::string& path, int flags, mode_t mode = 0) {
    while (true) {
      const int number = open(path.c_str(), flags | O_CLOEXEC, mode);
      if (number >= 0 || errno != EINTR) return Descriptor(number);
    }
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_DESCRIPTOR_H_

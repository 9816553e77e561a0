// An open file's number, closed with its owner. A value that moves; used by one thread at a time.
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
  // Tries again where a signal came in between, as the program's own threads get them; not open, and errno, on failure.
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

// `Descriptor` owns a file descriptor and closes it. io/files/opened_file.h opens files.
// Threads: a movable value; used by one thread at a time.
#ifndef HEADRACE_IO_FILES_DESCRIPTOR_H_
#define HEADRACE_IO_FILES_DESCRIPTOR_H_

#include <unistd.h>

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

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_DESCRIPTOR_H_

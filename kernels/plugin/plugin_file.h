// `headrace_file` is the file of a plugin's format, as the interface names it: what reads files implements it.
// Threads: one thread at a time.
#ifndef HEADRACE_KERNELS_PLUGIN_PLUGIN_FILE_H_
#define HEADRACE_KERNELS_PLUGIN_PLUGIN_FILE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "headrace_plugin.h"

// The name that the interface gives to it.
struct headrace_file {
 public:
  virtual int64_t Size() const = 0;
  // `offset` is 0 or more. Errors name the file.
  virtual absl::Status Read(int64_t offset, uint64_t bytes, uint8_t* target) = 0;

 protected:
  ~headrace_file() = default;
};

#endif  // HEADRACE_KERNELS_PLUGIN_PLUGIN_FILE_H_

// `Exchange` is one exchange between this process and a worker process: the calls that are made in it, which begin in
// the shared memory of calls, and how far the worker has come with them.
// Threads: one thread in each process; Made and SetMade are how they meet.
#ifndef HEADRACE_PYTHON_BINDING_PROCESS_EXCHANGE_H_
#define HEADRACE_PYTHON_BINDING_PROCESS_EXCHANGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "python/binding/process/shared_memory.h"

namespace headrace::python {

// What the worker sends when it is done.
struct Answered {
  uint64_t bytes = 0;  // of the results of the exchange
  uint64_t calls = 0;  // made of it: the first ones
};

// Stands before the calls.
struct Exchange {
  uint64_t calls = 0;
  uint64_t made = 0;  // whose results are there

  static constexpr size_t kBytes = 2 * sizeof(uint64_t);
  // In place of the size of an exchange: a descriptor comes with it, of the memory with other code to run.
  static constexpr uint64_t kOtherCode = UINT64_MAX;
  static Exchange& In(const SharedMemory& calls) { return *reinterpret_cast<Exchange*>(calls.data()); }
  uint64_t Made() { return std::atomic_ref(made).load(std::memory_order_acquire); }
  void SetMade(uint64_t count) { std::atomic_ref(made).store(count, std::memory_order_release); }
};

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_BINDING_PROCESS_EXCHANGE_H_

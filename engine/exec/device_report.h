// `DeviceReport` is the report of a device's queue, during a run and after it.
// Threads: a value.
#ifndef HEADRACE_ENGINE_EXEC_DEVICE_REPORT_H_
#define HEADRACE_ENGINE_EXEC_DEVICE_REPORT_H_

#include <cstdint>
#include <string>

namespace headrace {

struct DeviceReport {
  std::string name;   // "cuda:0"
  std::string steps;  // done there after the copy, by column; empty: none
  uint64_t batches = 0;
  uint64_t bytes = 0;         // copied to the device
  uint64_t staged_bytes = 0;  // part of them: copied once more on the way, as they lay in plain memory
  int depth = 0;              // batches that it may hold ahead of the loop
  int ready = 0;              // those that it holds
  int buffers = 0;            // on the device: free, ahead of the loop, or kept by it
  int64_t buffer_bytes = 0;   // of all buffers
  int64_t budget_bytes = 0;
  double copy_s = 0;         // of its thread: starting copies, and waiting for them
  double input_wait_s = 0;   // of its thread: no batch from the first stage
  double room_wait_s = 0;    // of its thread: as many batches ahead as it may hold
  double buffer_wait_s = 0;  // of its thread: every buffer is in use, and the budget allows no more
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_DEVICE_REPORT_H_

// `ResultMemory` allocates host memory for results that the user sends to a device: page-locked where this process uses
// the device already, plain elsewhere. It makes no context, and is no error where page-locked memory cannot be had.
// Threads: any thread.
#ifndef HEADRACE_ENGINE_DEVICE_RESULT_MEMORY_H_
#define HEADRACE_ENGINE_DEVICE_RESULT_MEMORY_H_

#include <memory>

#include "core/buffer.h"
#include "engine/device/cuda_driver.h"

namespace headrace {

// Whether the process has an active primary context on the device. Neither loads the driver nor begins to use it.
bool HasActiveContext(int device);

class ResultMemory {
 public:
  // Null: there is no active context, or the driver cannot be used.
  static std::unique_ptr<ResultMemory> Of(int device);
  // Gives back what no buffer holds. What is let go of later is kept for the next run, 32 MiB at most.
  ~ResultMemory();
  ResultMemory(const ResultMemory&) = delete;

  // Of page-locked memory, and of plain memory where the driver has no more. It outlives this object.
  BufferPool& pool() { return pool_; }

 private:
  ResultMemory(std::shared_ptr<CudaContext> context, BufferPool& pool) : context_(std::move(context)), pool_(pool) {}

  const std::shared_ptr<CudaContext> context_;  // kept open, so that no allocation makes one
  BufferPool& pool_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_RESULT_MEMORY_H_

// `DeviceIteration` is an iteration as front ends see it, whose batches may end on a device: an Iteration, followed by
// a DeviceQueue if its options name a device. Its position, and so its state, is that of the batch given last, wherever
// the queue is.
// Threads: as Iteration's.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_ITERATION_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_ITERATION_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/device/device_queue.h"
#include "engine/device/result_memory.h"
#include "engine/exec/iteration.h"
#include "ir/messages.h"

namespace headrace {

class DeviceIteration {
 public:
  // A device of depth 0 is sent nothing: rows stay in host memory, in such as it copies from by itself if the process
  // uses the device already. Errors: as Iteration::Start; kUnsupported: there is no such device here.
  static absl::StatusOr<std::unique_ptr<DeviceIteration>> Start(const ir::proto::Graph& user_graph,
                                                                IterateOptions options);
  // The same with a given device in place of the one that the options name.
  static absl::StatusOr<std::unique_ptr<DeviceIteration>> StartOn(std::shared_ptr<Device> device,
                                                                  const ir::proto::Graph& user_graph,
                                                                  IterateOptions options);

  // Null: batches stay in host memory.
  Device* device() const { return device_.get(); }
  // As Iteration's.
  absl::StatusOr<Pipeline::Outcome> Fetch(std::chrono::nanoseconds limit, DeviceRow& row);
  void Given();
  void Ask(uint64_t epoch);
  absl::StatusOr<uint64_t> AddRange(BatchRange range) { return iteration_->AddRange(range); }
  uint64_t batches() const { return iteration_->batches(); }
  RunIdentity identity() const { return iteration_->identity(); }
  absl::Status SetWorkers(const std::string& op, int workers) { return iteration_->SetWorkers(op, workers); }
  void ResetWorkers() { iteration_->ResetWorkers(); }
  Pipeline::Closed Close(std::chrono::nanoseconds patience);
  void Stop();
  bool RunsHere() const { return iteration_->RunsHere(); }
  Position position() const { return queue_ ? queue_->position() : iteration_->position(); }
  uint64_t epoch() const { return position().epoch; }
  uint64_t delivered() const { return position().delivered; }
  uint64_t seed() const { return iteration_->seed(); }
  const std::string& even() const { return iteration_->even(); }
  absl::StatusOr<std::string> State() const { return iteration_->StateAt(position()); }
  ir::Schema schema() const;
  Report report();
  // As Iteration's, with the times of batches on the device.
  Profile profile();
  bool Outdated() const { return iteration_->Outdated(); }
  std::vector<std::string> DescribeStall();

 private:
  DeviceIteration() = default;

  std::shared_ptr<Device> device_;
  std::unique_ptr<ResultMemory> result_memory_;  // null: none is asked for, or rows lie in plain memory
  std::unique_ptr<Iteration> iteration_;
  std::vector<DeviceTail> tails_;
  std::unique_ptr<DeviceQueue> queue_;  // null: without a device
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_ITERATION_H_

// `DeviceQueue` is the last part of a run that ends on a device: a thread of its own takes batches from the pipeline,
// starts their copies, and keeps up to `depth` of them ready or on their way. The consumer loop takes the next one
// without waiting for a copy. Errors, ends of epochs and batches come in the pipeline's order; the position is that of
// the loop, not of the thread.
//
// Columns of numbers go to the device; byte strings and strings stay on the host.
//
// Threads: one thread, the user's, calls Fetch, Given, Ask and position; any thread may call Stop, Close, AddTo and
// Describe. Without a thread of its own (pull) the user's thread does the sending.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_QUEUE_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_QUEUE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/device/device.h"
#include "engine/device/device_layout.h"
#include "engine/device/device_ring.h"
#include "engine/device/device_tail.h"
#include "engine/device/device_track.h"
#include "engine/exec/device_report.h"
#include "engine/exec/iteration.h"

namespace headrace {

// The tensors of columns of numbers view the device's memory, which the host may not be able to read.
struct DeviceRow : ResultRow {
  std::shared_ptr<DeviceBatch> batch;  // null: all of it is on the host
};

class DeviceQueue {
 public:
  using Outcome = Pipeline::Outcome;

  // Sends what `iteration`, which outlives it, gives, and does what is left of its steps on the device. `profile`:
  // batches whose times are noted; 0: none.
  DeviceQueue(std::shared_ptr<Device> device, const PlannedDevice& planned, int64_t budget, int64_t profile,
              std::vector<DeviceTail> tails, Iteration* iteration);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;

  // Without it, Fetch sends.
  absl::Status StartThread();
  // As Pipeline's.
  absl::StatusOr<Outcome> Fetch(std::chrono::nanoseconds limit, DeviceRow& row);
  void Given();
  void Ask(uint64_t epoch);
  const Position& position() const { return position_; }
  // Tells it to end, without waiting. The iteration must be stopped first.
  void Stop();
  // Stops it, waits for its thread, and gives back all memory of the device that the user does not hold; without a
  // thread the destructor does.
  void Close();

  void AddTo(Report& report);
  void AddTo(Profile& profile);
  // What it waits for, on one line.
  std::string Describe();

 private:
  struct Item {
    Outcome outcome = Outcome::kNothingYet;
    DeviceRow row = {};
    size_t number = DeviceTrack::kLeftOut;  // on the track
    Position after = {};
    absl::Status error = {};
  };
  // The host memory of copies that may still run.
  struct Pending {
    FencePtr fence;
    FencePtr copied;  // of the copies alone; null: they are done, or no profile is taken
    std::vector<Tensor> sources;
    size_t number = DeviceTrack::kLeftOut;  // on the track
  };
  enum class Doing { kNothing, kWaitingForInput, kWaitingForRoom, kWaitingForBuffer, kWaitingForLoop };

  void Run();
  void Clear();
  // Sends what comes next, if anything does within the limit; false: nothing will come any more.
  bool SendNext(std::chrono::nanoseconds limit);
  bool TrySendNext(std::chrono::nanoseconds limit);
  absl::StatusOr<Outcome> FetchNext(std::chrono::nanoseconds limit, ResultRow& row);
  absl::Status SendRow(ResultRow row);
  // Replaces columns of numbers by tensors on the device. `number`: of the batch on the track.
  absl::StatusOr<DeviceRow> Copy(ResultRow row, size_t& number);
  absl::Status StartFill(DeviceBatch& batch, DeviceFill fill, Pending pending);
  // Adds the column to the layout, with what was drawn for its tail.
  absl::Status Add(const ResultRow& row, size_t column, DeviceTail& tail, DeviceLayout& layout);
  // Of the column; null: it is copied as it is.
  DeviceTail* TailOf(size_t column);
  // Returns the tensor, or a copy of it in memory that the device can read.
  absl::StatusOr<Tensor> Readable(const Tensor& tensor);
  // An out-of-memory error, with the device's words where it gave no page-locked memory.
  absl::Status WithRefusal(const absl::Status& error);
  absl::StatusOr<std::unique_ptr<DeviceBatch>> TakeBuffer(size_t bytes);
  // Waits until another batch is returned after `seen`, or briefly once the loop is waiting; false: stopped.
  bool AwaitRelease(std::unique_lock<std::mutex>& lock, uint64_t seen);
  // Waits until there is room for one more batch and the next epoch may begin; false: stopped.
  bool AwaitTurn();
  absl::Status RetirePending(size_t left);
  void Push(Item item);
  // How many ends of epochs, or errors, are ready; under mutex_.
  int ends_ready() const { return static_cast<int>(ready_.size()) - rows_ready_; }
  // Queues the error as the last item.
  void PushError(absl::Status error);
  absl::Status AllInUse(size_t bytes);
  // On the user's thread, where there is no other.
  void SendHere(std::chrono::nanoseconds limit);
  absl::StatusOr<Outcome> Take(Item item, DeviceRow& row);
  template <typename Condition>
  bool WaitWhile(std::unique_lock<std::mutex>& lock, Doing doing, double& seconds, Condition waits);

  const std::shared_ptr<Device> device_;
  const PlannedDevice planned_;
  Iteration* const iteration_;
  const bool waits_for_ask_;

  std::mutex mutex_;
  std::condition_variable for_sender_;
  std::condition_variable for_user_;
  // Under mutex_.
  std::deque<Item> ready_;
  int rows_ready_ = 0;
  bool stopped_ = false;
  bool user_waits_ = false;
  std::optional<uint64_t> asked_;
  uint64_t releases_ = 0;
  Doing doing_ = Doing::kNothing;
  DeviceReport report_;

  const std::shared_ptr<DeviceTrack> track_;  // null: no profile is taken
  const std::shared_ptr<DeviceRing> ring_;
  std::mutex close_mutex_;
  std::thread thread_;  // under close_mutex_
  bool threaded_ = false;

  // Used by the sending thread alone.
  std::vector<DeviceTail> tails_;
  std::vector<int> tail_of_;   // by column; -1: none
  std::vector<size_t> drawn_;  // columns that tails use and the loop does not see, the last one first
  std::deque<Pending> pending_;
  uint64_t next_epoch_;
  std::optional<uint64_t> told_;  // the epoch that the iteration was asked for last
  bool over_ = false;

  // Used by the user's thread alone.
  Position position_;
  std::optional<Position> fetched_;
  absl::Status failed_;
  std::atomic<uint64_t> started_ns_{0}, last_ns_{0}, user_wait_ns_{0}, given_{0};
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_QUEUE_H_

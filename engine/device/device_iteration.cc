#include "engine/device/device_iteration.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "engine/device/device_name.h"
#include "engine/device/open_device.h"
#include "engine/device/placement.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"

namespace headrace {
absl::StatusOr<std::unique_ptr<DeviceIteration>> DeviceIteration::Start(const ir::proto::Graph& user_graph,
                                                                        IterateOptions options) {
  if (!options.device.has_value()) return StartOn(nullptr, user_graph, std::move(options));
  HEADRACE_ASSIGN_OR_RETURN(const DeviceName name, ParseDeviceName(options.device->name));
  if (options.device->depth > 0) {
    HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, OpenDevice(name));
    return StartOn(std::move(device), user_graph, std::move(options));
  }
  std::unique_ptr<ResultMemory> memory = ResultMemory::Of(name.number);
  if (memory == nullptr) {
    options.device.reset();
  } else {
    options.page_locked = &memory->pool();
  }
  HEADRACE_ASSIGN_OR_RETURN(auto started, StartOn(nullptr, user_graph, std::move(options)));
  started->result_memory_ = std::move(memory);
  return started;
}

absl::StatusOr<std::unique_ptr<DeviceIteration>> DeviceIteration::StartOn(std::shared_ptr<Device> device,
                                                                          const ir::proto::Graph& user_graph,
                                                                          IterateOptions options) {
  std::unique_ptr<DeviceIteration> started(new DeviceIteration);
  started->device_ = std::move(device);
  if (started->device_ == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(started->iteration_, Iteration::Start(user_graph, std::move(options)));
    return started;
  }
  const PlannedDevice planned = *options.device;
  const bool pull = options.pull;
  const int64_t profile = options.profile;
  int64_t budget = planned.memory;
  if (budget == 0) {
    HEADRACE_ASSIGN_OR_RETURN(budget, started->device_->DefaultBudget());
  }
  options.page_locked = started->device_->page_locked();
  const auto tails = std::make_shared<std::vector<DeviceTail>>();
  HEADRACE_ASSIGN_OR_RETURN(const bool maps, started->device_->Maps());
  if (maps && options.optimize) {
    options.reduce = [tails, limits = options.limits](const ir::proto::Graph& graph) {
      return PlaceSteps(graph, limits, *tails);
    };
  } else if (MayPlaceSteps(options)) {
    HEADRACE_RETURN_IF_ERROR(RefuseWithoutKernels(options.limits));
  }
  HEADRACE_ASSIGN_OR_RETURN(started->iteration_, Iteration::Start(user_graph, std::move(options)));
  started->tails_ = *tails;
  started->queue_ =
      std::make_unique<DeviceQueue>(started->device_, planned, budget, profile, *tails, started->iteration_.get());
  if (!pull) HEADRACE_RETURN_IF_ERROR(started->queue_->StartThread());
  return started;
}

absl::StatusOr<Pipeline::Outcome> DeviceIteration::Fetch(std::chrono::nanoseconds limit, DeviceRow& row) {
  return queue_ ? queue_->Fetch(limit, row) : iteration_->Fetch(limit, row);
}

ir::Schema DeviceIteration::schema() const {
  ir::Schema schema;
  for (const ir::Column& column : iteration_->schema().columns) {
    const auto drawn = [&column](const DeviceTail& tail) {
      return std::find(tail.drawn.begin(), tail.drawn.end(), column.name) != tail.drawn.end();
    };
    if (std::none_of(tails_.begin(), tails_.end(), drawn)) schema.columns.push_back(column);
  }
  for (const DeviceTail& tail : tails_) ir::SetColumn(schema, tail.column, tail.type);
  return schema;
}

void DeviceIteration::Given() {
  if (queue_) {
    queue_->Given();
  } else {
    iteration_->Given();
  }
}

void DeviceIteration::Ask(uint64_t epoch) {
  if (queue_) {
    queue_->Ask(epoch);
  } else {
    iteration_->Ask(epoch);
  }
}

Pipeline::Closed DeviceIteration::Close(std::chrono::nanoseconds patience) {
  Stop();
  if (queue_) queue_->Close();
  return iteration_->Close(patience);
}

void DeviceIteration::Stop() {
  // First, so that the queue's thread finds nothing to wait for.
  iteration_->Stop();
  if (queue_) queue_->Stop();
}

Report DeviceIteration::report() {
  Report report = iteration_->report();
  if (queue_) queue_->AddTo(report);
  return report;
}

Profile DeviceIteration::profile() {
  Profile profile = iteration_->profile();
  if (queue_) queue_->AddTo(profile);
  return profile;
}

std::vector<std::string> DeviceIteration::DescribeStall() {
  std::vector<std::string> lines = iteration_->DescribeStall();
  if (queue_) lines.insert(lines.begin(), queue_->Describe());
  return lines;
}

}  // namespace headrace

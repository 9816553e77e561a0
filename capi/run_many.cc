#include <limits>
#include <memory>

#include "capi/call_status.h"
#include "capi/graph_handle.h"
#include "capi/pool.h"
#include "capi/request.h"
#include "core/error.h"

struct hr_pool {
  std::unique_ptr<headrace::capi::Pool> pool;
};

namespace headrace::capi {
namespace {

constexpr uint32_t kMostThreads = 1024;

absl::Status CheckMany(size_t requests, size_t input_count, size_t output_count, hr_status** statuses,
                       const hr_pool* pool) {
  if (statuses == nullptr && requests > 0) return ArgumentError("statuses is NULL");
  const size_t most =
      std::numeric_limits<size_t>::max() / sizeof(hr_tensor) / std::max(input_count + output_count, size_t{1});
  if (requests > most) return ArgumentError("requests must be at most ", most, "; got ", requests);
  if (pool == nullptr || pool->pool->is_here()) return absl::OkStatus();
  return ArgumentError("the pool was made before fork(), and has no threads in this process: make one here");
}

}  // namespace
}  // namespace headrace::capi

hr_status* hr_pool_make(uint32_t threads, hr_pool** pool) {
  using headrace::capi::ArgumentError;
  using headrace::capi::Pool;
  return headrace::capi::Guarded([&]() -> absl::Status {
    if (pool == nullptr) return ArgumentError("pool is NULL");
    *pool = nullptr;
    if (threads < 1 || threads > headrace::capi::kMostThreads) {
      return ArgumentError("threads must be 1 to ", headrace::capi::kMostThreads, "; got ", threads);
    }
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Pool> made, Pool::Make(threads));
    *pool = new hr_pool{std::move(made)};
    return absl::OkStatus();
  });
}

void hr_pool_close(hr_pool* pool) {
  // A child of fork() cannot wait for threads that it has not, and keeps the memory.
  if (pool != nullptr && pool->pool->is_here()) delete pool;
}

hr_status* hr_run_many(const hr_graph* graph, size_t requests, const hr_tensor* inputs, size_t input_count,
                       hr_tensor* outputs, size_t output_count, hr_status** statuses, hr_pool* pool) {
  using headrace::capi::Guarded;
  using headrace::capi::RunRequest;
  return Guarded([&]() -> absl::Status {
    if (requests > 0 || graph == nullptr) {
      HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckCounts(graph, inputs, input_count, outputs, output_count));
    }
    HEADRACE_RETURN_IF_ERROR(headrace::capi::CheckMany(requests, input_count, output_count, statuses, pool));
    const auto run = [&](size_t request) {
      statuses[request] = Guarded([&] {
        return RunRequest(*graph->graph, absl::MakeConstSpan(inputs + request * input_count, input_count),
                          absl::MakeSpan(outputs + request * output_count, output_count));
      });
    };
    if (pool != nullptr) {
      pool->pool->Run(requests, run);
    } else {
      for (size_t request = 0; request < requests; ++request) run(request);
    }
    return absl::OkStatus();
  });
}

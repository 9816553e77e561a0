// Each allocation fails once while a graph is opened and runs a request: an error, never a crash, and the next request
// gives what it should.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/failing_allocations.h"
#include "engine/serve/inference_graph.h"
#include "engine/serve/testing/request_graph.h"
#include "ir/graph.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Ints;

std::string Bytes() {
  RequestGraph graph({{{"image", ir::ColumnType::Of(DType::kBytes, {})}}});
  graph.Map().Step("Decode", {"image"}).Step("Resize", {"image"}, {{"size", Ints({40, 48})}});
  graph.Step("Normalize", {"image"}, {{"mean", Floats({100, 110, 120})}, {"std", Floats({50, 60, 70})}});
  graph.Step("HWC2CHW", {"image"});
  return ir::SerializeGraph(graph.graph());
}

// Calls `body` with each of its allocations failing in turn. Errors are those of memory. `check`: what holds of each
// call that succeeds.
void FailEach(const char* what, const std::function<absl::Status()>& body, const std::function<void()>& check = [] {}) {
  ASSERT_TRUE(body().ok()) << what;
  bool failed = true;
  int64_t points = 0;
  for (; failed; ++points) {
    FailingAllocation failing(points);
    const absl::Status status = body();
    failed = failing.End();
    if (status.ok()) {
      check();
    } else {
      EXPECT_TRUE(failed) << points << ": " << status;
    }
  }
  // Sanitizers have allocators of their own below most buffers.
  EXPECT_GT(points, 1);
  std::printf("HEADRACE-COUNT allocations=%lld\n", static_cast<long long>(points));
  ASSERT_TRUE(body().ok()) << what;
}

TEST(InferenceGraphWithoutMemory, OpeningIsAnError) {
  const std::string bytes = Bytes();
  FailEach("opening", [&] { return InferenceGraph::Parse(bytes).status(); });
}

TEST(InferenceGraphWithoutMemory, ARequestIsAnError) {
  const auto graph = *InferenceGraph::Parse(Bytes());
  const Tensor image = fixture::Encoded("baseline_420.jpg");
  const Tensor expected = (*graph->Run({image}))[0];
  std::vector<Tensor> made;
  const auto run = [&]() -> absl::Status {
    absl::StatusOr<std::vector<Tensor>> outputs = graph->Run(absl::MakeConstSpan(&image, 1));
    if (outputs.ok()) made = *std::move(outputs);
    return outputs.status();
  };
  // A pass that fails for lack of memory leaves the steps to be run one by one, with the same bits.
  FailEach("a request", run, [&] { EXPECT_TRUE(TensorsEqual(made[0], expected)); });
  FailEach("a trace", [&] { return graph->Trace({image}).status(); });
}

}  // namespace
}  // namespace headrace

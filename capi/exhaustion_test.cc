// Each allocation of opening a graph and of a request fails once: the call gives the right result or a status that says
// so, nothing is lost, and the next call is as if nothing had happened.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "core/buffer.h"
#include "core/testing/failing_allocations.h"
#include "core/testing/rounds.h"
#include "io/files/testing/temporary_folder.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

const int64_t kStep = OneIn({.quick = 7, .sanitized = 13});

// `call` returns a status, and frees what it gave. Returns the number of points.
int64_t FailEachAllocation(const std::function<hr_status*()>& call) {
  EXPECT_EQ(fixture::TextOf(call()), "");
  const int64_t before = BufferPool::Global().outstanding_bytes();
  for (int64_t point = 0;; point += kStep) {
    SCOPED_TRACE(point);
    FailingAllocation failing(point);
    hr_status* const status = call();
    const bool failed = failing.End();
    if (status != nullptr) {
      EXPECT_EQ(hr_status_kind(status), HR_RESOURCE_ERROR) << hr_status_text(status);
      hr_status_free(status);
    }
    EXPECT_EQ(BufferPool::Global().outstanding_bytes(), before);
    if (!failed || ::testing::Test::HasFailure()) {
      EXPECT_EQ(status, nullptr);
      EXPECT_EQ(fixture::TextOf(call()), "");
      return point / kStep;
    }
  }
}

void Report(int64_t points) {
  EXPECT_GT(points, 0);
  std::printf("HEADRACE-COUNT faults=%lld\n", static_cast<long long>(points));
}

hr_status* OpenAndClose(const hr_open_options& options) {
  hr_graph* graph = nullptr;
  hr_status* const status = hr_open(&options, &graph);
  EXPECT_EQ(graph == nullptr, status != nullptr);
  hr_close(graph);
  return status;
}

TEST(CapiExhaustion, OfOpeningAGraph) {
  const std::string bytes = fixture::PictureGraph();
  hr_open_options options = {};
  options.size = sizeof options;
  options.bytes = bytes.data();
  options.byte_count = bytes.size();
  Report(FailEachAllocation([&] { return OpenAndClose(options); }));
}

TEST(CapiExhaustion, OfOpeningAFile) {
  const TemporaryFolder folder;
  folder.Write("saved.hrg", fixture::PictureGraph());
  const std::string path = folder / "saved.hrg";
  hr_open_options options = {};
  options.size = sizeof options;
  options.path = path.c_str();
  Report(FailEachAllocation([&] { return OpenAndClose(options); }));
}

TEST(CapiExhaustion, OfARequest) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  for (const char* name : {"baseline_420.jpg", "progressive.jpg", "rgb.png"}) {
    SCOPED_TRACE(name);
    const std::string file = fixture::ReadTestFile(name);
    const hr_tensor input = hr::View::Bytes(file).raw();
    Report(FailEachAllocation([&] {
      hr_tensor output = fixture::EmptyRaw();
      hr_status* const status = hr_run(graph.raw(), &input, 1, &output, 1);
      EXPECT_TRUE(status == nullptr || output.owner == nullptr);
      hr_release(&output);
      return status;
    }));
  }
}

TEST(CapiExhaustion, OfARequestIntoTheCallersMemory) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  const hr_tensor input = hr::View::Bytes(file).raw();
  std::vector<float> memory(3 * 32 * 32);
  const hr_tensor slot = hr::View::Numbers(memory.data(), {3, 32, 32}).raw();
  Report(FailEachAllocation([&] {
    hr_tensor output = slot;
    return hr_run(graph.raw(), &input, 1, &output, 1);
  }));
}

TEST(CapiExhaustion, OfAStatusOfADamagedPicture) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const hr_tensor input = hr::View::Bytes("no picture").raw();
  for (int64_t point = 0; point < 200; ++point) {
    hr_tensor output = fixture::EmptyRaw();
    FailingAllocation failing(point);
    hr_status* const status = hr_run(graph.raw(), &input, 1, &output, 1);
    const bool failed = failing.End();
    ASSERT_NE(status, nullptr);
    const int32_t kind = hr_status_kind(status);
    EXPECT_TRUE(kind == HR_DATA_ERROR || (failed && kind == HR_RESOURCE_ERROR)) << hr_status_text(status);
    hr_status_free(status);
    if (!failed) return;
  }
}

TEST(CapiExhaustion, OfAPool) {
  Report(FailEachAllocation([] {
    hr_pool* pool = nullptr;
    hr_status* const status = hr_pool_make(2, &pool);
    EXPECT_EQ(pool == nullptr, status != nullptr);
    hr_pool_close(pool);
    return status;
  }));
}

}  // namespace
}  // namespace headrace

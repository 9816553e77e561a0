// Each allocation of pipelines of real operators fails once: the result is the right rows, or the first of them and a
// ResourceError; no buffer is lost; the next run gives the right rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "core/testing/failing_allocations.h"
#include "core/testing/patience.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "engine/exec/iteration.h"
#include "engine/exec/worker_pool.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "ir/graph.pb.h"
#include "kernels/testing/golden.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringValue;

const int64_t kStep = OneIn({.quick = 7, .sanitized = 53});  // each point takes several times as long
// A row that takes longer hangs.
constexpr size_t kMostRows = 100;

struct Rows {
  std::vector<std::vector<Tensor>> rows;
  absl::Status error;
  bool failed = false;  // an allocation

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const auto& row : rows) texts.push_back(RowText({}, row));
    return texts;
  }
};

// The rows of some epochs, from the start to the destruction of the iteration, during which one allocation fails.
Rows RowsOfExhaustion(const ir::proto::Graph& graph, const IterateOptions& options, int epochs, int64_t point) {
  Rows result;
  result.rows.reserve(kMostRows);
  IterateOptions given = options;
  given.shelf = std::make_shared<CacheShelf>();
  // The process starts its threads once, and that fails, too.
  if (!given.pull) WorkerPool::StopShared();
  FailingAllocation failing(point);
  try {
    absl::StatusOr<std::unique_ptr<Iteration>> iteration = Iteration::Start(graph, std::move(given));
    result.error = iteration.status();
    while (result.error.ok() && epochs > 0) {
      ResultRow row;
      const absl::StatusOr<Pipeline::Outcome> outcome = (*iteration)->Fetch(kTestPatience, row);
      result.error = outcome.status();
      if (!outcome.ok()) break;
      if (*outcome == Pipeline::Outcome::kNothingYet) result.error = InternalError("no row for a minute");
      if (*outcome == Pipeline::Outcome::kEpochEnd && --epochs > 0) (*iteration)->Ask((*iteration)->epoch());
      if (*outcome != Pipeline::Outcome::kRow) continue;
      (*iteration)->Given();
      result.rows.push_back(std::move(row.columns));
    }
  } catch (const std::bad_alloc&) {
    // As the front end reports it.
    result.error = ResourceError("no memory");
  }
  result.failed = failing.End();
  return result;
}

constexpr int64_t kNoPoint = int64_t{1} << 60;

void CheckAllIsWell(const ir::proto::Graph& graph, const IterateOptions& options, int epochs,
                    const std::vector<std::string>& expected) {
  const Rows rows = RowsOfExhaustion(graph, options, epochs, kNoPoint);
  EXPECT_TRUE(rows.error.ok()) << DescribeError(rows.error);
  EXPECT_EQ(rows.Texts(), expected);
}

// Returns the number of points. `forget` makes the next run as new to the process.
int64_t FailEach(const ir::proto::Graph& graph, const IterateOptions& options, int epochs,
                 const std::function<void()>& forget) {
  const std::vector<std::string> expected = RowsOfExhaustion(graph, options, epochs, kNoPoint).Texts();
  EXPECT_FALSE(expected.empty());
  CheckAllIsWell(graph, options, epochs, expected);
  const int64_t before = BufferPool::Global().outstanding_bytes();
  for (int64_t at = 0;; at += kStep) {
    SCOPED_TRACE(at);
    forget();
    {
      const Rows rows = RowsOfExhaustion(graph, options, epochs, at);
      std::vector<std::string> wanted = expected;
      if (!rows.error.ok()) {
        EXPECT_EQ(KindOf(rows.error), ErrorKind::kResource) << DescribeError(rows.error);
        wanted.resize(std::min(wanted.size(), rows.rows.size()));
      }
      EXPECT_EQ(rows.Texts(), wanted);
      if (!rows.failed) {
        EXPECT_TRUE(rows.error.ok()) << "without a failure: " << DescribeError(rows.error);
        return at / kStep;
      }
    }
    EXPECT_EQ(BufferPool::Global().outstanding_bytes(), before);
    if (at % (16 * kStep) == 0 || ::testing::Test::HasFailure()) CheckAllIsWell(graph, options, epochs, expected);
    if (::testing::Test::HasFailure()) return at / kStep;
  }
}

// Threaded and pulled, each to its last allocation.
void FailEachWay(const GraphBuilder& builder, IterateOptions options, int epochs, const std::function<void()>& forget) {
  options.seed = 7;
  options.endless = true;
  int64_t points = 0;
  for (const bool pull : {true, false}) {
    SCOPED_TRACE(pull ? "pulled" : "threaded");
    options.pull = pull;
    const int64_t more = FailEach(builder.raw(), options, epochs, forget);
    EXPECT_GT(more, 0);
    points += more;
    CheckAllIsWell(builder.raw(), options, epochs, RowsOfExhaustion(builder.raw(), options, epochs, kNoPoint).Texts());
  }
  std::printf("HEADRACE-COUNT faults=%lld\n", static_cast<long long>(points));
}

TEST(Exhaustion, EachAllocationOfImagesFailsOnce) {
  const TemporaryFolder folder;
  int number = 0;
  for (const char* name : {"baseline_420.jpg", "progressive.jpg", "cmyk.jpg", "rgb.png", "palette.png"}) {
    folder.Write(Cat("photos/", number++ % 2, "/", name), fixture::ReadTestFile(name));
  }
  GraphBuilder builder;
  builder.Add("ImageFolder", {}, {{"root", StringValue(folder / "photos")}, {"shuffle", BoolValue(true)}});
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  builder.Step("RandomResizedCrop", {"image"}, {"image"}, {{"size", ir::IntsValue({16, 16})}});
  builder.Step("Normalize", {"image"}, {"image"},
               {{"mean", ir::FloatsValue({123, 116, 103})}, {"std", ir::FloatsValue({58, 57, 57})}});
  builder.Step("HWC2CHW", {"image"}, {"image"});
  builder.Add("shuffle", {1}, {{"window", IntValue(3)}});
  builder.Add("batch", {2}, {{"size", IntValue(2)}});
  // The process keeps listings of unchanged folders.
  auto changed = std::filesystem::last_write_time(folder / "photos");
  FailEachWay(builder, {}, 1, [&] {
    changed += std::chrono::seconds(1);
    std::filesystem::last_write_time(folder / "photos", changed);
  });
}

TEST(Exhaustion, EachAllocationOfLinesFailsOnce) {
  const TemporaryFolder folder;
  folder.Write("a.txt", "one\ntwo\nthree\n");
  folder.Write("b.txt", Compress(Compression::kGzip, "four\n"));
  folder.Write("c.txt", Compress(Compression::kZstd, "five\n"));
  IterateOptions options;
  options.bindings.functions["length"] =
      std::make_shared<FakeFunction>([](absl::Span<const Tensor> inputs, RowRandom*) {
        return std::vector<Tensor>{*Tensor::Scalar(static_cast<int64_t>(inputs[0].bytes_value().size()))};
      });
  GraphBuilder builder;
  builder.Add("Text", {}, {{"patterns", ir::StringsValue({folder / "*.txt"})}});
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"line"}, {"length"}, {{"function", ir::ReferenceValue("length")}});
  builder.Add("batch", {1}, {{"size", IntValue(2)}});
  FailEachWay(builder, options, 1, [] {});
}

TEST(Exhaustion, EachAllocationOfKeptRowsFailsOnce) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(7)}, {"shuffle", BoolValue(true)}});
  builder.Add("map", {0});
  builder.Step("OneHot", {"value"}, {"hot"}, {{"num_classes", IntValue(500)}});
  builder.Add("cache", {1});
  builder.Add("batch", {2}, {{"size", IntValue(3)}});
  FailEachWay(builder, {}, 2, [] {});
}

}  // namespace
}  // namespace headrace

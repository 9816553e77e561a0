// Memory and threads run out at any moment: the result is an error of the right kind or no error at all, and the next
// pipeline runs as if nothing had happened.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>

#include "core/error.h"
#include "core/testing/failing_allocations.h"
#include "core/testing/real_pthread_create.h"
#include "engine/cache/row_cache.h"
#include "engine/exec/pipeline.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/graph.pb.h"

namespace {

// Counts down with each call; the call that finds 0 fails, and so do the later ones if it lasts. Negative: none fails.
std::atomic<int64_t> threads_left{-1};
std::atomic<bool> lasts{false};

bool ThreadFails() {
  const int64_t now = threads_left.load(std::memory_order_relaxed);
  if (now < 0) return false;
  if (now == 0 && lasts) return true;
  return threads_left.fetch_sub(1, std::memory_order_relaxed) == 0;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* given) {
  return ThreadFails() ? EAGAIN : headrace::RealPthreadCreate(thread, attributes, run, given);
}

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;

constexpr int64_t kExhaustionRows = 12;

ir::proto::Graph Small(bool python) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(kExhaustionRows)}, {"bytes", IntValue(2000)}, {"io", BoolValue(true)}});
  graph.Add("fake_work", {{"copy", BoolValue(true)}, {"python", BoolValue(python)}});
  graph.Add("fake_work", {{"python", BoolValue(python)}});
  graph.Add("fake_window", {{"rows", IntValue(3)}});
  return graph.Build();
}

void CheckRows(const std::vector<int64_t>& values, const absl::Status& error) {
  std::vector<int64_t> expected = FirstValues(kExhaustionRows);
  if (!error.ok()) {
    EXPECT_EQ(KindOf(error), ErrorKind::kResource) << error;
    expected.resize(std::min(expected.size(), values.size()));
  }
  EXPECT_EQ(values, expected);
}

// The rows of one run while something fails: all of them, or the first ones and an error of resources.
void CheckRunExhaustion(const absl::StatusOr<PipelineRun>& run) {
  if (!run.ok()) {
    EXPECT_EQ(KindOf(run.status()), ErrorKind::kResource) << run.status();
    return;
  }
  CheckRows(run->AllValues(), run->error);
}

void CheckAllIsWell(const ir::proto::Graph& graph, const PipelineOptions& options) {
  const auto run = RunPipeline(graph, options);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(run->error.ok()) << run->error;
  EXPECT_EQ(run->AllValues(), FirstValues(kExhaustionRows));
}

TEST(Exhaustion, EachAllocationOfASmallPipelineFailsOnce) {
  int points = 0;
  for (const bool pull : {true, false}) {
    const ir::proto::Graph graph = Small(true);
    PipelineOptions options;
    options.pull = pull;
    CheckAllIsWell(graph, options);
    const int64_t before = BufferPool::Global().outstanding_bytes();
    for (int64_t at = 0; !HasFailure(); ++at, ++points) {
      SCOPED_TRACE(at);
      bool met = false;
      {
        absl::StatusOr<std::unique_ptr<Pipeline>> made = absl::UnknownError("");
        std::vector<int64_t> values;
        values.reserve(kExhaustionRows);
        absl::Status error;
        FailingAllocation failing(at);
        try {
          made = Pipeline::Make(graph, options);
        } catch (const std::bad_alloc&) {
          // As the front end reports it.
          made = ResourceError("no memory");
        }
        error = made.status();
        while (error.ok()) {
          ResultRow row;
          const auto outcome = (*made)->Next(std::chrono::seconds(60), row);
          error = outcome.status();
          if (!outcome.ok() || *outcome != Pipeline::Outcome::kRow) break;
          values.push_back(CheckedValue(row));
        }
        // Ending the pipeline fails, too.
        if (made.ok()) made->reset();
        met = failing.End();
        CheckRows(values, error);
      }
      EXPECT_EQ(BufferPool::Global().outstanding_bytes(), before);
      if (at % 16 == 0) CheckAllIsWell(graph, options);
      if (!met) break;
    }
    CheckAllIsWell(graph, options);
  }
  EXPECT_GT(points, 0);
  std::printf("HEADRACE-COUNT faults=%d\n", points);
}

// The rows of a cache, on the shelf and in files, stay intact whichever allocation fails.
TEST(Exhaustion, EachAllocationOfACacheFailsOnce) {
  constexpr uint64_t kKept = 40;
  std::vector<std::vector<Tensor>> rows;
  for (uint64_t key = 0; key < kKept; ++key) rows.push_back({*Tensor::Scalar(static_cast<int64_t>(key))});
  MemoryAccount* const account = MemoryAccount::Open();
  int points = 0;
  for (bool met = true; met && !HasFailure(); ++points) {
    SCOPED_TRACE(points);
    const TemporaryFolder folder;
    CacheShelf shelf;
    FailingAllocation failing(points);
    for (int run = 0; run < 2; ++run) {
      try {
        RowCache cache("cache[1]", true, {std::nullopt, folder.path(), std::nullopt});
        RowCache::Use use{account, 1 << 20, "content", kKept};
        use.shelf = &shelf;
        if (!cache.Open(use).ok()) continue;
        for (uint64_t key = 0; key < kKept; ++key) {
          try {
            cache.Offer(key, rows[key], 1);
          } catch (const std::bad_alloc&) {
          }
        }
        cache.Close();
      } catch (const std::bad_alloc&) {
      }
    }
    met = failing.End();
    RowCache again("cache[1]", true, {std::nullopt, folder.path(), std::nullopt});
    RowCache::Use use{account, 1 << 20, "content", kKept};
    use.shelf = &shelf;
    ASSERT_TRUE(again.Open(use).ok());
    std::vector<Tensor> row;
    for (uint64_t key = 0; key < kKept; ++key) {
      if (again.Find(key, row)) {
        EXPECT_EQ(row[0].value<int64_t>(), static_cast<int64_t>(key));
      }
    }
    again.Close();
    EXPECT_EQ(account->held(), 0);
  }
  account->Close();
  std::printf("HEADRACE-COUNT faults=%d\n", points);
}

// Notes are whole or gone, and nobody who asks for them or leaves them hears of a failure.
TEST(Exhaustion, EachAllocationOfNotesFailsOnce) {
  constexpr uint64_t kNoted = 20;
  const auto note_of = [](uint64_t key, size_t run) { return std::string(100 + 100 * run, static_cast<char>(key)); };
  MemoryAccount* const account = MemoryAccount::Open();
  int points = 0;
  for (bool met = true; met && !HasFailure(); ++points) {
    SCOPED_TRACE(points);
    const TemporaryFolder folder;
    const NoteCache::Use use{.account = account, .memory = 1 << 20, .folder = folder.path(), .content = "content"};
    NoteCache caches[2];
    for (NoteCache& cache : caches) cache.Open(use);
    std::string notes[2][kNoted];
    for (size_t run = 0; run < 2; ++run) {
      for (uint64_t key = 0; key < kNoted; ++key) notes[run][key] = note_of(key, run);
    }
    FailingAllocation failing(points);
    for (size_t run = 0; run < 2; ++run) {
      for (uint64_t key = 0; key < kNoted; ++key) {
        std::string found;
        if (caches[run].Find(key, found)) {
          EXPECT_EQ(found, notes[0][key]);
        }
        caches[run].Leave(key, notes[run][key], EarlierNote::kRightOrNone);
      }
      caches[run].Close();
    }
    met = failing.End();
    EXPECT_EQ(account->held(), 0);
    NoteCache again;
    again.Open(use);
    for (uint64_t key = 0; key < kNoted; ++key) {
      std::string found;
      if (again.Find(key, found)) {
        EXPECT_EQ(found, note_of(key, found.size() == 200 ? 1 : 0));
      }
    }
  }
  account->Close();
  std::printf("HEADRACE-COUNT faults=%d\n", points);
}

TEST(Exhaustion, EachThreadOfASmallPipelineFailsOnce) {
  const ir::proto::Graph graph = Small(true);
  const PipelineOptions options;
  int points = 0;
  // A run may start fewer threads than another.
  for (int64_t at = 0, without = 0; without < 3 && !HasFailure(); ++at) {
    SCOPED_TRACE(at);
    WorkerPool::StopShared();
    threads_left.store(at);
    const auto run = RunPipeline(graph, options);
    const bool met = threads_left.exchange(-1) < 0;
    CheckRunExhaustion(run);
    CheckAllIsWell(graph, options);
    met ? ++points : ++without;
  }
  EXPECT_GT(points, 0);
  std::printf("HEADRACE-COUNT faults=%d\n", points);
}

// From some moment on, no more threads can be started.
TEST(Exhaustion, AsManyThreadsAsThereAreDoTheWork) {
  const ir::proto::Graph graph = Small(true);
  for (int64_t allowed = 0; allowed < 8; ++allowed) {
    SCOPED_TRACE(allowed);
    WorkerPool::StopShared();
    lasts.store(true);
    threads_left.store(allowed);
    const auto run = RunPipeline(graph, PipelineOptions{});
    threads_left.store(-1);
    lasts.store(false);
    CheckRunExhaustion(run);
  }
  CheckAllIsWell(graph, PipelineOptions{});
}

}  // namespace
}  // namespace headrace

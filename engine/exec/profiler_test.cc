// What a profile holds of a run, and that it stays within its bounds.
#include "engine/exec/profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "engine/exec/pipeline.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using ir::IntValue;

constexpr int64_t kProfilerRows = 300;

// A source that reads files, a map, and a stream operator, each in a stage of its own.
ir::proto::Graph ThreeStages() {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", IntValue(kProfilerRows)}, {"bytes", IntValue(8)}, {"io", ir::BoolValue(true)}});
  graph.Add("fake_work", {{"cost", IntValue(5)}});
  graph.Add("fake_window", {{"rows", IntValue(16)}});
  return graph.Build();
}

PipelineOptions OptionsOfProfiler(int64_t profile, bool pull = false) {
  PipelineOptions options;
  options.profile = profile;
  options.pull = pull;
  return options;
}

struct Profiled {
  std::vector<int64_t> values;
  Profile profile;
  Report report;
};

Profiled RunProfiled(Pipeline& pipeline) {
  Profiled run;
  ResultRow row;
  while (true) {
    const auto outcome = pipeline.Next(std::chrono::seconds(60), row);
    if (!outcome.ok() || *outcome != Pipeline::Outcome::kRow) break;
    run.values.push_back(CheckedValue(row));
  }
  pipeline.Close();
  run.profile = pipeline.profile();
  run.report = pipeline.report();
  return run;
}

Profiled RunProfiled(const ir::proto::Graph& graph, PipelineOptions options) {
  auto pipeline = Pipeline::Make(graph, std::move(options));
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return RunProfiled(**pipeline);
}

uint64_t TasksOf(const Profile& profile, size_t stage) {
  uint64_t tasks = 0;
  for (const auto& thread : profile.threads) {
    tasks += static_cast<uint64_t>(
        std::count_if(thread.tasks.begin(), thread.tasks.end(), [&](const auto& task) { return task.stage == stage; }));
  }
  return tasks;
}

TEST(Profiler, HoldsEveryTaskOfEveryStage) {
  const Profiled run = RunProfiled(ThreeStages(), OptionsOfProfiler(1 << 16));
  ASSERT_EQ(run.profile.stages.size(), 3u);
  ASSERT_EQ(run.report.stages.size(), 3u);
  EXPECT_EQ(run.profile.dropped_tasks + run.profile.dropped_levels, 0u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(run.profile.stages[i], run.report.stages[i].name);
    EXPECT_EQ(TasksOf(run.profile, i), run.report.stages[i].tasks) << run.profile.stages[i];
  }
  EXPECT_GT(TasksOf(run.profile, 3), 0u) << "the loop's waits";
}

TEST(Profiler, NumbersOfRowsLeaveNoGap) {
  const Profiled run = RunProfiled(ThreeStages(), OptionsOfProfiler(1 << 16));
  std::map<uint64_t, uint32_t> numbers;  // of the map's tasks
  for (const auto& thread : run.profile.threads) {
    for (const TaskEvent& task : thread.tasks) {
      if (task.stage == 1) numbers[task.first] = task.count;
      if (task.stage == 0) {
        EXPECT_EQ(task.first, Profiler::kNoNumber);
      }
    }
  }
  uint64_t next = 0;
  for (const auto& [first, count] : numbers) {
    EXPECT_EQ(first, next);
    next = first + count;
  }
  EXPECT_EQ(next, static_cast<uint64_t>(kProfilerRows) + 1) << "rows and the end-of-epoch marker";
}

TEST(Profiler, TasksOfAThreadFollowEachOtherWithinTheRun) {
  const Profiled run = RunProfiled(ThreeStages(), OptionsOfProfiler(1 << 16));
  std::set<std::string> names;
  for (const auto& thread : run.profile.threads) {
    EXPECT_TRUE(names.insert(thread.name).second) << thread.name;
    uint64_t end = 0;
    for (const TaskEvent& task : thread.tasks) {
      // A thread that waits may work meanwhile.
      if (run.profile.IsLoop(task)) continue;
      EXPECT_LE(end, task.start_ns);
      EXPECT_LE(task.start_ns, task.end_ns);
      end = task.end_ns;
    }
    EXPECT_LE(end, run.profile.wall_ns);
    for (const LevelSample& level : thread.levels) {
      ASSERT_LE(level.stage, run.profile.stages.size());
      EXPECT_LE(level.ns, run.profile.wall_ns);
      EXPECT_GE(level.level, 0);
      if (!run.profile.IsMemory(level)) {
        EXPECT_LE(level.level, run.report.stages[level.stage].window);
      }
    }
  }
  EXPECT_EQ(names.count("user's loop"), 1u);
  EXPECT_EQ(names.count("worker 1"), 1u);
  EXPECT_EQ(names.count("file reader 1"), 1u);
}

TEST(Profiler, SamplesEveryLevelButNotAtEveryTask) {
  const Profiled run = RunProfiled(ThreeStages(), OptionsOfProfiler(1 << 16));
  std::set<uint32_t> sampled;
  for (const auto& thread : run.profile.threads) {
    std::map<uint32_t, uint64_t> last;
    for (const LevelSample& level : thread.levels) {
      sampled.insert(level.stage);
      if (last.count(level.stage) > 0) {
        EXPECT_GE(level.ns, last[level.stage] + Profiler::kLevelsEveryNs);
      }
      last[level.stage] = level.ns;
    }
  }
  EXPECT_EQ(sampled.size(), 4u) << "three connectors and the memory";
}

TEST(Profiler, ChangesNoRow) {
  for (const bool pull : {false, true}) {
    EXPECT_EQ(RunProfiled(ThreeStages(), OptionsOfProfiler(1 << 16, pull)).values,
              RunProfiled(ThreeStages(), OptionsOfProfiler(0, pull)).values);
  }
}

TEST(Profiler, OnTheCallersThreadTasksLieWithinItsWaits) {
  const Profiled run = RunProfiled(ThreeStages(), OptionsOfProfiler(1 << 16, true));
  ASSERT_EQ(run.profile.threads.size(), 1u);
  const std::vector<TaskEvent>& tasks = run.profile.threads[0].tasks;
  for (const TaskEvent& task : tasks) {
    if (run.profile.IsLoop(task)) continue;
    EXPECT_TRUE(std::any_of(tasks.begin(), tasks.end(), [&](const TaskEvent& wait) {
      return run.profile.IsLoop(wait) && wait.start_ns <= task.start_ns && task.end_ns <= wait.end_ns;
    }));
  }
}

TEST(Profiler, KeepsToItsBoundAndCountsTheRest) {
  constexpr int64_t kMost = 4;
  PipelineOptions options = OptionsOfProfiler(kMost);
  options.window = 1;
  const Profiled run = RunProfiled(ThreeStages(), std::move(options));
  EXPECT_EQ(run.values.size(), static_cast<size_t>(kProfilerRows));
  uint64_t kept = 0;
  for (const auto& thread : run.profile.threads) {
    EXPECT_LE(thread.tasks.size(), static_cast<size_t>(kMost)) << thread.name;
    EXPECT_LE(thread.levels.size(), static_cast<size_t>(kMost)) << thread.name;
    kept += thread.tasks.size();
  }
  uint64_t ran = 0;
  for (const StageReport& stage : run.report.stages) ran += stage.tasks;
  EXPECT_GT(run.profile.dropped_tasks, 0u);
  EXPECT_GT(run.profile.dropped_levels, 0u);
  // The sum includes the loop's waits.
  EXPECT_GT(kept + run.profile.dropped_tasks, ran);
}

TEST(Profiler, TwoPipelinesOfTheSameThreadsKeepApart) {
  auto first = Pipeline::Make(ThreeStages(), OptionsOfProfiler(1 << 16));
  auto second = Pipeline::Make(ThreeStages(), OptionsOfProfiler(1 << 16));
  ASSERT_TRUE(first.ok() && second.ok());
  for (Pipeline* pipeline : {first->get(), second->get()}) {
    const Profiled run = RunProfiled(*pipeline);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(TasksOf(run.profile, i), run.report.stages[i].tasks);
  }
}

TEST(Profiler, IsOffUnlessAskedFor) {
  const Profiled run = RunProfiled(ThreeStages(), OptionsOfProfiler(0));
  EXPECT_TRUE(run.profile.threads.empty());
  EXPECT_TRUE(run.profile.stages.empty());
}

}  // namespace
}  // namespace headrace

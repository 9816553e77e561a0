// Reports where each allocation in turn fails: they throw std::bad_alloc and do not end the process.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <string>

#include "core/testing/failing_allocations.h"
#include "engine/report/explain.h"
#include "engine/report/profile_page.h"
#include "engine/report/trace.h"

namespace headrace {
namespace {

Profile ProfileOfARun() {
  Profile profile;
  profile.stages = {"batch[1]", "Odd \"\n<name>\"[0]"};
  profile.wall_ns = 10'000'000;
  profile.threads = {{"worker 1", {{1'000, 3'500, 0, 1, 2}}, {{3'500, 2, 1}}}};
  return profile;
}

Report ReportOfARun(double waited_s) {
  Report report;
  for (const char* const name : {"batch[1]", "a source[0]"}) {
    StageReport stage;
    stage.name = name;
    stage.window = 8;
    stage.rows = 1'000'000;
    stage.busy_s = 12.5;
    stage.cap = 4;
    stage.most_cap = 8;
    report.stages.push_back(stage);
  }
  report.wall_s = 100;
  report.user_wait_s = waited_s;
  report.delivered = 1;
  report.workers = 1;
  return report;
}

// The number of allocations, each of which failed once. The code may do without one that asks for no exception.
int64_t FailEach(const std::function<std::string()>& make) {
  for (int64_t point = 0;; ++point) {
    FailingAllocation failing(point);
    try {
      make();
    } catch (const std::bad_alloc&) {
    }
    if (!failing.End()) return point;
  }
}

TEST(Reports, SurviveALackOfMemory) {
  const Profile profile = ProfileOfARun();
  const Report waiting = ReportOfARun(90), served = ReportOfARun(1);
  int64_t points = 0;
  for (const auto& make : std::initializer_list<std::function<std::string()>>{
           [&] { return ExplainRun(waiting); }, [&] { return ExplainRun(served); },
           [&] { return ProfilePage(waiting, profile); }, [&] { return ChromeTrace(profile); }}) {
    const int64_t failed = FailEach(make);
    EXPECT_GT(failed, 0);
    points += failed;
  }
  std::printf("HEADRACE-COUNT faults=%lld\n", static_cast<long long>(points));
}

}  // namespace
}  // namespace headrace

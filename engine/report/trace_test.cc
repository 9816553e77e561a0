// Traces and pages of profiles made by hand.
#include "engine/report/trace.h"

#include <gtest/gtest.h>

#include "engine/report/profile_page.h"

namespace headrace {
namespace {

Profile TwoThreads() {
  Profile profile;
  profile.stages = {"batch[1]", "Odd \"<name>\"[0]"};
  profile.wall_ns = 10'000'000;
  profile.threads = {{"worker 1",
                      {{1'000, 3'500, 0, 1, 2}, {5'000, 6'000, Profiler::kNoNumber, 0, 1}},
                      {{3'500, 2, 1}, {3'500, 64, 2}, {6'000, 0, 1}, {6'000, 1, 0}}},
                     {"user's loop", {{0, 9'000'000, Profiler::kNoNumber, 2, 0}}, {{9'000'000, 0, 0}}}};
  return profile;
}

Report ReportOf(const Profile& profile) {
  Report report;
  for (const std::string& name : profile.stages) {
    StageReport stage;
    stage.name = name;
    stage.window = 8;
    stage.depth = static_cast<int>(report.stages.size());
    report.stages.push_back(stage);
  }
  report.wall_s = 0.01;
  report.user_wait_s = 0.009;
  report.delivered = 1;
  report.workers = 1;
  return report;
}

void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(Trace, HasATrackAThreadWithItsTasks) {
  const std::string trace = ChromeTrace(TwoThreads());
  ExpectHas(trace, R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"worker 1"}})");
  ExpectHas(trace, R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"user's loop"}})");
  ExpectHas(trace, R"({"ph":"X","name":"Odd \"<name>\"[0]","cat":"task","pid":1,"tid":1,"ts":1.000,"dur":2.500,)"
                   R"("args":{"messages":2,"first":0}})");
  ExpectHas(trace, R"({"ph":"X","name":"batch[1]","cat":"task","pid":1,"tid":1,"ts":5.000,"dur":1.000,)"
                   R"("args":{"messages":1}})");
  ExpectHas(trace, R"({"ph":"X","name":"waits for data","cat":"wait","pid":1,"tid":2,"ts":0.000,"dur":9000.000})");
}

TEST(Trace, HasATrackAConnectorWithItsLevels) {
  const std::string trace = ChromeTrace(TwoThreads());
  ExpectHas(trace, R"({"ph":"C","name":"queue after batch[1]","pid":2,"tid":0,"ts":0.000,"args":{"messages":0}})");
  ExpectHas(trace,
            R"({"ph":"C","name":"queue after Odd \"<name>\"[0]","pid":2,"tid":0,"ts":3.500,"args":{"messages":2}})");
  ExpectHas(trace, R"({"ph":"C","name":"memory held","pid":2,"tid":0,"ts":3.500,"args":{"bytes":64}})");
}

TEST(Trace, SaysWhatIsMissing) {
  Profile profile = TwoThreads();
  profile.dropped_tasks = 7;
  profile.dropped_levels = 9;
  ExpectHas(ChromeTrace(profile), R"("otherData":{"wall_us":10000.000,"dropped_tasks":7,"dropped_levels":9})");
  ExpectHas(ProfilePage(ReportOf(profile), profile), "7 tasks and 9 levels are missing");
  profile.dropped_tasks = profile.dropped_levels = 0;
  EXPECT_EQ(ProfilePage(ReportOf(profile), profile).find("missing"), std::string::npos);
}

TEST(ProfilePage, NamesEveryStageAndThreadAndEscapesThem) {
  const Profile profile = TwoThreads();
  const std::string page = ProfilePage(ReportOf(profile), profile);
  ExpectHas(page, "batch[1]");
  ExpectHas(page, "Odd &quot;&lt;name&gt;&quot;[0]");
  ExpectHas(page, "worker 1");
  EXPECT_EQ(page.find("<name>"), std::string::npos);
  ExpectHas(page, "<polyline");
}

TEST(ProfilePage, NamesRowsThatFailedOrHaveAWarning) {
  const Profile profile = TwoThreads();
  Report report = ReportOf(profile);
  EXPECT_EQ(ProfilePage(report, profile).find("left out"), std::string::npos);
  report.max_errors = 100;
  report.warnings = {{.name = "map[1]", .rows = 1, .first = {"cat.jpg: damaged"}}};
  report.skipped = {{.name = "map[2] <Crop>", .rows = 7, .first = {"dog.jpg: empty", "epoch 0, key 4: no \"image\""}}};
  const std::string page = ProfilePage(report, profile);
  ExpectHas(page, "map[1]: 1 row with a warning");
  ExpectHas(page, "<li>cat.jpg: damaged</li>\n</ul>");
  ExpectHas(page, "map[2] &lt;Crop&gt;: 7 rows failed and left out (at most 100 an epoch)");
  ExpectHas(page, "<li>epoch 0, key 4: no &quot;image&quot;</li>\n<li>…</li>");
}

TEST(ProfilePage, FillsEveryPlaceholder) {
  Profile profile = TwoThreads();
  EXPECT_EQ(ProfilePage(ReportOf(profile), profile).find("{{"), std::string::npos);
  profile.stages[0] = "{{style}}";
  ExpectHas(ProfilePage(ReportOf(profile), profile), "<h3>{{style}}</h3>");
}

TEST(ProfilePage, HoldsForARunThatNeverBegan) {
  Profile profile = TwoThreads();
  profile.threads.clear();
  profile.wall_ns = 0;
  Report report = ReportOf(profile);
  report.wall_s = report.user_wait_s = 0;
  report.delivered = 0;
  ExpectHas(ProfilePage(report, profile), "Nothing has run yet.");
}

}  // namespace
}  // namespace headrace

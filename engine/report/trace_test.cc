// Traces and pages of profiles made by hand.
#include "engine/report/trace.h"

#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

#include "core/printable.h"
#include "core/text.h"
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

// One batch that was taken, one that is seen to be filled later, one that nobody took.
Profile OverADevice() {
  Profile profile = TwoThreads();
  profile.device = "cuda:0";
  profile.batches = {
      {.copy_ns = 1'000, .copied_ns = 2'000, .filled_ns = 2'500, .given_ns = 3'000, .released_ns = 5'000},
      {.copy_ns = 2'000, .copied_ns = 9'000, .filled_ns = 9'000, .given_ns = 4'000},
      {.copy_ns = 6'000, .copied_ns = 7'000, .filled_ns = 7'000, .released_ns = 8'000}};
  return profile;
}

TEST(Trace, HasTheWayOfEachBatchOverADevice) {
  const std::string trace = ChromeTrace(OverADevice());
  ExpectHas(trace, R"({"ph":"M","name":"process_name","pid":3,"tid":0,"args":{"name":"batches on cuda:0"}})");
  const auto part = [](std::string_view kind, std::string_view name, int batch, std::string_view us) {
    return Cat(R"({"ph":")", kind, R"(","cat":"batches","name":")", name, R"(","id":)", batch,
               R"(,"pid":3,"tid":0,"ts":)", us, "}");
  };
  const std::tuple<std::string_view, int, std::string_view, std::string_view> parts[] = {
      {"copy", 0, "1.000", "2.000"},  {"steps", 0, "2.000", "2.500"},
      {"ready", 0, "2.500", "3.000"}, {"with the loop", 0, "3.000", "5.000"},
      {"copy", 1, "2.000", "9.000"},  {"with the loop", 1, "4.000", "10000.000"},
      {"copy", 2, "6.000", "7.000"},  {"ready", 2, "7.000", "8.000"}};
  for (const auto& [name, batch, start, end] : parts) {
    ExpectHas(trace, Cat(part("b", name, batch, start), ",\n", part("e", name, batch, end)));
  }
  EXPECT_EQ(trace.find(part("b", "ready", 1, "9.000")), std::string::npos);
  EXPECT_EQ(trace.find(part("b", "steps", 1, "9.000")), std::string::npos);
}

TEST(ProfilePage, ChartsTheBatchesOnADevice) {
  const Profile profile = OverADevice();
  Report report = ReportOf(profile);
  EXPECT_EQ(ProfilePage(report, profile).find("device over time"), std::string::npos);
  report.device = {.name = "cuda:0", .steps = "image: Normalize", .batches = 3, .bytes = 3 << 20, .depth = 2};
  const std::string page = ProfilePage(report, profile);
  ExpectHas(page,
            "3 batches, 3.0 MiB, were sent to cuda:0, up to 2 ahead of the loop. After each copy it does image: "
            "Normalize. The thread");
  ExpectHas(page, "<h3>batches being copied: up to 2</h3>");
  ExpectHas(page, "<h3>batches in the steps after the copy: up to 1</h3>");
  ExpectHas(page, "<h3>batches ahead of the loop, ready or on their way: up to 2</h3>");
  ExpectHas(page, "<h3>batches that the loop holds: up to 2</h3>");
}

TEST(ProfilePage, CountsRowsWhereTheyAreKnown) {
  const Profile profile = TwoThreads();
  Report report = ReportOf(profile);
  report.delivered = 10;
  ExpectHas(ProfilePage(report, profile), "10 delivered in 10.0 ms, 1000.0 a second; the loop waited 9.0 ms (90.0%)");
  report.rows = 320;
  ExpectHas(ProfilePage(report, profile),
            "320 rows in 10 batches delivered in 10.0 ms, 32000.0 rows a second; the loop waited 9.0 ms (90.0%)");
}

TEST(Trace, SaysWhatIsMissing) {
  Profile profile = TwoThreads();
  profile.dropped_tasks = 7;
  profile.dropped_levels = 9;
  ExpectHas(ChromeTrace(profile), R"("otherData":{"wall_us":10000.000,"dropped_tasks":7,"dropped_levels":9,)"
                                  R"("dropped_batches":0})");
  ExpectHas(ProfilePage(ReportOf(profile), profile), "7 tasks and 9 levels are missing");
  profile.dropped_batches = 5;
  ExpectHas(ProfilePage(ReportOf(profile), profile), "7 tasks and 9 levels, and 5 batches on the device, are missing");
  profile.dropped_tasks = profile.dropped_levels = profile.dropped_batches = 0;
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

TEST(ProfilePage, AndTheTraceArePrintable) {
  Profile profile = TwoThreads();
  profile.stages[0] = "Odd\n\x1b[31m\u202e\xff[0]";
  Report report = ReportOf(profile);
  report.warnings = {{.name = "map[1]", .rows = 1, .first = {"a\n\x1b.jpg: damaged"}}};
  for (const std::string& text : {ProfilePage(report, profile), ChromeTrace(profile)}) {
    EXPECT_EQ(PrintableLines(text), text);
    EXPECT_NE(text.find("x1b[31m"), std::string::npos);
  }
  ExpectHas(ProfilePage(report, profile), "<li>a\\n\\x1b.jpg: damaged</li>");
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

#include "engine/front/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <latch>

#include "core/error.h"
#include "engine/front/run_options.h"
#include "engine/front/run_report.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"

namespace headrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::seconds kLong{60};

ir::proto::Graph Counting(int64_t rows) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", ir::IntValue(rows)}});
  return graph.Build();
}

std::unique_ptr<Session> SessionOver(int64_t rows, std::vector<RunOption> given = {}) {
  absl::StatusOr<IterateOptions> options = RunOptionsOf(given);
  if (!options.ok()) return nullptr;
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Start(Counting(rows), *std::move(options));
  return session.ok() ? *std::move(session) : nullptr;
}

// The values up to the epoch's end.
std::vector<int64_t> Taken(Session& session) {
  const Session::Turn turn(session);
  std::vector<int64_t> values;
  for (;;) {
    const absl::StatusOr<Session::Outcome> outcome = session.Fetch(kLong);
    if (!outcome.ok() || *outcome != Session::Outcome::kRow) return values;
    values.push_back(CheckedValue(session.row()));
    session.Given();
  }
}

TEST(SessionTest, NamesTheSeedAndTheEvenOfItsRun) {
  const std::unique_ptr<Session> session = SessionOver(3, {{"seed", int64_t{7}}, {"even", std::string("pad")}});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->seed(), 7u);
  EXPECT_EQ(session->even(), "pad");
  session->Ask(0);
  EXPECT_THAT(Taken(*session), ElementsAre(0, 1, 2));
  const absl::StatusOr<std::string> state = session->State();
  ASSERT_TRUE(state.ok());
  // Those of the state, where the options leave them out.
  const std::unique_ptr<Session> restored = SessionOver(3, {{"state", *state}});
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(restored->seed(), 7u);
  EXPECT_EQ(restored->even(), "pad");
}

TEST(SessionTest, GivesTheRowsOfEachEpochThatIsAskedFor) {
  const std::unique_ptr<Session> session = SessionOver(3, {{"endless", true}});
  ASSERT_NE(session, nullptr);
  session->Ask(0);
  EXPECT_THAT(Taken(*session), ElementsAre(0, 1, 2));
  EXPECT_EQ(session->given(), 3u);
  // Is at its end until the next is asked for.
  EXPECT_THAT(Taken(*session), ElementsAre());
  session->Ask(1);
  EXPECT_EQ(session->given(), 0u);
  EXPECT_THAT(Taken(*session), ElementsAre(0, 1, 2));
  EXPECT_EQ(session->Close(kLong), Session::Closed::kEntirely);
}

TEST(SessionTest, FetchedRowWaitsUntilItWasGiven) {
  const std::unique_ptr<Session> session = SessionOver(2);
  ASSERT_NE(session, nullptr);
  const Session::Turn turn(*session);
  ASSERT_EQ(*session->Fetch(kLong), Session::Outcome::kRow);
  ASSERT_EQ(*session->Fetch(kLong), Session::Outcome::kRow);
  EXPECT_EQ(CheckedValue(session->row()), 0);
  EXPECT_EQ(session->delivered(), 0u);
  EXPECT_TRUE(session->Given());
  EXPECT_FALSE(session->Given());
  EXPECT_EQ(session->delivered(), 1u);
  ASSERT_EQ(*session->Fetch(kLong), Session::Outcome::kRow);
  EXPECT_EQ(CheckedValue(session->row()), 1);
}

TEST(SessionTest, FailedSessionSaysSo) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", ir::IntValue(3)}});
  graph.Add("fake_work", {{"fail", ir::IntsValue({1})}});
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Start(graph.Build(), *RunOptionsOf({}));
  ASSERT_TRUE(session.ok());
  EXPECT_THAT(Taken(**session), ElementsAre(0));
  EXPECT_TRUE((*session)->failed());
}

TEST(SessionTest, CutOffFetchGivesNoRow) {
  const std::unique_ptr<Session> session = SessionOver(2);
  ASSERT_NE(session, nullptr);
  const Session::Turn turn(*session);
  ASSERT_EQ(*session->Fetch(kLong), Session::Outcome::kRow);
  session->Fail();
  EXPECT_TRUE(session->failed());
  EXPECT_FALSE(session->Given());
}

TEST(SessionTest, ServesOneThreadAtATime) {
  const std::unique_ptr<Session> session = SessionOver(2);
  ASSERT_NE(session, nullptr);
  {
    const Session::Turn turn(*session);
    ASSERT_TRUE(turn.status().ok());
    EXPECT_GT(session->waiting_since_ns(), 0u);
    const Session::Turn within(*session);
    EXPECT_THAT(DescribeError(within.status()), HasSubstr("within a call that it makes"));
    std::string other;
    std::thread([&] { other = DescribeError(Session::Turn(*session).status()); }).join();
    EXPECT_THAT(other, HasSubstr("another thread waits"));
  }
  EXPECT_EQ(session->waiting_since_ns(), 0u);
  EXPECT_TRUE(Session::Turn(*session).status().ok());
}

TEST(SessionTest, CloseWaitsForTheThreadInATurn) {
  const std::unique_ptr<Session> session = SessionOver(int64_t{1} << 40);
  ASSERT_NE(session, nullptr);
  std::latch entered(1);
  std::atomic<bool> left{false};
  std::thread user([&] {
    const Session::Turn turn(*session);
    entered.count_down();
    // Until the session is closed.
    while (session->Fetch(std::chrono::milliseconds(1)).ok()) session->Given();
    left = true;
  });
  entered.wait();
  EXPECT_EQ(session->Close(kLong), Session::Closed::kEntirely);
  EXPECT_EQ(session->waiting_since_ns(), 0u);
  EXPECT_TRUE(left);
  user.join();
}

TEST(SessionTest, ChildOfAForkIsToldAndLeavesThreadsAlone) {
  std::unique_ptr<Session> session = SessionOver(1000);
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->CheckProcess().ok());
  const pid_t child = fork();
  if (child == 0) {
    const bool told = session->inherited() && !session->CheckProcess().ok();
    session.reset();
    _exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SessionTest, ReportIsOfNamesAndValues) {
  const std::unique_ptr<Session> session = SessionOver(3);
  ASSERT_NE(session, nullptr);
  Taken(*session);
  const std::vector<ReportField> fields = ReportFields(session->report());
  const auto of = [&fields](std::string_view name) {
    return std::find_if(fields.begin(), fields.end(), [&](const ReportField& field) { return field.name == name; });
  };
  ASSERT_NE(of("delivered"), fields.end());
  EXPECT_EQ(std::get<uint64_t>(of("delivered")->value.value), 3u);
  EXPECT_EQ(of("device"), fields.end());
  const auto& stages = std::get<std::vector<ReportValue>>(of("stages")->value.value);
  ASSERT_EQ(stages.size(), 1u);
  const auto& stage = std::get<std::vector<ReportField>>(stages[0].value);
  EXPECT_EQ(stage[0].name, "name");
  EXPECT_EQ(std::get<std::string>(stage[0].value.value), "fake_count[0]");
  EXPECT_THAT(session->Explain(), HasSubstr("fake_count"));
}

TEST(SessionTest, RequestIsExplainedWithoutARun) {
  const absl::StatusOr<std::string> text = ExplainRequest(Counting(3), *RunOptionsOf({}), false);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("fake_count"));
}

}  // namespace
}  // namespace headrace

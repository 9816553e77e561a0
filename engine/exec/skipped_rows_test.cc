#include "engine/exec/skipped_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/printable.h"
#include "core/testing/rounds.h"
#include "engine/testing/cooperative_threads.h"
#include "engine/testing/fake_ops.h"
#include "engine/testing/run_pipeline.h"
#include "io/files/file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

using ir::IntsValue;
using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const uint64_t kSkippedRowsSchedules = Rounds(3000, {.quick = 300, .sanitized = 200});

FailedRow Row(uint64_t key, const std::string& op) {
  FailedRow row;
  row.id.key = key;
  row.provenance.file = std::make_shared<const std::string>(Cat("photos/", key, ".jpg"));
  row.error = DataError("it is cut off");
  AddErrorField(row.error, ErrorField::kOperator, op);
  return row;
}

TEST(SkippedRows, AreCountedWithTheRowBehindThem) {
  SkippedRows skipped(3, 1);
  EXPECT_TRUE(skipped.Add(0, Row(4, "map[1]")).ok());
  EXPECT_EQ(skipped.counted(), 1u);
  skipped.Given();
  EXPECT_EQ(skipped.counted(), 2u);
  EXPECT_TRUE(skipped.Add(0, Row(5, "map[2]")).ok());
  const absl::Status limit = skipped.Add(0, Row(6, "map[1]"));
  EXPECT_EQ(KindOf(limit), ErrorKind::kData);
  EXPECT_THAT(DescribeError(limit), HasSubstr("4 rows of epoch 0 failed, and on_error() allows max_errors=3"));
  EXPECT_THAT(DescribeError(limit), HasSubstr("left out before: photos/4.jpg; photos/5.jpg"));
  EXPECT_EQ(GetErrorField(limit, ErrorField::kFile), "photos/6.jpg");
  skipped.EndEpoch();
  EXPECT_TRUE(skipped.Add(1, Row(4, "map[1]")).ok());
  const std::vector<WarningReport> reports = skipped.reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "map[1]");
  EXPECT_EQ(reports[0].rows, 3u);
  EXPECT_THAT(reports[1].first, ElementsAre("photos/5.jpg: it is cut off"));
}

TEST(SkippedRows, AreNamedInPrintableText) {
  SkippedRows skipped(1, 0);
  FailedRow row = Row(4, "map[1]");
  row.provenance.file = std::make_shared<const std::string>("caf\xe9\n  file: b\x1b.jpg");
  EXPECT_TRUE(skipped.Add(0, row).ok());
  EXPECT_THAT(skipped.reports()[0].first, ElementsAre("caf\\xe9\\n  file: b\\x1b.jpg: it is cut off"));
  const absl::Status limit = skipped.Add(0, row);
  EXPECT_EQ(GetErrorField(limit, ErrorField::kSkipped), "caf\\xe9\\n  file: b\\x1b.jpg");
  EXPECT_EQ(GetErrorField(limit, ErrorField::kFile), *row.provenance.file);
  const std::string text = DescribeError(limit);
  EXPECT_EQ(PrintableLines(text), text);
  EXPECT_THAT(text, HasSubstr("\n  file: caf\\xe9\\n  file: b\\x1b.jpg"));
}

TEST(SkippedRows, AreLoggedByLines) {
  TemporaryFolder folder;
  for (int run = 0; run < 2; ++run) {
    SkippedRows skipped(3, 0);
    ASSERT_TRUE(skipped.LogTo(folder / "bad.jsonl").ok());
    EXPECT_TRUE(skipped.Add(2, Row(4, "map[1]")).ok());
  }
  std::ifstream file(folder / "bad.jsonl");
  std::string line;
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(std::getline(file, line));
    EXPECT_EQ(
        line,
        R"({"epoch":2,"key":4,"file":"photos/4.jpg","operator":"map[1]","kind":"DataError","message":"it is cut off"})");
  }
  EXPECT_FALSE(std::getline(file, line));
  SkippedRows nowhere(3, 0);
  EXPECT_EQ(KindOf(nowhere.LogTo(folder / "missing/bad.jsonl")), ErrorKind::kNotFound);
}

TEST(SkippedRows, AreLoggedToARegularFileAlone) {
  TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder / "pipe", std::string("/dev/zero")}) {
    SkippedRows skipped(3, 0);
    const absl::Status status = skipped.LogTo(path);
    EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported) << status;
    EXPECT_NE(std::string(status.message()).find(path), std::string::npos) << status;
  }
}

TEST(SkippedRows, AreNotLoggedThroughALink) {
  TemporaryFolder folder;
  const std::string kept = folder.Write("kept", "as it was");
  folder.Link("kept", "bad.jsonl");
  SkippedRows skipped(3, 0);
  const absl::Status status = skipped.LogTo(folder / "bad.jsonl");
  EXPECT_EQ(KindOf(status), ErrorKind::kUnsupported) << status;
  EXPECT_NE(std::string(status.message()).find("this is a symbolic link"), std::string::npos) << status;
  EXPECT_EQ(LocalFileSystem()->Read(kept)->bytes_value(), "as it was");
}

TEST(SkippedRows, AreWrittenAsJsonWhateverTheyHold) {
  FailedRow row;
  row.provenance.record = 7;
  row.provenance.offset = 1024;
  row.error = NotFoundError("\"gone\"\n\xff");
  EXPECT_EQ(SkippedRowLine(0, row),
            "{\"epoch\":0,\"key\":0,\"record\":7,\"offset\":1024,\"operator\":\"\",\"kind\":\"NotFoundError\","
            "\"message\":\"\\\"gone\\\"\\\\n\\\\xff\"}");
  // Its own bytes, for whoever opens it.
  row.provenance = {std::make_shared<const std::string>("caf\xe9\x1b\n\u202e.jpg")};
  EXPECT_NE(SkippedRowLine(0, row).find(R"("file":"caf\udce9\u001b\n\u202e.jpg")"), std::string::npos);
}

TEST(SkippedRows, AreThoseOfErrorsOfTheirOwn) {
  EXPECT_TRUE(IsOfOneRow(DataError("x")));
  EXPECT_TRUE(IsOfOneRow(NotFoundError("x")));
  EXPECT_TRUE(IsOfOneRow(MakeError(ErrorKind::kFunction, "x")));
  EXPECT_FALSE(IsOfOneRow(BeyondRow(DataError("x"))));
  for (const ErrorKind kind : {ErrorKind::kGraph, ErrorKind::kState, ErrorKind::kResource, ErrorKind::kUnsupported,
                               ErrorKind::kClosed, ErrorKind::kInternal}) {
    EXPECT_FALSE(IsOfOneRow(MakeError(kind, "x")));
  }
}

// Rows, of which some fail in one operator, some in another, on any schedule.
TEST(SkippedRows, AreTheSameOnEverySchedule) {
  for (uint64_t seed = 0; seed < kSkippedRowsSchedules; ++seed) {
    SCOPED_TRACE(seed);
    ScheduleRandom random(seed);
    const int64_t rows = 6 + static_cast<int64_t>(random.Below(30));
    const int64_t first = static_cast<int64_t>(random.Below(12));
    const int64_t second = static_cast<int64_t>(random.Below(12));
    const int64_t passes = 1 + static_cast<int64_t>(random.Below(3));
    FakeGraph fake;
    fake.Add("fake_count", {{"rows", IntValue(rows)}, {"io", ir::BoolValue(random.OneIn(2))}});
    fake.Add("fake_work", {{"fail", IntsValue({first, first + 3})}, {"light", ir::BoolValue(random.OneIn(2))}});
    if (random.OneIn(2)) fake.Add("fake_repeat", {{"count", IntValue(passes)}});
    fake.Add("fake_work", {{"fail", IntsValue({second})}});
    ir::proto::Graph graph = fake.Build();
    graph.mutable_skip_failed()->set_max_errors(1000);
    PipelineOptions options;
    options.epochs = {0, 1};
    options.window = static_cast<int>(random.Below(5));
    options.group = static_cast<int>(random.Below(4));
    const auto ran = RunByHand(graph, options, seed, 1 + static_cast<int>(random.Below(4)));
    ASSERT_TRUE(ran.ok()) << ran.status();
    ASSERT_TRUE(ran->error.ok()) << ran->error;
    std::vector<int64_t> expected;
    for (int64_t value = 0; value < rows; ++value) {
      if (value != first && value != first + 3 && value != second) expected.push_back(value);
    }
    for (const std::vector<int64_t>& epoch : ran->epochs) {
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(epoch.size() % expected.size(), 0u);
      for (size_t i = 0; i < epoch.size(); ++i) ASSERT_EQ(epoch[i], expected[i % expected.size()]);
    }
  }
  std::printf("HEADRACE-COUNT schedules=%d\n", static_cast<int>(kSkippedRowsSchedules));
}

ir::proto::Graph Streamed(bool goes_on, bool skips) {
  FakeGraph fake;
  fake.Add("fake_stream", {{"rows", IntValue(9)}, {"fail", IntValue(4)}, {"goes_on", ir::BoolValue(goes_on)}});
  fake.Add("fake_work", {{"fail", IntsValue({6})}, {"light", ir::BoolValue(true)}});
  ir::proto::Graph graph = fake.Build();
  if (skips) graph.mutable_skip_failed()->set_max_errors(2);
  return graph;
}

TEST(SkippedRows, OfAStreamAreThoseBehindWhichItCanGoOn) {
  PipelineOptions options;
  options.pull = true;
  const auto ran = RunPipeline(Streamed(true, true), options);
  ASSERT_TRUE(ran.ok() && ran->error.ok()) << ran.status() << ran->error;
  EXPECT_THAT(ran->epochs[0], ElementsAre(0, 1, 2, 3, 5, 7, 8));
  for (const Position& position : ran->positions) {
    PipelineOptions rest = options;
    rest.checkpoint = position.checkpoint;
    rest.skip_rows = position.skip_rows;
    rest.delivered = position.delivered;
    rest.removed = position.removed;
    const auto again = RunPipeline(Streamed(true, true), rest);
    ASSERT_TRUE(again.ok() && again->error.ok()) << again.status() << again->error;
    EXPECT_EQ(again->epochs[0].size() + position.delivered, 7u);
  }
  const auto stopped = RunPipeline(Streamed(false, true), options);
  EXPECT_THAT(stopped->epochs[0], ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(KindOf(stopped->error), ErrorKind::kData);
  EXPECT_EQ(KindOf(RunPipeline(Streamed(true, false), options)->error), ErrorKind::kData);
}

TEST(SkippedRows, OfAStreamCountForTheRankThatTheyAreOf) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    PipelineOptions options;
    options.shard.world = 2;
    options.shard.rank = seed % 2;
    options.group = static_cast<int>(seed / 2 % 4);
    const auto ran = RunByHand(Streamed(true, true), options, seed, 3);
    ASSERT_TRUE(ran.ok() && ran->error.ok()) << ran.status() << ran->error;
    const std::vector<int64_t> even = {0, 2, 8};
    const std::vector<int64_t> odd = {1, 3, 5, 7};
    EXPECT_EQ(ran->epochs[0], seed % 2 == 0 ? even : odd);
  }
}

}  // namespace
}  // namespace headrace

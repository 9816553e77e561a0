// Which limit each kind of report shows.
#include "engine/report/advice.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

using ::testing::Test;

constexpr double kWall = 10;

StageReport StageOf(std::string name, PlannedStage::Kind kind, Lane lane, int cap, int depth) {
  StageReport stage;
  stage.name = std::move(name);
  stage.kind = kind;
  stage.lane = lane;
  stage.cap = cap;
  stage.depth = depth;
  stage.rows = 1000;
  stage.widest = 2;
  stage.window = 128;
  return stage;
}

// A run of ten seconds on two workers that did nothing but wait: the cases add what was busy.
class Advised : public Test {
 protected:
  Advised() {
    report_.stages = {StageOf("batch[2]", PlannedStage::Kind::kStream, Lane::kCpu, 1, 0),
                      StageOf("map[1]", PlannedStage::Kind::kRow, Lane::kCpu, 1 << 30, 1),
                      StageOf("ImageFolder[0]", PlannedStage::Kind::kIndexedSource, Lane::kIo, 8, 2)};
    report_.wall_s = kWall;
    report_.user_wait_s = 9;
    report_.delivered = 1000;
    report_.workers = 2;
    report_.budget_bytes = int64_t{2} << 30;
  }
  StageReport& batch() { return report_.stages[0]; }
  StageReport& map() { return report_.stages[1]; }
  StageReport& source() { return report_.stages[2]; }
  void Expect(LimitKind kind, const std::string& words) const {
    const Limit limit = FindLimit(report_);
    EXPECT_EQ(LimitName(limit.kind), LimitName(kind)) << limit.sentence;
    EXPECT_NE(limit.sentence.find(words), std::string::npos) << limit.sentence;
    EXPECT_EQ(Advice(report_).front(), limit.sentence);
    EXPECT_GT(Advice(report_).size(), 1u);
  }

  Report report_;
};

TEST_F(Advised, NothingBeforeARun) {
  EXPECT_EQ(FindLimit(Report()).kind, LimitKind::kNotRun);
  EXPECT_EQ(Advice(Report()), std::vector<std::string>{"Nothing has run yet."});
}

TEST_F(Advised, TheLoopWhereDataWaitForIt) {
  report_.user_wait_s = 0.4;
  map().busy_s = 19;
  Expect(LimitKind::kConsumer, "waited for data 4% of the time");
}

TEST_F(Advised, TheCpuWhereAllWorkersAreBusy) {
  map().busy_s = 18;
  batch().busy_s = 1;
  Expect(LimitKind::kCpu, "the workers (2) were busy 95% of the time, most of it with map[1]");
  EXPECT_NE(Advice(report_)[2].find("map[1] took 95% of the workers' time, 18.0 ms a row"), std::string::npos)
      << Advice(report_)[2];
}

TEST_F(Advised, TheDiskWhereAllReadersAre) {
  source().busy_s = 76;
  map().busy_s = 5;
  Expect(LimitKind::kDisk, "ImageFolder[0] was reading for 95% of the time, with at most 8 reads outstanding");
}

TEST_F(Advised, TheDiskWhereAllReadsAreOutstandingThoughWorkersHaveMuchToDo) {
  source().cap = 64;
  source().busy_s = 600;
  source().cpu_s = 0.5;
  source().bytes = 110 << 20;
  source().reads_short_s = 8.7;
  map().busy_s = 14;
  Expect(LimitKind::kDisk,
         "for 87% of the time all reads that ImageFolder[0] may have outstanding (64) were, and what was read ahead "
         "was used up; a read took 600.0 ms (112.6 KiB), 11.0 MiB/s");
}

// The source's bytes come from a store; requests waited for so many milliseconds, and received for so many.
StoreReport FarStore(int64_t waiting_ms, int64_t transfer_ms) {
  StoreReport store;
  store.name = "s3://";
  store.counters.reads = 1000;
  store.counters.received = 110 << 20;
  store.counters.waiting_ns = waiting_ms * 1'000'000;
  store.counters.transfer_ns = transfer_ms * 1'000'000;
  return store;
}

TEST_F(Advised, TheNetworkWhereRepliesTakeLongToArrive) {
  source().busy_s = 76;
  source().bytes = 110 << 20;
  report_.stores = {FarStore(20'000, 60'000)};
  Expect(LimitKind::kNetwork,
         "The network is the bottleneck: ImageFolder[0] was reading for 95% of the time, with at most 8 reads "
         "outstanding; a read took 76.0 ms (112.6 KiB), 11.0 MiB/s; of the time of its requests, 25% was spent waiting "
         "for the first byte (20.0 ms each), 75% receiving bytes, and 0% waiting to be sent.");
}

TEST_F(Advised, TheStoreWhereRepliesTakeLongToBegin) {
  source().cap = 64;
  source().busy_s = 600;
  source().bytes = 110 << 20;
  source().reads_short_s = 8.7;
  report_.stores = {FarStore(70'000, 10'000)};
  Expect(LimitKind::kStore, "The store s3:// is the bottleneck: for 87% of the time all reads that ImageFolder[0] may");
}

TEST_F(Advised, TheStoreWhereItAsksToSlowDown) {
  source().busy_s = 76;
  source().bytes = 110 << 20;
  report_.stores = {FarStore(20'000, 60'000)};
  report_.stores[0].counters.throttled = 40;
  Expect(LimitKind::kStore, "s3:// asked to slow down 40 times in 1000 requests");
  report_.stores[0].counters.throttled = 3;
  Expect(LimitKind::kNetwork, "The network is the bottleneck");
}

TEST_F(Advised, TheDiskWhereFewBytesCameFromAStore) {
  source().busy_s = 76;
  source().bytes = 1100 << 20;
  report_.stores = {FarStore(20'000, 60'000)};
  Expect(LimitKind::kDisk, "The disk is the bottleneck");
}

TEST_F(Advised, OfReadsWithoutTheRowsThatACacheHad) {
  source().rows = 1000;
  source().found_rows = 900;
  source().busy_s = 20;
  source().bytes = (110 << 20) + (300 << 20);
  source().found_bytes = 300 << 20;
  source().read_s = 5;
  EXPECT_EQ(ReadText(report_, source()), "a read took 50.0 ms (1.1 MiB), 11.0 MiB/s");
  source().found_rows = 1000;
  EXPECT_EQ(ReadText(report_, source()), "nothing was read");
}

TEST_F(Advised, TheCpuWhereReadsWaitForCores) {
  source().busy_s = 78;
  source().cpu_s = 17;
  source().reads_short_s = 9.5;
  batch().busy_s = 2;
  Expect(LimitKind::kCpu, "busy 95% of the time, most of it with ImageFolder[0]");
}

TEST_F(Advised, PythonWhereItsThreadIs) {
  map().lane = Lane::kPython;
  map().cap = 1;
  map().busy_s = 9.5;
  Expect(LimitKind::kPython, "map[1] is the bottleneck: it was busy 95% of the time, in Python");
}

TEST_F(Advised, WhatTakesItsRowsInOrder) {
  batch().busy_s = 9;
  Expect(LimitKind::kOrder, "batch[2] is the bottleneck");
}

TEST_F(Advised, TheCapThatWasAskedFor) {
  report_.workers = 16;
  map().cap = 2;
  map().busy_s = 19;
  Expect(LimitKind::kWorkers, "with the 2 tasks at once that iterate(workers=…) allows");
}

TEST_F(Advised, TheBudgetWhereAStageWaitsForIt) {
  map().busy_s = 8;
  source().memory_wait_s = 6;
  report_.budget_bytes = 1 << 20;
  report_.peak_bytes = 1 << 20;
  Expect(LimitKind::kMemory, "ImageFolder[0] waited for it 60% of the time");
  EXPECT_NE(Advice(report_)[1].find("1.0 MiB"), std::string::npos);
}

TEST_F(Advised, TheWindowWhereThereIsNoSlot) {
  map().output_wait_s = 5;
  map().window = 1;
  Expect(LimitKind::kWindow, "map[1] waited 50% of the time for a slot among the 1");
}

TEST_F(Advised, NoPartAlone) {
  map().busy_s = 8;
  Expect(LimitKind::kNoneAlone, "the busiest, map[1], worked 40% of the time");
}

TEST_F(Advised, ABudgetNearlyUsedUpIsSaid) {
  map().busy_s = 19;
  report_.peak_bytes = report_.budget_bytes;
  EXPECT_NE(Advice(report_).back().find("nearly used up"), std::string::npos);
}

}  // namespace
}  // namespace headrace

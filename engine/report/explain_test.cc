#include "engine/report/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/printable.h"

namespace headrace {
namespace {

TEST(ExplainRun, ShowsNamesInPrintableText) {
  Report report;
  report.caches.resize(1);
  report.caches[0].name = "cache[2]";
  report.caches[0].folder = "caf\xe9\n  memory: 0\x1b[31m";
  report.skipped.resize(1);
  report.skipped[0].name = "map[1]";
  report.skipped[0].rows = 1;
  report.skipped[0].first = {"caf\\xe9.jpg: it is cut off"};
  report.workers = 1;
  const std::string text = ExplainRun(report);
  EXPECT_EQ(PrintableLines(text), text);
  EXPECT_THAT(text, ::testing::HasSubstr(" in caf\\xe9\\n  memory: 0\\x1b[31m;"));
  EXPECT_THAT(text, ::testing::HasSubstr("caf\\xe9.jpg: it is cut off"));
}

TEST(ExplainRun, ShowsWhatKernelsCounted) {
  Report report;
  report.work = {{"map[1]", {{"JPEGs by one", 980}, {"JPEGs by another", 20}}}, {"map[2]", {}}};
  report.workers = 1;
  const std::string text = ExplainRun(report);
  EXPECT_THAT(text, ::testing::HasSubstr("  map[1]: 980 JPEGs by one, 20 JPEGs by another\n"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("map[2]")));
}

TEST(ExplainRun, ShowsWhatFarStoresDid) {
  Report report;
  report.stores.resize(2);
  StoreReport& store = report.stores[0];
  store.name = "s3://";
  store.counters = {.reads = 1199, .lists = 1, .received = int64_t{10} << 30, .retries = 3, .connections = 64};
  store.counters.waiting_ns = 30'000'000'000;
  store.counters.transfer_ns = 90'000'000'000;
  store.price = 0.0004846;
  report.stores[1].name = "hdfs://";
  report.stores[1].counters = {.sent = 2048, .throttled = 2, .cached = 7, .cached_bytes = 7 << 20};
  report.stores[1].counters.writes = 1;
  report.stores[1].warning = "the object cache keeps nothing more\n";
  report.workers = 1;
  const std::string text = ExplainRun(report);
  EXPECT_EQ(PrintableLines(text), text);
  EXPECT_THAT(text, ::testing::HasSubstr(
                        "  s3://: 1200 requests (1199 reads, 1 listings, 0 writes), 10.0 GiB received, 3 retries, 0 "
                        "sent twice, throttled 0 times, 64 connections opened, $0.000485 at list price\n"
                        "      of the time of its requests, 25% was spent waiting for the first byte (25.0 ms each), "
                        "75% receiving bytes, and 0% waiting to be sent\n"));
  EXPECT_THAT(
      text, ::testing::HasSubstr("  hdfs://: 1 requests (0 reads, 0 listings, 1 writes), 0 B received, 2.0 KiB sent, 0 "
                                 "retries, 0 sent twice, throttled 2 times, 0 connections opened\n"
                                 "      hdfs:// asked to slow down 2 times in 1 requests\n"
                                 "      7 reads (7.0 MiB) were served by the object cache\n"
                                 "      the object cache keeps nothing more\\n\n"));
}

}  // namespace
}  // namespace headrace

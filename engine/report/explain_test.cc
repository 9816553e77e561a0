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

}  // namespace
}  // namespace headrace

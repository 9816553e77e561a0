#include "engine/exec/stage_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace headrace {
namespace {

// Otherwise a name could add lines to what a stalled pipeline says.
TEST(StageTasks, DescribesTheFileInOnePrintableLine) {
  StageTasks tasks;
  Task& task = tasks.Next([] { return std::make_unique<Task>(nullptr); });
  tasks.Began(task);
  task.worked.known = WorkedRows::Known::kRow;
  task.worked.provenance.file = std::make_shared<const std::string>("caf\xe9\n\x1b[31m.jpg");
  EXPECT_THAT(tasks.DescribeRunning("map[1]"),
              ::testing::ElementsAre(::testing::EndsWith("on the row epoch 0, key 0 (caf\\xe9\\n\\x1b[31m.jpg)")));
}

}  // namespace
}  // namespace headrace

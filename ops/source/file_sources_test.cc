// Of all sources that read files: they read from the file system that the pipeline was given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "io/faulty_file_system_testing.h"
#include "io/temporary_folder_testing.h"
#include "ir/declaration.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::map<std::string, GraphBuilder::Given> Sources(const TemporaryFolder& folder) {
  const ir::proto::Value pattern = ir::StringsValue({folder / "class/*.jpg"});
  return {{"Files", {{"patterns", pattern}}},
          {"Text", {{"patterns", pattern}}},
          {"ImageFolder", {{"root", ir::StringValue(folder.path())}}}};
}

TEST(FileSources, AreAllHere) {
  const TemporaryFolder folder;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (!declaration->traits.file_io) continue;
    EXPECT_EQ(Sources(folder).count(declaration->name), 1u) << declaration->name;
  }
}

TEST(FileSources, ReadFromThePipelinesFileSystem) {
  TemporaryFolder folder;
  folder.Write("class/a.jpg", "a");
  for (const auto& [op, given] : Sources(folder)) {
    std::set<std::string> calls;
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string&) {
      calls.emplace(call);
      return call == "Read" || call == "ReadAt" ? DataError("as told") : absl::OkStatus();
    });
    GraphBuilder builder;
    builder.Add(op, {}, given);
    PipelineOptions options = OptionsOf({});
    options.files = &files;
    const absl::StatusOr<Ran> ran = RunOnce(*builder.Build(), options);
    ASSERT_TRUE(ran.ok()) << op;
    EXPECT_THAT(DescribeError(ran->error), HasSubstr("as told")) << op;
    EXPECT_THAT(calls, Contains("List")) << op;
  }
}

}  // namespace
}  // namespace headrace

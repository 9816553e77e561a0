#include "ops/map/read_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system_registry.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReadFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) folder_.Write(Cat(name, ".bin"), Cat("bytes of ", name));
  }
  // A table of paths, and the column of the files' bytes.
  GraphBuilder Pipeline(const std::string& table, GraphBuilder::Given source = {}) const {
    GraphBuilder builder;
    source.emplace_back("patterns", StringsValue({folder_.Write("table.csv", table)}));
    source.emplace_back("fields", StringsValue({"path string"}));
    builder.Add("Csv", {}, source);
    builder.Add("map", {0});
    builder.Step("ReadFile", {"path"}, {"data"}, {{"root", StringValue(folder_.path())}});
    return builder;
  }

  TemporaryFolder folder_;
};

TEST_F(ReadFileTest, ReadsTheFilesThatRowsName) {
  const std::string table = Cat("path\nb.bin\n", folder_ / "a.bin", "\nfile://", folder_ / "c.bin", "\nb.bin\n");
  const Ran ran = RunEveryWay(Pipeline(table));
  for (const uint64_t epoch : {0, 1}) {
    const std::vector<std::string> rows = ran.Texts(epoch);
    ASSERT_EQ(rows.size(), 4u);
    const char* const bytes[] = {"bytes of b", "bytes of a", "bytes of c", "bytes of b"};
    for (size_t i = 0; i < 4; ++i) EXPECT_THAT(rows[i], HasSubstr(Cat("data='", bytes[i], "'")));
  }
}

TEST_F(ReadFileTest, ReadsTheFilesOfABatch) {
  GraphBuilder builder;
  builder.Add("Csv", {},
              {{"patterns", StringsValue({folder_.Write("table.csv", "path\nb.bin\na.bin\nc.bin\n")})},
               {"fields", StringsValue({"path string"})}});
  builder.Add("batch", {0}, {{"size", IntValue(2)}});
  builder.Add("map", {1});
  builder.Step("ReadFile", {"path"}, {"path"}, {{"root", StringValue(folder_.path())}});
  const Ran ran = RunEveryWay(builder);
  std::vector<std::string> found;
  for (const RanRow& row : ran.rows) {
    if (row.epoch > 0) continue;
    for (int64_t i = 0; i < row.columns[0].dim(0); ++i) found.emplace_back(row.columns[0].bytes_at(i));
  }
  EXPECT_THAT(found, ElementsAre("bytes of b", "bytes of a", "bytes of c"));
}

TEST_F(ReadFileTest, AsksForAllFarFilesOfABatchAtOnce) {
  const MemoryStore::Options on_demand{.completes = MemoryStore::Completes::kOnDemand};
  MemoryStore store(on_demand);
  for (const char* name : {"a", "b", "c"}) store.Put(Cat("mem://b/", name), Cat("bytes of ", name));
  FileSystemRegistry files(LocalFileSystem());
  files.Add("mem", &store);
  GraphBuilder builder;
  builder.Add("Csv", {},
              {{"patterns", StringsValue({folder_.Write("table.csv", "path\nb\na\nc\n")})},
               {"fields", StringsValue({"path string"})}});
  builder.Add("batch", {0}, {{"size", IntValue(3)}});
  builder.Add("map", {1});
  builder.Step("ReadFile", {"path"}, {"path"}, {{"root", StringValue("mem://b")}});
  RunSpec spec;
  spec.epochs = 1;
  PipelineOptions options = OptionsOf(spec);
  options.files = &files;
  const auto graph = builder.Build();
  absl::StatusOr<Ran> ran = Ran();
  std::thread reader([&] { ran = RunOnce(*graph, std::move(options)); });
  store.WaitFor(3);
  store.CompleteAll();
  reader.join();
  ASSERT_TRUE(ran.ok() && ran->error.ok());
  std::vector<std::string> found;
  for (int64_t i = 0; i < 3; ++i) found.emplace_back(ran->rows.at(0).columns[0].bytes_at(i));
  EXPECT_THAT(found, ElementsAre("bytes of b", "bytes of a", "bytes of c"));
}

TEST_F(ReadFileTest, NamesThePathAndTheRow) {
  const Ran ran = RunEveryWay(Pipeline("path\na.bin\nd.bin\nb.bin\n"));
  EXPECT_EQ(ran.rows.size(), 1u);
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kNotFound);
  EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr(folder_ / "d.bin"), HasSubstr("table.csv, byte 11")));
  GraphBuilder skipping = Pipeline("path\na.bin\nd.bin\n\nb.bin\n");
  skipping.SkipFailed(2);
  EXPECT_EQ(RunEveryWay(skipping).Texts(1).size(), 2u) << "a missing file, and an empty path";
  EXPECT_THAT(DescribeError(RunEveryWay(Pipeline("path\n\n")).error), HasSubstr("the path is empty"));
}

// What was read in one epoch is not given in the next, nor by another step of the same path.
TEST_F(ReadFileTest, ReadsAnewEachTime) {
  std::atomic<int> reads = 0;
  const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string& path) {
    if (call == "Read" && path == folder_ / "a.bin") folder_.Write("a.bin", Cat("read ", reads++));
    return absl::OkStatus();
  });
  GraphBuilder builder = Pipeline("path\na.bin\n");
  builder.Step("ReadFile", {"path"}, {"again"}, {{"root", StringValue(folder_.path())}});
  RunSpec spec;
  spec.epochs = 3;
  spec.kept_point = 0;
  PipelineOptions options = OptionsOf(spec);
  options.files = &files;
  const auto ran = RunOnce(*builder.Build(), std::move(options));
  ASSERT_TRUE(ran.ok()) << ran.status();
  ASSERT_EQ(ran->rows.size(), 3u);
  EXPECT_EQ(reads, 6);
  EXPECT_THAT(ran->Texts(2)[0], AllOf(HasSubstr("data='read 4'"), HasSubstr("again='read 5'")));
}

TEST_F(ReadFileTest, FailsWithTheFileSystemOfTheRun) {
  const FaultyFileSystem files(LocalFileSystem(), [](std::string_view call, const std::string& path) {
    const bool fails = call == "Read" && path.ends_with("b.bin");
    return fails ? ResourceError("the disk is gone") : absl::OkStatus();
  });
  GraphBuilder skipping = Pipeline("path\na.bin\nb.bin\nc.bin\n");
  skipping.SkipFailed(3);
  PipelineOptions options = OptionsOf({});
  options.files = &files;
  const auto ran = RunOnce(*skipping.Build(), std::move(options));
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_EQ(ran->rows.size(), 1u);
  EXPECT_THAT(DescribeError(ran->error), HasSubstr("the disk is gone")) << "a fault of the disk is no row's own";
}

// Nothing would tell a later run that a file changed.
TEST_F(ReadFileTest, IsKeptInMemoryAlone) {
  GraphBuilder builder = Pipeline("path\na.bin\n");
  builder.Add("cache", {1});
  EXPECT_THAT(RunEveryWay(builder).Texts(1)[0], HasSubstr("bytes of a"));
  GraphBuilder on_disk = Pipeline("path\na.bin\n");
  on_disk.Add("cache", {1}, {{"directory", StringValue(folder_ / "cache")}});
  EXPECT_THAT(Refusal(on_disk), HasSubstr("the files that rows name cannot be kept between runs"));
}

TEST_F(ReadFileTest, RefusesWhatNamesNoFile) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(3)}});
  builder.Add("map", {0});
  builder.Step("ReadFile", {"value"}, {"value"});
  EXPECT_THAT(Refusal(builder), HasSubstr("reads files by their paths, which are texts or bytes; got int64"));
}

}  // namespace
}  // namespace headrace

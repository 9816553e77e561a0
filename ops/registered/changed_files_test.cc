// Files that have another size when they are read than when they were listed: the rows hold what is there, and nothing
// keeps them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/faulty_file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/graph.pb.h"
#include "ir/passes/insert_caches.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kWhole = "the whole file";
constexpr std::string_view kHalf = "the wh";

class ChangedFiles : public ::testing::Test {
 protected:
  ChangedFiles() {
    for (const char* name : {"a", "b", "c"}) folder_.Write(Cat("class/", name, ".jpg"), kWhole);
  }
  std::string Changing() const { return folder_ / "class/b.jpg"; }

  GraphBuilder Files() const {
    GraphBuilder builder;
    builder.Add("Files", {},
                {{"patterns", ir::StringsValue({folder_ / "class/*"})}, {"columns", ir::StringsValue({"data"})}});
    return builder;
  }
  GraphBuilder ImageFolder() const {
    GraphBuilder builder;
    builder.Add("ImageFolder", {}, {{"root", StringValue(folder_.path())}, {"columns", ir::StringsValue({"image"})}});
    return builder;
  }
  GraphBuilder ImageList() {
    const std::string list = listed_.Write("list.lst", "0\t0\ta.jpg\n1\t0\tb.jpg\n2\t0\tc.jpg\n");
    GraphBuilder builder;
    builder.Add("ImageList", {},
                {{"listing", StringValue(list)},
                 {"root", StringValue(folder_ / "class")},
                 {"columns", ir::StringsValue({"image"})}});
    return builder;
  }
  GraphBuilder Text() const {
    GraphBuilder builder;
    builder.Add("Text", {}, {{"patterns", ir::StringsValue({folder_ / "class/*"})}});
    return builder;
  }

  // The values of the first column, where the file is half written once it is about to be read.
  std::vector<std::string> ReadHalf(const GraphBuilder& builder) { return ReadHalf(*builder.Build(), OptionsOf({})); }
  std::vector<std::string> ReadHalf(const ir::proto::Graph& graph, PipelineOptions options) {
    const FaultyFileSystem files(LocalFileSystem(), [this](std::string_view call, const std::string& path) {
      if ((call == "Read" || call == "Open") && path == Changing()) folder_.Write("class/b.jpg", kHalf);
      return absl::OkStatus();
    });
    options.files = &files;
    return Values(graph, options);
  }
  std::vector<std::string> Values(const ir::proto::Graph& graph, PipelineOptions options) {
    options.epochs = {0, 1};
    const absl::StatusOr<Ran> ran = RunOnce(graph, std::move(options));
    EXPECT_TRUE(ran.ok() && ran->error.ok()) << ran.status() << ran->error;
    std::vector<std::string> values;
    for (const RanRow& row : ran->rows) {
      for (int64_t i = 0; i < row.columns[0].elements(); ++i) values.emplace_back(row.columns[0].bytes_at(i));
    }
    return values;
  }
  static std::vector<std::string> Twice(std::string_view b) {
    std::vector<std::string> values;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const std::string_view value : {kWhole, b, kWhole}) values.emplace_back(value);
    }
    return values;
  }

  TemporaryFolder folder_;
  TemporaryFolder listed_;
  TemporaryFolder kept_;
};

TEST_F(ChangedFiles, AreGivenAsTheyAre) {
  for (const GraphBuilder& builder : {Files(), ImageFolder(), ImageList(), Text()}) {
    folder_.Write("class/b.jpg", kWhole);
    EXPECT_EQ(ReadHalf(builder), Twice(kHalf));
  }
}

TEST_F(ChangedFiles, AreKeptByNoCache) {
  std::vector<GraphBuilder> below = {Files(), ImageFolder(), Text(), Files(), Files(), Files(), Files(), ImageList()};
  below[3].Add("batch", {0}, {{"size", IntValue(3)}});
  below[4].Add("batch", {0}, {{"size", IntValue(2)}});
  below[4].Add("unbatch", {1});
  below[5].Add("Range", {}, {{"stop", IntValue(3)}});
  below[5].Add("zip", {0, 1});
  below[6].Add("shuffle", {0}, {{"window", IntValue(1)}});
  below[6].Add("repeat", {1}, {{"count", IntValue(1)}});
  for (size_t i = 0; i < below.size(); ++i) {
    GraphBuilder builder = below[i];
    const auto last = static_cast<uint32_t>(builder.raw().nodes_size() - 1);
    for (const bool folder : {false, true}) {
      GraphBuilder cached = builder;
      if (folder) {
        cached.Add("cache", {last}, {{"directory", StringValue(kept_ / Cat(i))}, {"memory", IntValue(0)}});
      } else {
        cached.Add("cache", {last});
      }
      PipelineOptions options = OptionsOf({});
      options.shelf = std::make_shared<CacheShelf>();
      folder_.Write("class/b.jpg", kWhole);
      EXPECT_EQ(ReadHalf(*cached.Build(), options), Twice(kHalf)) << i;
      folder_.Write("class/b.jpg", kWhole);
      EXPECT_EQ(Values(*cached.Build(), options), Twice(kWhole)) << i << (folder ? " in a folder" : " in memory");
    }
  }
}

TEST_F(ChangedFiles, AreKeptByNoAutomaticCache) {
  GraphBuilder builder = Files();
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"data"}, {"data"}, {{"function", ir::ReferenceValue("same")}});
  const ir::proto::Graph graph = *ir::InsertCaches(*builder.Build());
  RunSpec spec;
  spec.kept_point = 0;
  spec.bindings.functions["same"] = std::make_shared<FakeFunction>(
      [](absl::Span<const Tensor> inputs, RowRandom*) { return std::vector<Tensor>{inputs[0]}; });
  PipelineOptions options = OptionsOf(spec);
  options.cache_folder = kept_.path();
  EXPECT_EQ(ReadHalf(graph, options), Twice(kHalf));
  folder_.Write("class/b.jpg", kWhole);
  EXPECT_EQ(Values(graph, options), Twice(kWhole));
  for (const char* name : {"a", "c"}) folder_.Write(Cat("class/", name, ".jpg"), "THE WHOLE FILE");
  EXPECT_EQ(Values(graph, options), Twice(kWhole)) << "the others were kept, and one that was whole later";
}

TEST_F(ChangedFiles, HaveTheListingMadeAnew) {
  for (const GraphBuilder& builder : {ImageFolder(), ImageList()}) {
    folder_.Write("class/b.jpg", kWhole);
    const std::vector<Fingerprint> before = RunOnce(*builder.Build(), OptionsOf({}))->fingerprints;
    ReadHalf(builder);
    EXPECT_FALSE(RunOnce(*builder.Build(), OptionsOf({}))->fingerprints == before);
  }
}

TEST_F(ChangedFiles, OfAListAreNoticedWhereTheyAreRemoved) {
  const ir::proto::Graph graph = *ImageList().Build();
  const std::vector<Fingerprint> before = RunOnce(graph, OptionsOf({}))->fingerprints;
  std::filesystem::remove(Changing());
  EXPECT_FALSE(RunOnce(graph, OptionsOf({}))->fingerprints == before);
}

// In the middle of its lines, so that the reader has begun.
std::string LinesOf(size_t bytes) {
  std::string lines(bytes, 'x');
  for (size_t at = 99; at < bytes; at += 100) lines[at] = '\n';
  return lines;
}

TEST_F(ChangedFiles, EndATextInAnErrorWhereItShrinksOrGrowsMeanwhile) {
  for (const size_t size : {size_t{100'000}, size_t{900'000}}) {
    const std::string path = folder_.Write("class/b.jpg", LinesOf(600'000));
    int reads = 0;
    const FaultyFileSystem files(LocalFileSystem(), [&](std::string_view call, const std::string& read) {
      if (call == "ReadAt" && read == path && ++reads == 2) folder_.Write("class/b.jpg", LinesOf(size));
      return absl::OkStatus();
    });
    PipelineOptions options = OptionsOf({});
    options.files = &files;
    const absl::StatusOr<Ran> ran = RunOnce(*Text().Build(), options);
    ASSERT_TRUE(ran.ok());
    EXPECT_EQ(KindOf(ran->error), ErrorKind::kData);
    EXPECT_THAT(DescribeError(ran->error), HasSubstr(Cat(path, " was written to while it was read")));
    EXPECT_GT(ran->rows.size(), 1u);
  }
}

TEST_F(ChangedFiles, OfATextThatWasCutOffCannotBeReadOn) {
  const GraphBuilder builder = Text();
  PipelineOptions options = OptionsOf({});
  options.checkpoint = {4, 2, 0, 0, 2, 10};  // rows, next split, turn, rows in it, split plus one, byte
  const FaultyFileSystem files(LocalFileSystem(), [this](std::string_view call, const std::string& path) {
    if (call == "Open" && path == Changing()) folder_.Write("class/b.jpg", kHalf);
    return absl::OkStatus();
  });
  options.files = &files;
  const absl::StatusOr<Ran> ran = RunOnce(*builder.Build(), options);
  ASSERT_TRUE(ran.ok());
  EXPECT_THAT(DescribeError(ran->error), HasSubstr("b.jpg has 6 bytes, and was to be read on from byte 10"));
}

}  // namespace
}  // namespace headrace

// What holds of every format over a far store: the rows are those of local files, with and without an index, on any
// rank; and a rank that has a run of bytes asks for no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/far_listings.h"
#include "io/files/testing/memory_store.h"
#include "ir/graph.pb.h"
#include "ops/source/testing/source_format.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringValue;

constexpr std::string_view kFarFolder = "mem://bucket/set";

class FarFormat : public FormatTest {
 protected:
  // Puts the files that were written into the store, too.
  void PutAll() {
    for (size_t file = 0; file < records_.size(); ++file) {
      const absl::StatusOr<Tensor> bytes = LocalFileSystem()->Read(PathOf(file));
      ASSERT_TRUE(bytes.ok());
      store_.Put(Cat(kFarFolder, "/f", file), bytes->bytes_value());
    }
  }
  Ran RunFar(const GraphBuilder::Given& attributes, const ShardAssignment& shard, bool pull) {
    RunSpec spec;
    spec.shard = shard;
    PipelineOptions options = OptionsOf(spec);
    options.pull = pull;
    options.files = listings_.Over(&store_);
    const absl::StatusOr<Ran> ran = RunOnce(*SourceIn(kFarFolder, attributes).Build(), std::move(options));
    if (!ran.ok() || !ran->error.ok()) {
      ADD_FAILURE() << DescribeError(ran.ok() ? ran->error : ran.status());
      return {};
    }
    return *ran;
  }
  std::vector<std::string> FarTexts(const GraphBuilder::Given& attributes, const ShardAssignment& shard, bool pull) {
    return RunFar(attributes, shard, pull).Texts(0);
  }

  MemoryStore store_{{.completes = MemoryStore::Completes::kOnThread}};
  FarListings listings_;
};

class FarSplitFormat : public FarFormat {};
class FarNumberedFormat : public FarFormat {};

INSTANTIATE_TEST_SUITE_P(All, FarSplitFormat, ::testing::ValuesIn(SplitFormats()), NameOfFormat);
INSTANTIATE_TEST_SUITE_P(Compressed, FarSplitFormat, ::testing::ValuesIn(CompressedFormats()), NameOfFormat);
INSTANTIATE_TEST_SUITE_P(All, FarNumberedFormat, ::testing::ValuesIn(NumberedFormats()), NameOfFormat);

TEST_P(FarSplitFormat, GivesTheRowsOfLocalFiles) {
  Write({20, 0, 1, 37});
  PutAll();
  for (const char* sharding : {"rows", "splits", "contiguous"}) {
    const GraphBuilder::Given way = {{"shuffle", BoolValue(true)},
                                     {"interleave", IntValue(3)},
                                     {"split_bytes", IntValue(50)},
                                     {"sharding", StringValue(sharding)}};
    for (const ShardAssignment& shard : {ShardAssignment{0, 1}, ShardAssignment{1, 3}}) {
      const std::vector<std::string> local = TextsOf(Source(way), shard, 0);
      EXPECT_EQ(FarTexts(way, shard, true), local) << sharding;
      EXPECT_EQ(FarTexts(way, shard, false), local) << sharding;
    }
  }
}

// No other requests than these are made for a rank's rows, but for the last record, which may end in the next part.
TEST_P(FarSplitFormat, AsksForARanksOwnBytesAlone) {
  if (GetParam().whole_files) GTEST_SKIP() << "its files are not cut";
  constexpr size_t kLong = 3000;
  Write({60}, kLong);
  PutAll();
  const auto bytes = static_cast<int64_t>(store_.Get(Cat(kFarFolder, "/f0")).size());
  constexpr uint64_t kWorld = 4;
  std::vector<std::string> all;
  for (uint64_t rank = 0; rank < kWorld; ++rank) {
    store_.ForgetRequests();
    RunSpec spec;
    spec.shard = {rank, kWorld};
    spec.epochs = 1;
    PipelineOptions options = OptionsOf(spec);
    options.files = listings_.Over(&store_);
    const GraphBuilder::Given way = {{"sharding", StringValue("contiguous")}};
    const absl::StatusOr<Ran> ran = RunOnce(*SourceIn(kFarFolder, way).Build(), std::move(options));
    ASSERT_TRUE(ran.ok() && ran->error.ok());
    const std::vector<std::string> texts = ran->Texts(0);
    all.insert(all.end(), texts.begin(), texts.end());
    EXPECT_LE(store_.given(), bytes / static_cast<int64_t>(kWorld) + 4 * static_cast<int64_t>(kLong) + 8192) << rank;
  }
  EXPECT_EQ(all, rows_);
}

TEST_P(FarSplitFormat, WarnsWhereEveryRankReadsAll) {
  Write({5, 3});
  PutAll();
  for (const uint64_t world : {uint64_t{1}, uint64_t{2}}) {
    for (const char* sharding : {"rows", "splits"}) {
      RunSpec spec;
      spec.shard = {0, world};
      PipelineOptions options = OptionsOf(spec);
      options.files = listings_.Over(&store_);
      const auto pipeline =
          Pipeline::Make(*SourceIn(kFarFolder, {{"sharding", StringValue(sharding)}}).Build(), options);
      ASSERT_TRUE(pipeline.ok());
      uint64_t warnings = 0;
      for (const WarningReport& report : (*pipeline)->report().warnings) warnings += report.rows;
      EXPECT_EQ(warnings, world == 2 && sharding == std::string_view("rows") ? 1u : 0u);
    }
  }
}

TEST_P(FarNumberedFormat, GivesTheRowsOfLocalFiles) {
  Write({20, 3, 37});
  PutAll();
  for (const bool shuffle : {false, true}) {
    const GraphBuilder::Given way = {{"shuffle", BoolValue(shuffle)}};
    for (const ShardAssignment& shard : {ShardAssignment{0, 1}, ShardAssignment{1, 3}}) {
      const std::vector<std::string> local = TextsOf(Source(way), shard, 0);
      EXPECT_EQ(FarTexts(way, shard, true), local) << shuffle;
      EXPECT_EQ(FarTexts(way, shard, false), local) << shuffle;
    }
  }
}

TEST_P(FarNumberedFormat, RefusesAnotherVersion) {
  Write({20, 3});
  PutAll();
  RunSpec spec;
  PipelineOptions options = OptionsOf(spec);
  options.files = listings_.Over(&store_);
  const absl::StatusOr<std::unique_ptr<Pipeline>> pipeline =
      Pipeline::Make(*SourceIn(kFarFolder, {}).Build(), std::move(options));
  ASSERT_TRUE(pipeline.ok()) << DescribeError(pipeline.status());
  store_.Put(Cat(kFarFolder, "/f0"), store_.Get(Cat(kFarFolder, "/f0")));
  (*pipeline)->Ask(0);
  ResultRow row;
  EXPECT_THAT(DescribeError((*pipeline)->Next(std::chrono::seconds(30), row).status()),
              ::testing::HasSubstr("changed since it was listed"));
}

}  // namespace
}  // namespace headrace

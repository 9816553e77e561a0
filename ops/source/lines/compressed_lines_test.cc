// What holds of all sources of lines over files that are compressed: they give the rows of the plain files, with the
// same keys, in every way of running them, to any ranks and from any state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

struct CompressedCase {
  std::string op;
  std::string head;  // of each file
  std::string (*line)(int number);
  GraphBuilder::Given more = {};
};

std::vector<CompressedCase> CompressedCases() {
  return {{"Text", "", [](int number) { return Cat(number, std::string(static_cast<size_t>(number * 7 % 30), 'x')); }},
          {"Csv",
           "v,n\n",
           [](int number) { return Cat("\"", number, "\",", number); },
           {{"fields", StringsValue({"n int64", "v string"})}}},
          {"JsonLines",
           "",
           [](int number) { return Cat("{\"n\": ", number, "}"); },
           {{"fields", StringsValue({"n int64"})}}},
          {"LibSvm", "# none\n", [](int number) { return Cat("1 3:", number); }}};
}

class CompressedLines : public ::testing::TestWithParam<CompressedCase> {
 protected:
  // Files of so many lines each: the first is plain, the others are gzip and zstd in turn.
  void Write(const std::vector<int>& counts, bool plain = false) {
    int number = 0;
    for (size_t file = 0; file < counts.size(); ++file) {
      std::string bytes = GetParam().head;
      for (int line = 0; line < counts[file]; ++line) Append(bytes, GetParam().line(number++), "\n");
      const Compression compression = file % 2 == 1 ? Compression::kGzip : Compression::kZstd;
      folder_.Write(Cat("f", file), file == 0 || plain ? bytes : Compress(compression, bytes));
    }
  }
  GraphBuilder Source(GraphBuilder::Given attributes = {}) const {
    GraphBuilder builder;
    attributes.emplace_back("patterns", StringsValue({folder_ / "f*"}));
    attributes.insert(attributes.end(), GetParam().more.begin(), GetParam().more.end());
    builder.Add(GetParam().op, {}, attributes);
    return builder;
  }
  static std::vector<GraphBuilder::Given> Ways() {
    return {{},
            {{"split_bytes", IntValue(9)}, {"interleave", IntValue(3)}},
            {{"shuffle", BoolValue(true)}, {"split_bytes", IntValue(40)}},
            {{"sharding", StringValue("splits")}, {"split_bytes", IntValue(9)}},
            {{"sharding", StringValue("contiguous")}, {"split_bytes", IntValue(50)}, {"shuffle", BoolValue(true)}}};
  }
  static Ran RunRank(const GraphBuilder& builder, const ShardAssignment& shard) {
    RunSpec spec;
    spec.shard = shard;
    const auto ran = RunOnce(*builder.Build(), OptionsOf(spec));
    EXPECT_TRUE(ran.ok()) << ran.status();
    return ran.ok() ? *ran : Ran();
  }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(All, CompressedLines, ::testing::ValuesIn(CompressedCases()),
                         [](const auto& each) { return each.param.op; });

TEST_P(CompressedLines, AreTheRowsOfThePlainFilesInEveryWay) {
  Write({15, 20, 0, 9}, true);
  const Ran plain = RunEveryWay(Source());
  ASSERT_EQ(plain.Texts(1).size(), 44u);
  Write({15, 20, 0, 9});
  const Ran in_order = RunEveryWay(Source());
  EXPECT_EQ(in_order.Texts(1), plain.Texts(1));
  EXPECT_EQ(in_order.Keys(1), plain.Keys(1));
  for (const GraphBuilder::Given& way : Ways()) {
    const Ran ran = RunEveryWay(Source(way));
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(plain.Texts(1)));
    EXPECT_THAT(ran.Keys(1), UnorderedElementsAreArray(plain.Keys(1)));
  }
}

TEST_P(CompressedLines, AreEachOfOneRank) {
  Write({20, 30, 1, 17, 0, 25});
  const std::vector<std::string> rows = RunRank(Source(), {}).Texts(1);
  ASSERT_EQ(rows.size(), 93u);
  for (const GraphBuilder::Given& way : Ways()) {
    for (const uint64_t world : {1, 2, 3, 20}) {
      std::vector<std::string> all;
      for (uint64_t rank = 0; rank < world; ++rank) {
        const std::vector<std::string> part = RunRank(Source(way), {rank, world}).Texts(1);
        all.insert(all.end(), part.begin(), part.end());
      }
      EXPECT_THAT(all, UnorderedElementsAreArray(rows)) << world;
    }
  }
}

TEST_P(CompressedLines, OfOneFileStayTogether) {
  Write({1, 300, 300});
  for (const char* sharding : {"splits", "contiguous"}) {
    std::vector<size_t> sizes;
    for (uint64_t rank = 0; rank < 7; ++rank) {
      const GraphBuilder::Given way = {{"sharding", StringValue(sharding)}, {"split_bytes", IntValue(20)}};
      const size_t rows = RunRank(Source(way), {rank, 7}).Texts(1).size();
      if (rows > 1) sizes.push_back(rows);
    }
    size_t sum = 0;
    for (const size_t size : sizes) {
      EXPECT_TRUE(size % 300 <= 1) << size;
      sum += size / 300;
    }
    EXPECT_EQ(sum, 2u) << sharding;
  }
}

TEST_P(CompressedLines, GoOnExactlyOnEveryRank) {
  Write({9, 20, 15});
  for (uint64_t rank = 0; rank < 2; ++rank) {
    RunSpec spec;
    spec.shard = {rank, 2};
    spec.threaded_restart_every = 20;
    RunEveryWay(Source({{"shuffle", BoolValue(true)}, {"interleave", IntValue(2)}, {"split_bytes", IntValue(40)}}),
                spec);
  }
}

TEST_P(CompressedLines, EndWithTheDamageThatComesAfterThem) {
  Write({3, 40});
  const Ran whole = RunRank(Source(), {});
  const std::string bytes = GetParam().head + GetParam().line(3) + "\n" + GetParam().line(4) + "\ntorn";
  const std::string path = folder_.Write("f1", Compress(Compression::kGzip, bytes) + "other bytes");
  for (const bool skips : {false, true}) {
    GraphBuilder builder = Source();
    if (skips) builder.SkipFailed(10);
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
    EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), Cat(path, ", byte ", bytes.size() - 4));
    EXPECT_THAT(ToStd(ran.error.message()), HasSubstr("gzip data are damaged near its byte"));
    const std::vector<std::string> texts = whole.Texts(0);
    EXPECT_EQ(ran.Texts(0), std::vector<std::string>(texts.begin(), texts.begin() + 5));
  }
}

TEST_P(CompressedLines, HaveNoIndex) {
  Write({3, 4});
  EXPECT_THAT(Refusal(Source({{"index", StringValue("build")}})), HasSubstr("compressed by gzip"));
}

}  // namespace
}  // namespace headrace

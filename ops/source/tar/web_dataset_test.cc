// WebDataset, over archives that are written here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/tar/testing/tar_bytes.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntValue;
using ir::PairsValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

using Texts = std::vector<std::string>;

class WebDatasetSource : public ::testing::Test {
 protected:
  GraphBuilder Source(const Texts& fields, const Texts& readings, GraphBuilder::Given more = {}) const {
    more.emplace_back("paths", StringsValue({folder_ / "*.tar*"}));
    more.emplace_back("fields", StringsValue(fields));
    more.emplace_back("readings", StringsValue(readings));
    GraphBuilder builder;
    builder.Add("WebDataset", {}, more);
    return builder;
  }
  // With an index and without.
  std::vector<GraphBuilder> Ways(const Texts& fields, const Texts& readings, GraphBuilder::Given more = {}) const {
    std::vector<GraphBuilder> ways = {Source(fields, readings, more)};
    more.emplace_back("index", StringsValue({"build"}));
    ways.push_back(Source(fields, readings, more));
    return ways;
  }
  // Archives of so many samples each.
  Texts WriteShards(const std::vector<int>& counts) {
    Texts rows;
    for (size_t shard = 0; shard < counts.size(); ++shard) {
      TarFiles files;
      for (int i = 0; i < counts[shard]; ++i) {
        const std::string data(static_cast<size_t>(i * i % 900), 'x');
        files.emplace_back(Cat(i, ".jpg"), data);
        files.emplace_back(Cat(i, ".cls"), std::to_string(i));
        rows.push_back(Cat("jpg='", data, "', cls=", i));
      }
      folder_.Write(Cat(shard, ".tar"), TarBytes(files));
    }
    return rows;
  }

  TemporaryFolder folder_;
};

const Texts kFields = {"jpg bytes ()", "cls int64 ()"};
const Texts kHow = {"bytes", "text"};

TEST_F(WebDatasetSource, GivesTheSameRowsWithAnIndexAndWithout) {
  const Texts rows = WriteShards({20, 0, 7});
  for (const GraphBuilder& builder : Ways(kFields, kHow)) {
    const Ran ran = RunEveryWay(builder);
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_EQ(ran.Texts(0), rows);
    EXPECT_EQ(ran.Texts(1), rows);
  }
}

TEST_F(WebDatasetSource, GivesEachSampleOnceToAnyRanks) {
  const Texts rows = WriteShards({20, 1, 7, 30});
  for (const bool shuffle : {false, true}) {
    for (const char* sharding : {"rows", "splits"}) {
      const GraphBuilder builder =
          Source(kFields, kHow, {{"shuffle", BoolValue(shuffle)}, {"sharding", StringValue(sharding)}});
      Texts all;
      for (const Ran& rank : RunRanks(builder, 3)) {
        for (const std::string& text : rank.Texts(1)) all.push_back(text);
      }
      EXPECT_THAT(all, UnorderedElementsAreArray(rows)) << sharding;
      EXPECT_THAT(RunEveryWay(builder).Texts(1), UnorderedElementsAreArray(rows));
    }
  }
}

TEST_F(WebDatasetSource, ShardsEvenlyByNumber) {
  const Texts rows = WriteShards({9, 2});
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  size_t given = 0;
  for (const Ran& rank : RunRanks(Ways(kFields, kHow, {{"shuffle", BoolValue(true)}})[1], 4, spec)) {
    EXPECT_EQ(rank.Keys(1).size(), 3u);
    given += rank.Keys(1).size();
  }
  EXPECT_EQ(given, 12u);
  spec.shard = {0, 4, 0, ShardAssignment::Even::kDrop};
  EXPECT_THAT(Refusal(Source(kFields, kHow), spec),
              AllOf(HasSubstr("even="), HasSubstr("index=\"build\" or the path of an index")));
}

TEST_F(WebDatasetSource, TakesTheIndexOfWds2idx) {
  const TarFiles files = {{"0.jpg", "a"}, {"0.cls", "1"}, {"1.jpg", "b"}, {"1.cls", "2"}};
  folder_.Write("0.tar", TarBytes(files));
  const std::string index = folder_.Write("0.idx", WdsIndexBytes({{files[0], files[1]}, {files[2], files[3]}}));
  const Ran ran = RunEveryWay(Source(kFields, kHow, {{"index", StringsValue({index})}}));
  EXPECT_THAT(ran.Texts(1), ElementsAre("jpg='a', cls=1", "jpg='b', cls=2"));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(2));
  folder_.Write("1.tar", TarBytes(files));
  EXPECT_THAT(Refusal(Source(kFields, kHow, {{"index", StringsValue({index})}})),
              HasSubstr("index names 1 file and paths 2"));
}

TEST_F(WebDatasetSource, ReadsCompressedArchivesFromTheirStart) {
  const Texts rows = WriteShards({20, 7});
  for (const Compression compression :
       {Compression::kGzip, Compression::kZstd, Compression::kBzip2, Compression::kXz}) {
    TarFiles files;
    for (int i = 0; i < 20; ++i) {
      files.emplace_back(Cat(i, ".jpg"), std::string(static_cast<size_t>(i * i % 900), 'x'));
      files.emplace_back(Cat(i, ".cls"), std::to_string(i));
    }
    folder_.Write("0.tar", Compress(compression, TarBytes(files)));
    EXPECT_EQ(RunEveryWay(Source(kFields, kHow)).Texts(1), rows);
    EXPECT_THAT(Refusal(Ways(kFields, kHow)[1]),
                AllOf(HasSubstr("decompress it, or leave out index="), HasSubstr("0.tar")));
  }
}

TEST_F(WebDatasetSource, GivesTheKeyTheArchiveAndTheNames) {
  const std::string path = folder_.Write("0.tar", TarBytes({{"d/0.A.txt", "x"}, {"d/0.b", "y"}}));
  for (const GraphBuilder& builder :
       Ways({"__key__ string ()", "__url__ string ()", "__fields__ string (None,)"}, {"key", "url", "names"})) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1),
                ElementsAre(Cat("__key__='d/0', __url__='", path, "', __fields__=string (2,) ['a.txt' 'b']")));
  }
}

TEST_F(WebDatasetSource, NamesASampleWithoutAField) {
  folder_.Write(
      "0.tar",
      TarBytes({{"0.jpg", "a"}, {"0.cls", "1"}, {"1.jpg", "b"}, {"1.txt", "c"}, {"2.jpg", "d"}, {"2.cls", "3"}}));
  for (GraphBuilder& builder : Ways(kFields, kHow)) {
    const Ran ran = RunEveryWay(builder);
    EXPECT_EQ(ran.rows.size(), 1u);
    EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
    EXPECT_THAT(DescribeError(ran.error),
                AllOf(HasSubstr("the sample \"1\" has no field \"cls\"; it has jpg, txt"),
                      HasSubstr("missing={\"cls\": 0}"), HasSubstr(Cat(folder_ / "0.tar", ", byte 2048"))));
    builder.SkipFailed(1);
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("jpg='a', cls=1", "jpg='d', cls=3"));
  }
}

TEST_F(WebDatasetSource, EndsAtDamageAfterTheSamplesBefore) {
  const std::string bytes = TarBytes({{"0.jpg", "a"}, {"0.cls", "1"}, {"1.jpg", "b"}, {"1.cls", "2"}});
  folder_.Write("0.tar", bytes.substr(0, bytes.size() - 1024));
  const Ran cut = RunEveryWay(Source(kFields, kHow));
  EXPECT_THAT(cut.Texts(0), ElementsAre("jpg='a', cls=1"));
  EXPECT_THAT(DescribeError(cut.error),
              AllOf(HasSubstr("without the two blocks of zeros"), HasSubstr(Cat(folder_ / "0.tar", ", byte 2048"))));
  EXPECT_THAT(Refusal(Ways(kFields, kHow)[1]), HasSubstr("without the two blocks of zeros"));
  folder_.Write("0.tar", "");
  EXPECT_THAT(DescribeError(RunEveryWay(Source(kFields, kHow)).error), HasSubstr("the file is empty"));
}

TEST_F(WebDatasetSource, TellsWhenTheDataChanged) {
  WriteShards({3});
  const Fingerprint before = RunEveryWay(Ways(kFields, kHow)[1]).fingerprints.at(0);
  EXPECT_EQ(before.count, 3u);
  folder_.Write("0.tar", TarBytes({{"0.jpg", "a"}, {"0.cls", "1"}}));
  EXPECT_NE(RunEveryWay(Ways(kFields, kHow)[1]).fingerprints.at(0), before);
}

TEST_F(WebDatasetSource, GivesTheColumnsAskedFor) {
  WriteShards({2});
  for (const GraphBuilder& builder : Ways(kFields, kHow, {{"columns", StringsValue({"cls"})}})) {
    EXPECT_THAT(RunEveryWay(builder).Texts(1), ElementsAre("cls=0", "cls=1"));
  }
}

TEST_F(WebDatasetSource, RefusesWhatCannotBe) {
  WriteShards({2});
  const auto refusal = [&](const Texts& fields, const Texts& readings, GraphBuilder::Given more = {}) {
    return Refusal(Source(fields, readings, std::move(more)));
  };
  EXPECT_THAT(refusal({}, {}), HasSubstr("has no columns"));
  EXPECT_THAT(refusal({"jpg bytes ()"}, {}), HasSubstr("says of 0 how they are read"));
  EXPECT_THAT(refusal({"jpg bytes ()", "jpg bytes ()"}, {"bytes", "bytes"}), HasSubstr("comes twice"));
  EXPECT_THAT(refusal({"jpg"}, {"bytes"}), HasSubstr("has no type"));
  EXPECT_THAT(refusal({"jpg bytes ()"}, {"pickle"}), HasSubstr("is read as pickle, which is not known"));
  EXPECT_THAT(refusal({"jpg int64 ()"}, {"bytes"}), HasSubstr("cannot be read as bytes"));
  EXPECT_THAT(refusal({"cls int64 (3,)"}, {"text"}), HasSubstr("cannot be read as text"));
  EXPECT_THAT(refusal({"x.npy string ()"}, {"npy"}), HasSubstr("cannot be read as npy"));
  EXPECT_THAT(refusal({"json.a int64 ()"}, {"json:b"}), HasSubstr("not named by its field and the key"));
  const GraphBuilder::Given missing = {{"missing", PairsValue({{"cls", "\"x\""}})}};
  EXPECT_THAT(refusal(kFields, kHow, missing), HasSubstr("missing: \"cls\" is \"x\""));
  EXPECT_THAT(refusal(kFields, kHow, {{"missing", PairsValue({{"png", "0"}})}}), HasSubstr("no column \"png\""));
  EXPECT_THAT(refusal(kFields, kHow, {{"missing", PairsValue({{"jpg", "0"}})}}), HasSubstr("no text of bytes"));
  EXPECT_THAT(refusal(kFields, kHow, {{"index", StringsValue({"build"})}, {"interleave", IntValue(2)}}),
              HasSubstr("interleave= is for reading in splits"));
  GraphBuilder command;
  command.Add(
      "WebDataset", {},
      {{"paths", StringsValue({"pipe:cat x"})}, {"fields", StringsValue(kFields)}, {"readings", StringsValue(kHow)}});
  EXPECT_THAT(Refusal(command), HasSubstr("commands are never run"));
}

}  // namespace
}  // namespace headrace

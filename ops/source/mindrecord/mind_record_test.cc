#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/counted_reads.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/mindrecord/testing/mind_bytes.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntsValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class MindRecord : public ::testing::Test {
 protected:
  static constexpr char kTestData[] = "io/formats/mindrecord/testdata/";

  static GraphBuilder SourceOf(const std::vector<std::string>& paths, bool one, GraphBuilder::Given attributes = {}) {
    attributes.emplace_back("paths", StringsValue(paths));
    attributes.emplace_back("one", BoolValue(one));
    if (std::none_of(attributes.begin(), attributes.end(), [](const auto& each) { return each.first == "fields"; })) {
      attributes.emplace_back("fields", StringsValue({"data bytes", "label int32"}));
    }
    GraphBuilder builder;
    builder.Add("MindRecord", {}, attributes);
    return builder;
  }
  GraphBuilder Source(GraphBuilder::Given attributes = {}) const {
    return SourceOf({folder_ / "x0"}, true, std::move(attributes));
  }
  // A set of files of so many rows each; returns the rows.
  std::vector<std::string> Write(const std::vector<int>& counts) {
    std::vector<std::string> texts;
    MindBytesOptions options;
    options.header_size = 8192;
    options.rows_in_page = 4;
    options.shard_addresses.clear();
    for (size_t file = 0; file < counts.size(); ++file) options.shard_addresses.push_back(Cat("x", file));
    for (size_t file = 0; file < counts.size(); ++file) {
      std::vector<MindBytesRow> rows;
      for (int i = 0; i < counts[file]; ++i) {
        const std::string data = Cat(file, "-", i, std::string(static_cast<size_t>(i * 7 % 31), 'x'));
        rows.push_back(MindLabelRow(static_cast<int64_t>(texts.size()), data));
        texts.push_back(Cat("data='", data, "', label=", texts.size()));
      }
      options.shard_id = static_cast<int>(file);
      folder_.Write(Cat("x", file), MindFileBytes(rows, options));
    }
    return texts;
  }

  TemporaryFolder folder_;
};

TEST_F(MindRecord, GivesTheRowsOfASetInEveryWay) {
  const std::vector<std::string> rows = Write({9, 0, 5, 1});
  const Ran ran = RunEveryWay(Source());
  for (const uint64_t epoch : {0, 1}) EXPECT_EQ(ran.Texts(epoch), rows);
  EXPECT_EQ(ran.cardinality, Cardinality::Of(15));
  EXPECT_EQ(ran.Keys(1)[14], 14u);
  EXPECT_EQ(RunEveryWay(SourceOf({folder_ / "x2"}, true)).Texts(), rows);
}

TEST_F(MindRecord, TakesListsPatternsAndFolders) {
  const std::vector<std::string> rows = Write({2, 3});
  folder_.Write("x0.db", "SQLite format 3");
  folder_.Write("x1.hridx", "an index");
  const auto texts = [](const std::vector<std::string>& paths, bool one) {
    return RunEveryWay(SourceOf(paths, one)).Texts();
  };
  EXPECT_EQ(texts({folder_ / "x1"}, false), std::vector<std::string>(rows.begin() + 2, rows.end()));
  EXPECT_EQ(texts({folder_ / "x*"}, true), rows);
  EXPECT_EQ(texts({folder_.path()}, true), rows);
  const std::vector<std::string> swapped = texts({folder_ / "x1", folder_ / "x0"}, false);
  EXPECT_THAT(swapped, ElementsAre(rows[2], rows[3], rows[4], rows[0], rows[1]));
  EXPECT_THAT(Refusal(SourceOf({folder_ / "x0.db"}, true)), HasSubstr("name the file without .db"));
  EXPECT_THAT(Refusal(SourceOf({folder_ / "y"}, true)), HasSubstr("y"));
  EXPECT_THAT(Refusal(SourceOf({folder_ / "*.db"}, true)), HasSubstr("only indices"));
}

TEST_F(MindRecord, GivesTheColumnsThatAreAskedFor) {
  Write({2});
  EXPECT_THAT(RunEveryWay(Source({{"columns", StringsValue({"label"})}})).Texts(), ElementsAre("label=0", "label=1"));
  EXPECT_THAT(RunEveryWay(Source({{"columns", StringsValue({"label", "data"})}})).Texts(),
              ElementsAre("label=0, data='0-0'", "label=1, data='0-1xxxxxxx'"));
  EXPECT_THAT(Refusal(Source({{"columns", StringsValue({"lable"})}})), HasSubstr("label"));
  EXPECT_THAT(Refusal(Source({{"columns", StringsValue({"label", "label"})}})), HasSubstr("twice"));
}

TEST_F(MindRecord, ReadsWhatItsColumnsNeed) {
  MindBytesOptions options;
  options.page_size = 1 << 20;
  folder_.Write("x0", MindFileBytes({MindLabelRow(1, std::string(300'000, 'x'))}, options));
  const auto bytes = [&](const char* column) {
    const CountedReads files(LocalFileSystem());
    PipelineOptions run = OptionsOf({});
    run.files = &files;
    EXPECT_TRUE(RunOnce(*Source({{"columns", StringsValue({column})}}).Build(), run).ok());
    return files.bytes();
  };
  EXPECT_LT(bytes("label"), 10'000);
  EXPECT_GT(bytes("data"), 300'000);
}

TEST_F(MindRecord, ShufflesShardsAndIsChosenFrom) {
  const std::vector<std::string> rows = Write({20, 13});
  const Ran ran = RunEveryWay(Source({{"shuffle", BoolValue(true)}}));
  for (const uint64_t epoch : {0, 1}) EXPECT_THAT(ran.Texts(epoch), UnorderedElementsAreArray(rows));
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
  for (const RanRow& row : ran.rows) EXPECT_EQ(row.text, rows[row.id.key]);
  GraphBuilder chosen = Source({{"shuffle", BoolValue(true)}});
  chosen.Add("select", {0}, {{"indices", IntsValue({32, 0, 20})}});
  EXPECT_THAT(RunEveryWay(chosen).Texts(1), UnorderedElementsAreArray({rows[32], rows[0], rows[20]}));
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  std::vector<std::string> all;
  for (const Ran& rank : RunRanks(Source(), 4, spec)) {
    EXPECT_EQ(rank.Texts(0).size(), 9u) << "padded";
    const std::vector<std::string> texts = rank.Texts(0);
    all.insert(all.end(), texts.begin(), texts.end());
  }
  for (const std::string& row : rows) EXPECT_NE(std::find(all.begin(), all.end(), row), all.end());
}

TEST_F(MindRecord, KeepsAnIndexWhereItIsAskedTo) {
  const std::vector<std::string> rows = Write({4, 4});
  EXPECT_EQ(RunEveryWay(Source()).Texts(), rows);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x0.hridx"));
  PipelineOptions writes = OptionsOf({});
  writes.writes = true;
  const absl::StatusOr<Ran> ran = RunOnce(*Source({{"index", StringValue("build")}}).Build(), writes);
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_EQ(ran->Texts(), rows);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "x0.hridx") && std::filesystem::exists(folder_ / "x1.hridx"));
  EXPECT_EQ(RunEveryWay(Source({{"index", StringValue("build")}})).Texts(), rows);
}

TEST_F(MindRecord, NamesARowThatIsDamagedAndGoesOnAfterIt) {
  MindBytesOptions options;
  const std::string path =
      folder_.Write("x0", MindFileBytes({MindLabelRow(1, "one"),
                                         {MindMap({{"label", MindWhole(int64_t{1} << 40)}}), "two"},
                                         MindLabelRow(3, "three")},
                                        options));
  const Ran ran = RunEveryWay(Source());
  EXPECT_THAT(ran.Texts(), ElementsAre("data='one', label=1"));
  EXPECT_THAT(DescribeError(ran.error),
              AllOf(HasSubstr("\"label\" is 1099511627776; the field's type is int32 (in page 1)"),
                    HasSubstr(Cat(path, ", record 1, byte "))));
  GraphBuilder skipping = Source();
  skipping.SkipFailed(1);
  EXPECT_THAT(RunEveryWay(skipping).Texts(1), ElementsAre("data='one', label=1", "data='three', label=3"));
  EXPECT_THAT(RunEveryWay(Source({{"columns", StringsValue({"data"})}})).Texts(),
              ElementsAre("data='one'", "data='two'", "data='three'"))
      << "what no column needs is not looked at";
}

TEST_F(MindRecord, NamesAFileThatChangedBelowIt) {
  const std::vector<std::string> rows = Write({6});
  const GraphBuilder source = Source({{"fields", StringsValue({"label int64"})}});
  EXPECT_THAT(Refusal(source), AllOf(HasSubstr("the field \"label\" is int32"), HasSubstr("make the pipeline again")));
  EXPECT_THAT(Refusal(Source({{"fields", StringsValue({"other int64"})}})), HasSubstr("there is no field \"other\""));
  std::filesystem::resize_file(folder_ / "x0", 8200);
  EXPECT_THAT(Refusal(Source()), AllOf(HasSubstr("is cut off"), HasSubstr("x0")));
}

TEST_F(MindRecord, RefusesSetsThatAreNotWhole) {
  Write({2, 2, 2});
  std::filesystem::remove(folder_ / "x1");
  EXPECT_THAT(Refusal(Source()), HasSubstr("x1 is missing"));
  folder_.Write("x1", MindFileBytes({MindLabelRow(1, "")},
                                    {.fields = R"({"label":{"type":"float32"},"data":{"type":"bytes"}})"}));
  EXPECT_THAT(Refusal(Source()), HasSubstr("another schema"));
  folder_.Write("x1", std::string(3000, '\0'));
  EXPECT_THAT(Refusal(Source()), HasSubstr("was never committed"));
}

TEST_F(MindRecord, ReadsWhatMindSporeWrote) {
  const std::string folder = kTestData;
  const Ran set = RunEveryWay(SourceOf({folder + "shards.mindrecord3"}, true,
                                       {{"fields", StringsValue({"data bytes", "file_name string", "label int32"})},
                                        {"columns", StringsValue({"file_name", "label"})}}));
  EXPECT_THAT(set.Texts(),
              ElementsAre("file_name='00.jpg', label=0", "file_name='03.jpg', label=0", "file_name='04.jpg', label=1",
                          "file_name='01.jpg', label=1", "file_name='05.jpg', label=2", "file_name='06.jpg', label=0",
                          "file_name='02.jpg', label=2", "file_name='07.jpg', label=1", "file_name='08.jpg', label=2",
                          "file_name='09.jpg', label=0"));
  const Ran second = RunEveryWay(
      SourceOf({folder + "v2.mindrecord"}, true,
               {{"fields", StringsValue({"data bytes", "ids int32 (None,)", "label int32", "mask int64 (1, None)"})}}));
  EXPECT_EQ(second.Texts()[3], "data='d3', ids=int32 (4,) [0 1000 2000 3000], label=3, mask=int64 (1, 4) [1 1 1 1]");
  const Ran scalars =
      RunEveryWay(SourceOf({folder + "scalars.mindrecord"}, true, {{"fields", StringsValue({"t string", "x int64"})}}));
  EXPECT_THAT(scalars.Texts(),
              ElementsAre("t='t0', x=-5", "t='t1', x=-4", "t='t2', x=-1", "t='t3', x=4", "t='t4', x=11"));
  const Ran bytes = RunEveryWay(SourceOf({folder + "bytes.mindrecord"}, true, {{"fields", StringsValue({"z bytes"})}}));
  EXPECT_THAT(bytes.Texts(), ElementsAreArray({std::string("z='\x01'"), std::string("z='\x02\x02'"),
                                               std::string("z='\x03\x03\x03'"), std::string("z='\x04\x04\x04\x04'")}));
}

}  // namespace
}  // namespace headrace

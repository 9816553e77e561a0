// RecordFile; that it is read in splits like other formats, split_source_test.cc shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "engine/report/explain.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/recordio/testing/record_bytes.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::IntsValue;
using ir::IntValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class RecordFile : public ::testing::Test {
 protected:
  GraphBuilder Source(GraphBuilder::Given attributes = {}) const { return SourceOf({folder_ / "*.rec"}, attributes); }
  static GraphBuilder SourceOf(const std::vector<std::string>& paths, GraphBuilder::Given attributes = {}) {
    attributes.emplace_back("paths", StringsValue(paths));
    GraphBuilder builder;
    builder.Add("RecordFile", {}, attributes);
    return builder;
  }
  GraphBuilder Indexed(GraphBuilder::Given attributes = {}) const {
    attributes.emplace_back("index", StringsValue({"build"}));
    return Source(attributes);
  }
  static std::vector<std::string> Rows(const std::vector<std::string>& records) {
    std::vector<std::string> rows;
    for (const std::string& record : records) rows.push_back(Cat("record='", record, "'"));
    return rows;
  }
  // So many records in each of some files.
  std::vector<std::string> Write(const std::vector<int>& counts) {
    std::vector<std::string> all;
    for (size_t file = 0; file < counts.size(); ++file) {
      std::vector<std::string> records;
      for (int i = 0; i < counts[file]; ++i) {
        records.push_back(Cat(file, "-", i, std::string(static_cast<size_t>(i * 7 % 31), 'x')));
      }
      folder_.Write(Cat(file, ".rec"), RecordBytes(records));
      all.insert(all.end(), records.begin(), records.end());
    }
    return Rows(all);
  }
  // What explain() says after a run.
  static std::string Explained(const GraphBuilder& builder) {
    auto iteration = Iteration::Start(*builder.Build(), {});
    if (!iteration.ok()) return DescribeError(iteration.status());
    ResultRow row;
    while (true) {
      const auto outcome = (*iteration)->Fetch(std::chrono::seconds(10), row);
      if (!outcome.ok() || *outcome != Pipeline::Outcome::kRow) break;
      (*iteration)->Given();
    }
    return ExplainRun((*iteration)->report());
  }

  TemporaryFolder folder_;
};

TEST_F(RecordFile, GivesTheSameRowsWithAnIndexAndWithout) {
  const std::vector<std::string> rows = Write({20, 0, 7});
  const Ran streamed = RunEveryWay(Source());
  const Ran indexed = RunEveryWay(Indexed());
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_EQ(streamed.Texts(epoch), rows);
    EXPECT_EQ(indexed.Texts(epoch), rows);
  }
  EXPECT_EQ(indexed.Keys(1)[26], 26u);
  EXPECT_EQ(indexed.cardinality, Cardinality::Of(27));
  EXPECT_EQ(streamed.cardinality, Cardinality::Unknown());
}

TEST_F(RecordFile, TakesIndicesInTheOrderOfItsPaths) {
  const std::vector<std::string> a = {"a0", "a1"}, b = {"b0", "b1", "b2"};
  const std::string first = folder_.Write("z.rec", RecordBytes(a)), second = folder_.Write("y.rec", RecordBytes(b));
  const std::string index = folder_.Write("1.idx", IndexBytes(a)), other = folder_.Write("0.idx", IndexBytes(b));
  const auto rows = [&](const std::vector<std::string>& paths, const std::vector<std::string>& indices) {
    return RunEveryWay(SourceOf(paths, {{"index", StringsValue(indices)}})).Texts(1);
  };
  EXPECT_EQ(rows({first, second}, {index, other}), Rows({"a0", "a1", "b0", "b1", "b2"}));
  EXPECT_EQ(rows({Cat(first, ";", second)}, {Cat(index, ";;", other)}), Rows({"a0", "a1", "b0", "b1", "b2"}));
  EXPECT_THAT(Refusal(SourceOf({first, second}, {{"index", StringsValue({index})}})),
              HasSubstr("index names 1 file and paths 2"));
}

TEST_F(RecordFile, TakesListsFoldersAndPatterns) {
  Write({1, 1, 1});
  folder_.Write("notes.txt", "none");
  const auto rows = [](const std::vector<std::string>& paths) { return RunEveryWay(SourceOf(paths)).Texts(); };
  EXPECT_THAT(rows({folder_.path()}), ElementsAreArray(Rows({"0-0", "1-0", "2-0"})));
  EXPECT_THAT(rows({Cat(folder_ / "2.rec", ";", folder_ / "[01].rec")}), ElementsAreArray(Rows({"2-0", "0-0", "1-0"})));
  EXPECT_THAT(rows({folder_ / "1.rec", folder_.path()}), ElementsAreArray(Rows({"1-0", "0-0", "2-0"})));
  EXPECT_THAT(rows({Cat("file://", folder_ / "1.rec")}), ElementsAreArray(Rows({"1-0"})));
  EXPECT_THAT(Refusal(SourceOf({folder_ / "3.rec"})), HasSubstr("3.rec"));
  EXPECT_THAT(Refusal(SourceOf({";"})), HasSubstr("no path is given"));
  EXPECT_THAT(Refusal(SourceOf({})), HasSubstr("paths is empty"));
  folder_.MakeFolder("empty");
  EXPECT_THAT(Refusal(SourceOf({folder_ / "empty"})), HasSubstr("empty/*.rec matches no file"));
}

TEST_F(RecordFile, ShufflesAllRowsWithAnIndex) {
  const std::vector<std::string> rows = Write({50, 40});
  const Ran ran = RunEveryWay(Indexed({{"shuffle", BoolValue(true)}}));
  EXPECT_THAT(ran.Texts(0), UnorderedElementsAreArray(rows));
  EXPECT_THAT(ran.Texts(1), UnorderedElementsAreArray(rows));
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
  for (const RanRow& row : ran.rows) EXPECT_EQ(row.text, rows[row.id.key]);
}

TEST_F(RecordFile, IsChosenFromByNumber) {
  const std::vector<std::string> rows = Write({6, 6});
  GraphBuilder builder = Indexed({{"shuffle", BoolValue(true)}});
  builder.Add("select", {0}, {{"indices", IntsValue({11, 0, 11, 3})}});
  EXPECT_THAT(RunEveryWay(builder).Texts(1), UnorderedElementsAreArray({rows[11], rows[0], rows[11], rows[3]}));
  GraphBuilder streamed = Source();
  streamed.Add("select", {0}, {{"indices", IntsValue({1})}});
  EXPECT_THAT(Refusal(streamed), HasSubstr("RecordFile (test.py:1) gives its rows one after the other; give it "
                                           "index=\"build\" or the path of an index"));
}

TEST_F(RecordFile, ShardsRowsEvenlyWithAnIndexAlone) {
  Write({10, 5});
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  size_t rows = 0;
  for (const Ran& rank : RunRanks(Indexed({{"shuffle", BoolValue(true)}}), 4, spec)) {
    EXPECT_EQ(rank.Keys(1).size(), 4u);
    rows += rank.Keys(1).size();
  }
  EXPECT_EQ(rows, 16u);
  spec.shard = {0, 4, 0, ShardAssignment::Even::kDrop};
  EXPECT_THAT(Refusal(Source(), spec), AllOf(HasSubstr("even="), HasSubstr("index=\"build\" or the path of an index")));
}

TEST_F(RecordFile, RefusesWaysOfReadingThatAnIndexRulesOut) {
  Write({3});
  for (const auto& [name, value] : GraphBuilder::Given{{"sharding", StringValue("contiguous")},
                                                       {"sharding", StringValue("rows")},
                                                       {"interleave", IntValue(2)},
                                                       {"split_bytes", IntValue(100)}}) {
    EXPECT_THAT(Refusal(Indexed({{name, value}})), HasSubstr(Cat(name, "= is for reading in splits")));
  }
}

TEST_F(RecordFile, NamesDamageInEitherWay) {
  const std::string bytes = RecordBytes({"one", "two"}) + std::string("\x0a\x23\xd7\xce\x40\0\0\0claims", 14);
  const std::string path = folder_.Write("0.rec", bytes);
  const Ran ran = RunEveryWay(Source());
  EXPECT_EQ(ran.Texts(), Rows({"one", "two"}));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), Cat(path, ", byte 24"));
  EXPECT_THAT(Refusal(Indexed()), AllOf(HasSubstr(path), HasSubstr("byte 24")));
  // An index may be there all the same: then the row fails.
  const GraphBuilder::Given by_index = {{"index", StringsValue({folder_.Write("x.idx", "0\t0\n1\t12\n2\t24\n")})}};
  const Ran indexed = RunEveryWay(Source(by_index));
  EXPECT_EQ(indexed.Texts(), Rows({"one", "two"}));
  EXPECT_EQ(GetErrorField(indexed.error, ErrorField::kFile), Cat(path, ", record 2, byte 24"));
  GraphBuilder skipping = Source(by_index);
  skipping.SkipFailed(1);
  EXPECT_EQ(RunEveryWay(skipping).Texts(1), Rows({"one", "two"}));
}

TEST_F(RecordFile, GoesOnBehindDamageAndSaysWhatWasLost) {
  const std::string bytes =
      RecordBytes({"one"}) + std::string("\x0a\x23\xd7\xce\x40\0\0\0oops", 12) + RecordBytes({"two", "three"});
  const std::string path = folder_.Write("0.rec", bytes);
  const GraphBuilder::Given skip = {{"damage", StringValue("skip")}};
  for (const GraphBuilder& builder : {Source(skip), Indexed(skip)}) {
    EXPECT_EQ(RunEveryWay(builder).Texts(1), Rows({"one", "two", "three"}));
    EXPECT_THAT(Explained(builder),
                AllOf(HasSubstr("RecordFile[0]: "), HasSubstr(Cat(path, ", byte 12: 12 bytes left out"))));
  }
  for (const int64_t split_bytes : {1, 4, 8, 13, 20}) {
    GraphBuilder::Given ways = skip;
    ways.emplace_back("split_bytes", IntValue(split_bytes));
    ways.emplace_back("sharding", StringValue("splits"));
    std::vector<std::string> all;
    for (const Ran& rank : RunRanks(Source(ways), 3)) {
      for (const std::string& text : rank.Texts(1)) all.push_back(text);
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(Rows({"one", "two", "three"}))) << split_bytes;
  }
}

TEST_F(RecordFile, LeavesOutDamageThatAnIndexNames) {
  std::string bytes = RecordBytes({"one", "two", "three", "four"});
  bytes[24] = 'x';
  const std::string path = folder_.Write("0.rec", bytes);
  const std::string index = folder_.Write("x.idx", IndexBytes({"one", "two", "three", "four"}));
  const GraphBuilder builder = Source({{"index", StringsValue({index})}, {"damage", StringValue("skip")}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(ran.Texts(1), Rows({"one", "four"}));
  EXPECT_EQ(ran.cardinality, Cardinality::Of(2));
  EXPECT_THAT(Explained(builder),
              AllOf(HasSubstr("2 positions"), HasSubstr(Cat(path, ", byte 12: left out, though ", index))));
}

TEST_F(RecordFile, NamesAnIndexThatPointsBetweenRecords) {
  folder_.Write("0.rec", RecordBytes({"one", std::string(100, 'x'), "three"}));
  const std::string index = folder_.Write("x.idx", "0\t0\n5\t40\n2\t120\n");
  const Ran ran = RunEveryWay(Source({{"index", StringsValue({index})}}));
  EXPECT_EQ(ran.Texts(), Rows({"one"}));
  EXPECT_THAT(DescribeError(ran.error), HasSubstr(Cat(index, ": key 5 points to byte 40")));
}

TEST_F(RecordFile, SaysThatAnIndexIsOlderThanItsFile) {
  folder_.Write("0.rec", RecordBytes({"one", "two", "three"}));
  const std::string index = folder_.Write("x.idx", "0\t0\n1\t12\n");
  const GraphBuilder builder = Source({{"index", StringsValue({index})}});
  EXPECT_EQ(RunEveryWay(builder).Texts(), Rows({"one", "two"}));
  EXPECT_THAT(Explained(builder), HasSubstr("names no record of the last 16 bytes"));
}

TEST_F(RecordFile, GivesLongAndShortRecordsAsTheyAre) {
  std::vector<std::string> records;
  for (int i = 0; i < 60; ++i)
    records.push_back(std::string(static_cast<size_t>(i * i * 30), static_cast<char>('a' + i % 26)));
  folder_.Write("0.rec", RecordBytes(records));
  for (GraphBuilder builder : {Source(), Indexed(), Indexed({{"shuffle", BoolValue(true)}})}) {
    builder.Add("batch", {0}, {{"size", IntValue(16)}});
    RunSpec spec;
    spec.little_memory = 64 << 20;
    spec.epochs = 1;
    const Ran ran = RunEveryWay(builder, spec);
    std::vector<std::string> found;
    for (const RanRow& row : ran.rows) {
      for (int64_t i = 0; i < row.columns[0].dim(0); ++i) found.emplace_back(row.columns[0].bytes_at(i));
    }
    EXPECT_THAT(found, UnorderedElementsAreArray(records));
  }
}

TEST_F(RecordFile, GivesViewsOfTheBlocksThatItReads) {
  const std::vector<std::string> records = {std::string(3000, 'a'), std::string(600, 'b'), std::string(5000, 'c')};
  folder_.Write("a.rec", RecordBytes(records));
  auto iteration = Iteration::Start(*Source().Build(), {});
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  std::vector<ResultRow> rows(records.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE((*iteration)->Fetch(std::chrono::seconds(10), rows[i]).ok());
    EXPECT_EQ(rows[i].columns[0].bytes_value(), records[i]);
    EXPECT_EQ(rows[i].columns[0].buffer().get(), rows[0].columns[0].buffer().get());
  }
}

TEST_F(RecordFile, CopiesTheRowsOfARankThatGetsFewOfABlock) {
  std::vector<std::string> records(100, std::string(3000, 'a'));
  folder_.Write("a.rec", RecordBytes(records));
  IterateOptions options;
  options.rank = 1;
  options.world = 50;
  auto iteration = Iteration::Start(*Source().Build(), std::move(options));
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  ResultRow row;
  ASSERT_TRUE((*iteration)->Fetch(std::chrono::seconds(10), row).ok());
  EXPECT_LE(row.columns[0].footprint(), 4 * 3000u);
}

TEST_F(RecordFile, FitsABatchInABudgetThatIsLargeEnoughForItsRows) {
  folder_.Write("a.rec", RecordBytes(std::vector<std::string>(2000, std::string(2048, 'a'))));
  GraphBuilder builder = Source();
  builder.Add("batch", {0}, {{"size", IntValue(1000)}});
  IterateOptions options;
  options.memory = int64_t{32} << 20;
  auto iteration = Iteration::Start(*builder.Build(), std::move(options));
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  for (int batch = 0; batch < 2; ++batch) {
    ResultRow row;
    const auto outcome = (*iteration)->Fetch(std::chrono::seconds(30), row);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ASSERT_EQ(*outcome, Pipeline::Outcome::kRow);
    EXPECT_EQ(row.columns[0].dim(0), 1000);
    (*iteration)->Given();
  }
}

TEST_F(RecordFile, GivesShuffledRowsMemoryOfTheirOwn) {
  folder_.Write("a.rec", RecordBytes(std::vector<std::string>(200, std::string(3000, 'a'))));
  for (const char* executor : {"threads", "pull"}) {
    GraphBuilder builder = Source();
    builder.Add("shuffle", {0}, {{"window", IntValue(50)}});
    IterateOptions options;
    options.pull = executor == std::string("pull");
    auto iteration = Iteration::Start(*builder.Build(), std::move(options));
    ASSERT_TRUE(iteration.ok()) << iteration.status();
    ResultRow row;
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE((*iteration)->Fetch(std::chrono::seconds(30), row).ok());
      EXPECT_LE(row.columns[0].footprint(), 4 * 3000u);
      (*iteration)->Given();
    }
  }
}

TEST_F(RecordFile, TellsWhenTheDataChanged) {
  Write({3});
  const Fingerprint before = RunEveryWay(Indexed()).fingerprints.at(0);
  EXPECT_EQ(before.count, 3u);
  folder_.Write("0.rec", RecordBytes({"a", "b", "c", "d"}));
  EXPECT_NE(RunEveryWay(Indexed()).fingerprints.at(0), before);
}

}  // namespace
}  // namespace headrace

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/file_system_registry.h"
#include "io/files/testing/memory_store.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/parquet/testing/fake_parquet.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::BoolValue;
using ir::ColumnsValue;
using ir::IntsValue;
using ir::IntValue;
using ir::PairsValue;
using ir::StringsValue;
using ir::StringValue;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

class Parquet : public ::testing::Test {
 protected:
  // A file whose row groups have so many rows; values go on from file to file.
  void Add(std::string_view name, const std::vector<int>& rows) {
    library_.SetRows(folder_.Write(name), rows, values_);
    for (const int count : rows) values_ += count;
  }
  static ir::Schema Int64Columns(const std::vector<std::string>& names) {
    ir::Schema schema;
    for (const std::string& name : names) schema.columns.push_back({name, ir::ColumnType::Of(DType::kInt64, {})});
    return schema;
  }
  GraphBuilder Source(GraphBuilder::Given attributes = {}, std::string_view pattern = "*.parquet") const {
    attributes.emplace_back("paths", StringsValue({folder_ / pattern}));
    if (std::none_of(attributes.begin(), attributes.end(), [](const auto& each) { return each.first == "fields"; })) {
      attributes.emplace_back("fields", ColumnsValue(Int64Columns({"value"})));
    }
    GraphBuilder builder;
    builder.Add("Parquet", {}, attributes);
    return builder;
  }
  GraphBuilder Numbered(GraphBuilder::Given attributes = {}, std::string_view pattern = "*.parquet") const {
    attributes.emplace_back("index", StringValue("build"));
    return Source(std::move(attributes), pattern);
  }
  static absl::StatusOr<Ran> RunOneEpoch(const GraphBuilder& builder) {
    RunSpec spec;
    spec.epochs = 1;
    return RunOnce(*builder.Build(), OptionsOf(spec));
  }
  std::vector<int64_t> Values() const {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < values_; ++i) values.push_back(i);
    return values;
  }

  FakeParquet library_;
  TemporaryFolder folder_;
  int64_t values_ = 0;
};

TEST_F(Parquet, GivesTheRowsOfAllFilesInOrder) {
  Add("a.parquet", {5, 9, 1});
  Add("b.parquet", {});
  Add("c.parquet", {0, 3});
  {
    const Ran ran = RunEveryWay(Source());
    for (const uint64_t epoch : {0, 1}) EXPECT_EQ(ran.Ints(0, epoch), Values());
    EXPECT_EQ(ran.Keys(1)[17], 17u);
  }
  EXPECT_EQ(library_.alive(), 0) << "arrays are released with the rows that are views of them";
}

TEST_F(Parquet, NumbersRowsByTheFooters) {
  Add("a.parquet", {5, 9, 1});
  Add("b.parquet", {0, 3});
  const Ran ran = RunEveryWay(Numbered());
  for (const uint64_t epoch : {0, 1}) EXPECT_EQ(ran.Ints(0, epoch), Values());
  EXPECT_EQ(ran.cardinality, Cardinality::Of(18));
  EXPECT_EQ(ran.Keys(1)[17], 17u);
}

TEST_F(Parquet, ShufflesRowGroups) {
  Add("a.parquet", {20, 20, 20});
  Add("b.parquet", {20, 7, 20, 20});
  RunSpec spec;
  spec.restart_every = 3;
  const Ran ran = RunEveryWay(Source({{"shuffle", BoolValue(true)}, {"interleave", IntValue(2)}}), spec);
  for (const uint64_t epoch : {0, 1}) EXPECT_THAT(ran.Ints(0, epoch), UnorderedElementsAreArray(Values()));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  for (const RanRow& row : ran.rows) EXPECT_EQ(row.text, Cat("value=", row.id.key));
}

TEST_F(Parquet, ShufflesRowsByTheirNumbers) {
  Add("a.parquet", {20, 20});
  Add("b.parquet", {13});
  const Ran ran = RunEveryWay(Numbered({{"shuffle", BoolValue(true)}}));
  for (const uint64_t epoch : {0, 1}) EXPECT_THAT(ran.Ints(0, epoch), UnorderedElementsAreArray(Values()));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  for (const RanRow& row : ran.rows) EXPECT_EQ(row.text, Cat("value=", row.id.key));
  GraphBuilder chosen = Numbered();
  chosen.Add("select", {0}, {{"indices", IntsValue({52, 0, 39, 40})}});
  EXPECT_THAT(RunEveryWay(chosen).Ints(), ElementsAre(52, 0, 39, 40));
}

TEST_F(Parquet, RanksShareRowsOrRowGroups) {
  Add("a.parquet", {6, 6});
  Add("b.parquet", {6, 6, 6});
  for (const char* const sharding : {"rows", "splits"}) {
    std::vector<int64_t> all;
    for (const Ran& rank : RunRanks(Source({{"sharding", StringValue(sharding)}}), 2)) {
      const std::vector<int64_t> values = rank.Ints();
      all.insert(all.end(), values.begin(), values.end());
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(Values())) << sharding;
  }
  const std::vector<Ran> ranks = RunRanks(Source({{"sharding", StringValue("splits")}}), 2);
  EXPECT_EQ(ranks[1].Ints(), (std::vector<int64_t>{6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23}));
}

TEST_F(Parquet, ReadsTheColumnsThatAreAskedFor) {
  library_.Set(folder_.Write("a.parquet"),
               {.names = {"a", "b", "c"}, .groups = {{.columns = {{1, 2}, {3, 4}, {5, 6}}}}});
  const ir::Schema fields = Int64Columns({"a", "b", "c"});
  const GraphBuilder source = Source({{"fields", ColumnsValue(fields)}, {"columns", StringsValue({"c", "a"})}});
  const absl::StatusOr<Ran> ran = RunOneEpoch(source);
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_THAT(ran->Texts(), ElementsAre("c=5, a=1", "c=6, a=2"));
  EXPECT_EQ(library_.columns_read(), 2);
}

// It is decoded while rows of the last batch are given, not before.
TEST_F(Parquet, OpensTheNextRowGroupWhenTheLastBatchOfOneIsRead) {
  for (const auto& [rows, read] : std::vector<std::pair<std::vector<int>, int>>{{{4, 4, 4}, 2}, {{8, 4, 4}, 1}}) {
    FakeParquet library;
    library.SetRows(folder_.Write("a.parquet"), rows);
    GraphBuilder source = Source();
    source.Add("take", {0}, {{"count", IntValue(2)}});
    const absl::StatusOr<Ran> ran = RunOneEpoch(source);
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_THAT(ran->Ints(), ElementsAre(0, 1));
    EXPECT_EQ(library.groups_read(), read);
  }
}

TEST_F(Parquet, GivesTheRowsBeforeARowGroupThatCannotBeOpenedAndItsErrorOnce) {
  for (const int readers : {1, 2}) {
    FakeParquet library;
    FakeParquetGroup refused{.columns = {{8}}, .unreadable = true};
    library.Set(folder_.Write("a.parquet"),
                {.groups = {{.columns = {{0, 1, 2, 3}}}, {.columns = {{4, 5, 6, 7}}}, std::move(refused)}});
    const absl::StatusOr<Ran> ran = RunOneEpoch(Source({{"interleave", IntValue(readers)}}));
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_THAT(ran->Ints(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << readers;
    EXPECT_THAT(DescribeError(ran->error),
                AllOf(HasSubstr("row group 2: its pages cannot be read"), HasSubstr(folder_ / "a.parquet")));
    EXPECT_EQ(library.groups_read(), 3) << readers << ": each is opened once";
  }
}

TEST_F(Parquet, FoldersGiveColumns) {
  library_.SetRows(folder_.Write("x/year=2024/split=train/a.parquet"), {2});
  library_.SetRows(folder_.Write("x/year=2025/split=a%20b/a.parquet"), {1}, 2);
  library_.SetRows(folder_.Write("x/year=2025/_temporary/a.parquet"), {1}, 3);
  ir::Schema fields = Int64Columns({"value", "year"});
  fields.columns.push_back({"split", ir::ColumnType::Of(DType::kString, {})});
  const GraphBuilder::Given attributes = {{"fields", ColumnsValue(fields)},
                                          {"folders", StringsValue({"year", "split"})}};
  for (const GraphBuilder& source : {Source(attributes, "x"), Numbered(attributes, "x")}) {
    EXPECT_THAT(RunEveryWay(source).Texts(),
                ElementsAre("value=0, year=2024, split='train'", "value=1, year=2024, split='train'",
                            "value=2, year=2025, split='a b'"));
  }
  GraphBuilder::Given folders_alone = attributes;
  folders_alone.emplace_back("columns", StringsValue({"year"}));
  const int before = library_.groups_read();
  EXPECT_THAT(RunEveryWay(Source(folders_alone, "x")).Texts(), ElementsAre("year=2024", "year=2024", "year=2025"));
  EXPECT_EQ(library_.groups_read(), before) << "no row group is read for them";
}

TEST_F(Parquet, RefusesFoldersWhoseNamesAreNotUtf8) {
  library_.SetRows(folder_.Write("x/split=%FF/a.parquet"), {1});
  ir::Schema fields = Int64Columns({"value"});
  fields.columns.push_back({"split", ir::ColumnType::Of(DType::kString, {})});
  const GraphBuilder::Given attributes = {{"fields", ColumnsValue(fields)}, {"folders", StringsValue({"split"})}};
  EXPECT_THAT(DescribeError(RunEveryWay(Source(attributes, "x")).error),
              AllOf(HasSubstr("column \"split\" is not UTF-8 in the name of its folder"), HasSubstr("x/split=%FF")));
}

TEST_F(Parquet, NamesFilesWithoutTheFoldersOfOthers) {
  library_.SetRows(folder_.Write("x/year=2024/a.parquet"), {2});
  library_.SetRows(folder_.Write("x/year=old/a.parquet"), {2});
  library_.SetRows(folder_.Write("x/zone/a.parquet"), {2});
  const GraphBuilder::Given attributes = {{"fields", ColumnsValue(Int64Columns({"value", "year"}))},
                                          {"folders", StringsValue({"year"})}};
  EXPECT_THAT(DescribeError(RunEveryWay(Source(attributes, "x/year=*/*.parquet")).error),
              AllOf(HasSubstr("\"year\" is a whole number in the names of other folders, and here \"old\""),
                    HasSubstr("x/year=old/a.parquet")));
  EXPECT_THAT(DescribeError(RunEveryWay(Source(attributes, "x/zone")).error),
              AllOf(HasSubstr("no folder of its path is named year="), HasSubstr("x/zone/a.parquet")));
}

TEST_F(Parquet, NamesTheFileAndColumnOfAnotherSchema) {
  Add("a.parquet", {2});
  library_.Set(folder_.Write("b.parquet"), {.groups = {{.columns = {{1}}}}, .format = "i"});
  for (const GraphBuilder& source : {Source(), Numbered()}) {
    const Ran ran = RunEveryWay(source);
    EXPECT_EQ(ran.Ints(), (std::vector<int64_t>{0, 1}));
    EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr("\"value\" is int32 (), and int64 () as the first file has"),
                                                HasSubstr(folder_ / "b.parquet")));
  }
  library_.Set(folder_ / "b.parquet", {.names = {"other"}, .groups = {{.columns = {{1}}}}});
  EXPECT_THAT(DescribeError(RunEveryWay(Source()).error), AllOf(HasSubstr("value"), HasSubstr(folder_ / "b.parquet")));
}

TEST_F(Parquet, NamesDamagedFilesAndRowGroups) {
  Add("a.parquet", {2});
  library_.Set(folder_.Write("b.parquet"), {.damaged = true});
  EXPECT_THAT(Refusal(Source()), AllOf(HasSubstr("the magic bytes are wrong"), HasSubstr(folder_ / "b.parquet")));
  FakeValues values = {0, 1, 2, 3, 4, 5, 6};
  library_.Set(folder_ / "b.parquet", {.groups = {{.columns = {{7}}}, {.columns = {values}, .damaged = true}}});
  const Ran ran = RunEveryWay(Source());
  EXPECT_EQ(ran.Ints(), (std::vector<int64_t>{0, 1, 7, 0, 1, 2, 3}));
  EXPECT_THAT(DescribeError(ran.error),
              AllOf(HasSubstr("row group 1: the page is damaged"), HasSubstr(folder_ / "b.parquet")));
  EXPECT_EQ(RunEveryWay(Numbered()).Ints(), (std::vector<int64_t>{0, 1, 7}));
}

TEST_F(Parquet, RefusesRowGroupsWithOtherRowsThanTheirFooterSays) {
  const std::string path = folder_.Write("a.parquet");
  library_.Set(path, {.groups = {{.columns = {{1, 2, 3}}, .claimed_rows = 5}}});
  EXPECT_THAT(DescribeError(RunEveryWay(Source()).error), HasSubstr("row group 0: it ends after 3 rows"));
  EXPECT_THAT(RunEveryWay(Numbered()).Ints(), IsEmpty());
  library_.Set(path, {.groups = {{.columns = {{1, 2, 3}}, .claimed_rows = 2}}});
  EXPECT_THAT(DescribeError(RunEveryWay(Source()).error), HasSubstr("it has other rows than the 2"));
  library_.Set(path, {.groups = {{.columns = {{1, 2, 3}}, .claimed_rows = -2}}});
  EXPECT_THAT(Refusal(Source()), HasSubstr("row group 0 has -2 rows"));
}

TEST_F(Parquet, NamesARowWithoutAValueAndGoesOnAfterIt) {
  const std::string path = folder_.Write("a.parquet");
  library_.Set(path, {.groups = {{.columns = {{0, 1}}}, {.columns = {{2, std::nullopt, 4, 5, 6}}}}});
  for (const GraphBuilder& source : {Source(), Numbered()}) {
    const Ran ran = RunEveryWay(source);
    EXPECT_EQ(ran.Ints(), (std::vector<int64_t>{0, 1, 2}));
    EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr("value"), HasSubstr(Cat(path, ", record 3"))));
    GraphBuilder skipping = source;
    skipping.SkipFailed(1);
    EXPECT_EQ(RunEveryWay(skipping).Ints(0, 1), (std::vector<int64_t>{0, 1, 2, 4, 5, 6}));
  }
}

TEST_F(Parquet, GivesTheRowsBeforeOneThatFailsInAnyOrder) {
  const std::string path = folder_.Write("a.parquet");
  library_.Set(path, {.groups = {{.columns = {{0, 1}}}, {.columns = {{2, std::nullopt, 4, 5, 6}}}}});
  GraphBuilder chosen = Numbered();
  chosen.Add("select", {0}, {{"indices", IntsValue({6, 0, 5, 3, 1, 2})}});
  const Ran ran = RunEveryWay(chosen);
  EXPECT_THAT(ran.Ints(), ElementsAre(6, 0, 5));
  EXPECT_THAT(DescribeError(ran.error), AllOf(HasSubstr("value"), HasSubstr(Cat(path, ", record 3"))));
  chosen.SkipFailed(1);
  EXPECT_THAT(RunEveryWay(chosen).Ints(0, 1), ElementsAre(6, 0, 5, 1, 2));
}

TEST_F(Parquet, FillsWhatIsMissingWhereAValueIsGiven) {
  library_.Set(folder_.Write("a.parquet"), {.groups = {{.columns = {{0, std::nullopt, 2}}}}});
  // The bytes of int64 7.
  const std::string seven = "\"\\u0007\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\"";
  EXPECT_EQ(RunEveryWay(Source({{"fills", PairsValue({{"value", seven}})}})).Ints(), (std::vector<int64_t>{0, 7, 2}));
}

TEST_F(Parquet, KeepsTheLatestRowGroups) {
  Add("a.parquet", {64, 64, 64});
  const absl::StatusOr<Ran> ran = RunOneEpoch(Numbered({{"shuffle", BoolValue(true)}}));
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_THAT(ran->Ints(), UnorderedElementsAreArray(Values()));
  EXPECT_EQ(library_.groups_read(), 3) << "all three fit";
}

TEST_F(Parquet, RefusesWhatIsNotThere) {
  EXPECT_THAT(Refusal(Source({}, "none.parquet")), HasSubstr("none.parquet"));
  folder_.MakeFolder("empty");
  EXPECT_THAT(Refusal(Source({}, "empty")), HasSubstr("matches no file"));
  Add("a.parquet", {1});
  EXPECT_THAT(Refusal(Source({{"columns", StringsValue({"valeu"})}})), HasSubstr("value"));
  EXPECT_THAT(Refusal(Numbered({{"sharding", StringValue("splits")}})), HasSubstr("leave out one"));
  EXPECT_THAT(Refusal(Source({{"class_names", PairsValue({{"value", "cat"}})}})),
              HasSubstr("class_names of the column"));
}

class FarParquet : public Parquet {
 protected:
  explicit FarParquet(bool conditional = true) : store_({.conditional = conditional}) { registry_.Add("mem", &store_); }

  void AddFar(const std::string& path, const std::vector<int>& rows) {
    store_.Put(path, "bytes of it");
    library_.SetRows(path, rows, values_);
    for (const int count : rows) values_ += count;
  }
  absl::StatusOr<Ran> RunFar(GraphBuilder::Given attributes, std::optional<int> rows = std::nullopt) {
    attributes.emplace_back("paths", StringsValue({"mem://b/*.parquet"}));
    attributes.emplace_back("fields", ColumnsValue(Int64Columns({"value"})));
    GraphBuilder builder;
    builder.Add("Parquet", {}, attributes);
    if (rows.has_value()) builder.Add("take", {0}, {{"count", IntValue(*rows)}});
    RunSpec spec;
    spec.epochs = 1;
    PipelineOptions options = OptionsOf(spec);
    options.files = &registry_;
    return RunOnce(*builder.Build(), options);
  }

  MemoryStore store_;
  FileSystemRegistry registry_{LocalFileSystem()};
};

TEST_F(FarParquet, ReadsFarFilesThroughTheFileSystem) {
  AddFar("mem://b/a.parquet", {5, 9});
  AddFar("mem://b/b.parquet", {3});
  for (const GraphBuilder::Given& attributes :
       {GraphBuilder::Given{}, GraphBuilder::Given{{"index", StringValue("build")}}}) {
    const absl::StatusOr<Ran> ran = RunFar(attributes);
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_EQ(ran->Ints(0, 0), Values());
  }
  EXPECT_GT(store_.count(MemoryStore::Kind::kReadRange), 0);
  EXPECT_EQ(store_.count(MemoryStore::Kind::kRead), 0);
}

// Whose requests would keep back the rows of the one before.
TEST_F(FarParquet, OpensNoRowGroupAhead) {
  // Not the files of another test, whose footers the process may know.
  AddFar("mem://b/c.parquet", {4});
  AddFar("mem://b/d.parquet", {4});
  const absl::StatusOr<Ran> ran = RunFar({}, 4);
  ASSERT_TRUE(ran.ok()) << ran.status();
  ASSERT_TRUE(ran->error.ok()) << ran->error;
  EXPECT_THAT(ran->Ints(0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(library_.groups_read(), 1);
}

TEST_F(FarParquet, NamesTheFileThatIsDamaged) {
  AddFar("mem://b/a.parquet", {1});
  FakeParquetFile damaged;
  damaged.damaged = true;
  library_.Set("mem://b/a.parquet", damaged);
  const absl::Status error = RunFar({{"index", StringValue("build")}}).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kData);
  EXPECT_THAT(DescribeError(error), HasSubstr("mem://b/a.parquet"));
}

// As HDFS is.
class FarParquetWithoutConditions : public FarParquet {
 protected:
  FarParquetWithoutConditions() : FarParquet(false) {}
};

TEST_F(FarParquetWithoutConditions, ComparesVersionsAtTheEndOfAnEpoch) {
  for (const GraphBuilder::Given& attributes :
       {GraphBuilder::Given{}, GraphBuilder::Given{{"index", StringValue("build")}}}) {
    AddFar("mem://b/a.parquet", {5});
    std::atomic<int> reads{0};
    // The first one is that of the footer, before the run.
    store_.set_before([&](const MemoryStore::Request& request) {
      if (request.kind == MemoryStore::Kind::kReadRange && ++reads == 2) store_.Put(request.path, "other bytes");
      return absl::OkStatus();
    });
    const absl::StatusOr<Ran> ran = RunFar(attributes);
    EXPECT_THAT(DescribeError(ran.ok() ? ran->error : ran.status()), HasSubstr("mem://b/a.parquet"));
    store_.set_before(nullptr);
  }
}

TEST_F(Parquet, NeedsALibrary) {
  Add("a.parquet", {1});
  SetParquetLibrary(nullptr);
  EXPECT_THAT(Refusal(Source()), HasSubstr("run the pipeline from Python"));
}

}  // namespace
}  // namespace headrace

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/arrow/arrow_stream.h"
#include "io/formats/arrow/arrow_table.h"
#include "io/formats/arrow/testing/arrow_parts.h"
#include "ops/source/arrow/arrow_columns.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

struct ArrowRun {
  GraphBuilder builder;
  RunSpec spec;
};

GraphBuilder SourceArrow(const ArrowMapping& mapping, bool shuffle, std::optional<int64_t> rows,
                         const std::string& root = "") {
  std::vector<std::pair<std::string, ir::proto::Value>> attributes = {
      {"data", ir::ReferenceValue("data")},
      {"columns", ir::ColumnsValue(SchemaOfArrow(mapping))},
      {"root", ir::StringValue(root)},
      {"shuffle", ir::BoolValue(shuffle)}};
  if (rows.has_value()) attributes.emplace_back("rows", ir::IntValue(*rows));
  GraphBuilder builder;
  builder.Add("Arrow", {}, attributes);
  return builder;
}

ArrowRun TableRun(const std::vector<ArrowPart>& batches, bool shuffle = false, const std::string& root = "") {
  std::vector<HeldArrow> arrays;
  for (const ArrowPart& batch : batches) arrays.push_back(KeepArrow(ArrayOfPart(batch)));
  const auto table = *ArrowTable::Of(*ArrowMapping::Of(*SchemaOfPart(batches[0]), {}), arrays);
  ArrowRun run{SourceArrow(table->mapping(), shuffle, static_cast<int64_t>(table->rows()), root), {}};
  run.spec.bindings.arrow["data"].table = table;
  return run;
}

ArrowPart NumberedBatch(int64_t first, int64_t count) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(first + i);
  return StructPart("", count, {NumbersPart("x", "l", numbers)});
}

TEST(Arrow, GivesTheRowsOfATableByNumber) {
  const ArrowRun run = TableRun({NumberedBatch(0, 3), NumberedBatch(3, 2)});
  const Ran ran = RunEveryWay(run.builder, run.spec);
  EXPECT_THAT(ran.Ints(0, 1), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(ran.Keys(1), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Arrow, ShufflesAndShardsATable) {
  const ArrowRun plain = TableRun({NumberedBatch(0, 9), NumberedBatch(9, 4), NumberedBatch(13, 7)});
  const ArrowRun run = TableRun({NumberedBatch(0, 9), NumberedBatch(9, 4), NumberedBatch(13, 7)}, true);
  const std::vector<int64_t> rows = RunEveryWay(plain.builder, plain.spec).Ints(0, 1);
  const Ran ran = RunEveryWay(run.builder, run.spec);
  EXPECT_THAT(ran.Ints(0, 1), UnorderedElementsAreArray(rows));
  EXPECT_NE(ran.Ints(0, 1), rows);
  const std::vector<Ran> ranks = RunRanks(run.builder, 2, run.spec);
  EXPECT_EQ(ranks[1].Ints(0, 1)[2], ran.Ints(0, 1)[1 + 2 * 2]);
}

TEST(Arrow, GivesRaggedRowsAndTexts) {
  const ArrowRun run = TableRun({StructPart(
      "", 3,
      {ListPart("x", {0, 2, 2, 3}, NumbersPart<int64_t>("item", "l", {1, 2, 3})), TextsPart("t", {"a", "", "c"})})});
  EXPECT_THAT(RunEveryWay(run.builder, run.spec).Texts(1),
              ElementsAre("x=int64 (2,) [1 2], t='a'", "x=int64 (0,) [], t=''", "x=int64 (1,) [3], t='c'"));
}

TEST(Arrow, ReadsFilesThatRowsName) {
  const TemporaryFolder folder;
  folder.Write("b", "of a file");
  const ArrowPart image = StructPart(
      "image", 2, {WithMissing(TextsPart("bytes", {"here", ""}, "z"), {true, false}), TextsPart("path", {"a", "b"})});
  const ArrowRun run = TableRun({StructPart("", 2, {image})}, false, folder.path());
  EXPECT_THAT(RunEveryWay(run.builder, run.spec).Texts(1), ElementsAre("image='here'", "image='of a file'"));
}

TEST(Arrow, GivesAStreamOnce) {
  const ArrowPart batch = NumberedBatch(0, 2);
  const auto stream = *ArrowStream::Of(StreamOfParts({batch, NumberedBatch(2, 1)}),
                                       *ArrowMapping::Of(*SchemaOfPart(batch), {}), KeepArrow);
  const GraphBuilder builder = SourceArrow(stream->mapping(), false, std::nullopt);
  RunSpec spec;
  spec.epochs = 1;
  spec.bindings.arrow["data"].stream = stream;
  const auto graph = *builder.Build();
  EXPECT_THAT(RunOnce(graph, OptionsOf(spec))->Ints(), ElementsAre(0, 1, 2));
  EXPECT_THAT(DescribeError(RunOnce(graph, OptionsOf(spec))->error), HasSubstr("a stream gives its rows once"));
}

TEST(Arrow, LooksForItsColumns) {
  ArrowRun run = TableRun({NumberedBatch(0, 2)});
  const ArrowRun other = TableRun({StructPart("", 1, {TextsPart("x", {"a"})})});
  EXPECT_THAT(Refusal(other.builder, run.spec), HasSubstr("has rows of int64 (); the graph was built for string ()"));
  EXPECT_THAT(Refusal(run.builder, {}), HasSubstr("the Arrow table data is not here"));
  const ArrowRun two = TableRun({StructPart("", 1, {NumbersPart<int64_t>("x", "l", {1}), TextsPart("y", {"a"})})});
  EXPECT_THAT(Refusal(two.builder, run.spec), HasSubstr("the Arrow data has no column \"y\""));
  EXPECT_THAT(Refusal(SourceArrow(run.spec.bindings.arrow["data"].table->mapping(), true, std::nullopt), run.spec),
              HasSubstr("shuffle needs rows by number"));
}

}  // namespace
}  // namespace headrace

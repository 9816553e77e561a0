#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "core/error.h"
#include "engine/exec/iteration.h"
#include "io/files/testing/temporary_folder.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

class TextTest : public ::testing::Test {
 protected:
  GraphBuilder Source(std::string_view pattern = "*.txt") const {
    GraphBuilder builder;
    builder.Add("Text", {}, {{"patterns", ir::StringsValue({folder_ / pattern})}});
    return builder;
  }
  GraphBuilder Numbered(GraphBuilder::Given attributes = {}) const {
    attributes.emplace_back("patterns", ir::StringsValue({folder_ / "*.txt"}));
    attributes.emplace_back("index", ir::StringValue("build"));
    GraphBuilder builder;
    builder.Add("Text", {}, attributes);
    return builder;
  }
  TemporaryFolder folder_;
};

TEST_F(TextTest, GivesTheLinesOfAllFiles) {
  folder_.Write("a.txt", "one\ntwo\n");
  folder_.Write("b.txt", "");
  folder_.Write("c.txt", "\nthree");
  const Ran ran = RunEveryWay(Source());
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch), ElementsAre("line='one'", "line='two'", "line=''", "line='three'"));
  }
  EXPECT_THAT(ran.Keys(1), ElementsAre(MixKey(0, 0), MixKey(0, 4), MixKey(2, 0), MixKey(2, 1)));
  EXPECT_EQ(ran.rows[0].columns[0].dtype(), DType::kString);
}

TEST_F(TextTest, LeavesOutLineEndsAndTheByteOrderMark) {
  folder_.Write("a.txt", "\xEF\xBB\xBFone\r\ntwo\r\n\r\n\n");
  EXPECT_THAT(RunEveryWay(Source()).Texts(), ElementsAre("line='one'", "line='two'", "line=''", "line=''"));
}

TEST_F(TextTest, LeavesOutEmptyLinesIfAsked) {
  folder_.Write("a.txt", "\n\r\none\n\n \ntwo\r\n\n");
  folder_.Write("b.txt", "\n\n");
  folder_.Write("c.txt", "\xEF\xBB\xBF\nlast");
  const GraphBuilder::Given patterns = {{"patterns", ir::StringsValue({folder_ / "*.txt"})},
                                        {"skip_empty", ir::BoolValue(true)}};
  GraphBuilder builder;
  builder.Add("Text", {}, patterns);
  const Ran ran = RunEveryWay(builder);
  EXPECT_THAT(ran.Texts(1), ElementsAre("line='one'", "line=' '", "line='two'", "line='last'"));
  EXPECT_THAT(ran.Keys(1), ElementsAre(MixKey(0, 3), MixKey(0, 8), MixKey(0, 10), MixKey(2, 4)));
  const Ran numbered = RunEveryWay(Numbered({{"skip_empty", ir::BoolValue(true)}}));
  EXPECT_EQ(numbered.Texts(1), ran.Texts(1));
  EXPECT_EQ(numbered.cardinality, Cardinality::Of(4));
  EXPECT_EQ(RunEveryWay(Numbered()).cardinality, Cardinality::Of(11)) << "the index of all lines is another one";
}

TEST_F(TextTest, TakesLinesLongerThanItReadsAtOnce) {
  const std::string longest(700'000, 'x');
  folder_.Write("a.txt", Cat("short\n", longest, "\n", longest, "y"));
  const Ran ran = RunEveryWay(Source());
  ASSERT_EQ(ran.rows.size(), 6u);
  EXPECT_EQ(ran.rows[1].columns[0].bytes_value(), longest);
  EXPECT_EQ(ran.rows[2].columns[0].bytes_value(), longest + "y");
}

TEST_F(TextTest, ReadsOnAcrossItsChunks) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) Append(text, "line ", i, "\n");
  folder_.Write("a.txt", text);
  const auto ran = RunOnce(*Source().Build(), OptionsOf({}));
  ASSERT_TRUE(ran.ok());
  const std::vector<std::string> texts = ran->Texts(1);
  ASSERT_EQ(texts.size(), 40'000u);
  for (int i = 0; i < 40'000; ++i) ASSERT_EQ(texts[i], Cat("line='line ", i, "'"));
}

TEST_F(TextTest, CutsLinesOfAnyLengthOutOfLargeBlocks) {
  std::string text;
  std::vector<std::string> lines;
  uint64_t draw = 7;
  while (text.size() < 900'000) {
    draw = Scramble(draw);
    // Mostly short ones, some of which are longer than what is cut at once.
    const uint64_t most = draw % 50 == 0 ? 50'000 : 90;
    lines.emplace_back(draw / 64 % most, static_cast<char>('a' + draw % 26));
    Append(text, lines.back(), draw % 7 == 0 ? "\r\n" : "\n");
  }
  folder_.Write("a.txt", text);
  for (const int64_t batch : {1, 7, 1024}) {
    GraphBuilder builder = Source();
    builder.Add("batch", {0}, {{"size", IntValue(batch)}});
    const auto ran = RunOnce(*builder.Build(), OptionsOf({}));
    ASSERT_TRUE(ran.ok());
    size_t line = 0;
    for (const RanRow& row : ran->rows) {
      if (row.epoch != 1) continue;
      ASSERT_EQ(row.columns[0].dim(0), std::min(batch, static_cast<int64_t>(lines.size() - line)));
      for (int64_t i = 0; i < row.columns[0].dim(0); ++i) ASSERT_EQ(row.columns[0].bytes_at(i), lines[line++]);
    }
    EXPECT_EQ(line, lines.size());
  }
}

// The bytes between the beginnings of the first two lines that a rank gets.
ptrdiff_t StepOf(const GraphBuilder& builder, uint64_t world) {
  IterateOptions options;
  options.world = world;
  options.group = 16;
  auto iteration = Iteration::Start(*builder.Build(), std::move(options));
  ResultRow first, second;
  EXPECT_TRUE((*iteration)->Fetch(std::chrono::seconds(10), first).ok());
  EXPECT_TRUE((*iteration)->Fetch(std::chrono::seconds(10), second).ok());
  return second.columns[0].raw() - first.columns[0].raw();
}

TEST_F(TextTest, GivesViewsOfItsBlocksAndCopiesOfAShare) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "ten letters\r\n";
  folder_.Write("a.txt", text);
  EXPECT_EQ(StepOf(Source(), 1), 13);
  // Between two lines of a rank there is one of the other's.
  EXPECT_NE(StepOf(Source(), 2), 26);
}

// The lines of five other ranks are between two lines of this one.
TEST_F(TextTest, CopiesLinesByNumberThatWouldKeepManyOthers) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::string(80, 'x') + "\n";
  folder_.Write("a.txt", text);
  EXPECT_EQ(StepOf(Numbered(), 1), 81);
  EXPECT_EQ(StepOf(Numbered(), 3), 3 * 81);
  EXPECT_EQ(StepOf(Numbered(), 6), 81);
}

// The end of one line and the start of the next are no letter together.
TEST_F(TextTest, RefusesHalvesOfLettersByNumber) {
  const std::string filler = std::string(100, 'x') + "\n";
  const std::string between = filler + filler + filler + filler;
  folder_.Write("a.txt", "a\xC3\n" + between + "\xA9z\n" + between);
  IterateOptions options;
  options.world = 5;
  auto iteration = Iteration::Start(*Numbered().Build(), std::move(options));
  ASSERT_TRUE(iteration.ok()) << iteration.status();
  ResultRow row;
  EXPECT_EQ(KindOf((*iteration)->Fetch(std::chrono::seconds(10), row).status()), ErrorKind::kData);
}

TEST_F(TextTest, ShardsLines) {
  folder_.Write("a.txt", "0\n1\n2\n");
  folder_.Write("b.txt", "3\n4\n");
  const std::vector<Ran> ranks = RunRanks(Source(), 2);
  EXPECT_THAT(ranks[0].Texts(1), ElementsAre("line='0'", "line='2'", "line='4'"));
  EXPECT_THAT(ranks[1].Texts(1), ElementsAre("line='1'", "line='3'"));
}

TEST_F(TextTest, StandsBelowShuffleAndBatch) {
  folder_.Write("a.txt", "a\nb\nc\nd\ne\nf\ng\n");
  GraphBuilder builder = Source();
  builder.Add("shuffle", {0}, {{"window", IntValue(4)}});
  builder.Add("batch", {1}, {{"size", IntValue(3)}});
  const Ran ran = RunEveryWay(builder);
  EXPECT_EQ(ran.Texts(1).size(), 3u);
  EXPECT_NE(ran.Texts(0), ran.Texts(1));
}

TEST_F(TextTest, GivesTheSameLinesByNumber) {
  std::string text;
  for (int i = 0; i < 50; ++i)
    Append(text, i, std::string(static_cast<size_t>(i * 37 % 90), 'x'), i % 3 ? "\n" : "\r\n");
  folder_.Write("a.txt", text);
  folder_.Write("b.txt", "");
  folder_.Write("c.txt", "\xEF\xBB\xBF\n\nno end");
  const Ran streamed = RunEveryWay(Source());
  const Ran numbered = RunEveryWay(Numbered());
  EXPECT_EQ(numbered.Texts(1), streamed.Texts(1));
  EXPECT_EQ(numbered.cardinality, Cardinality::Of(53));
  for (uint64_t i = 0; i < 53; ++i) EXPECT_EQ(numbered.Keys(1)[i], i);
  const Ran shuffled = RunEveryWay(Numbered({{"shuffle", ir::BoolValue(true)}}));
  EXPECT_THAT(shuffled.Texts(0), UnorderedElementsAreArray(streamed.Texts(0)));
  EXPECT_NE(shuffled.Texts(0), shuffled.Texts(1));
  for (const RanRow& row : shuffled.rows) EXPECT_EQ(row.text, streamed.Texts(0)[row.id.key]);
}

TEST_F(TextTest, ShardsLinesEvenlyByNumberAlone) {
  folder_.Write("a.txt", "0\n1\n2\n");
  folder_.Write("b.txt", "3\n4\n");
  RunSpec spec;
  spec.shard.even = ShardAssignment::Even::kPad;
  const std::vector<Ran> ranks = RunRanks(Numbered(), 2, spec);
  EXPECT_THAT(ranks[0].Texts(1), ElementsAre("line='0'", "line='2'", "line='4'"));
  EXPECT_EQ(ranks[1].Texts(1).size(), 3u);
  spec.shard = {0, 2, 0, ShardAssignment::Even::kDrop};
  const std::string refusal = Refusal(Source(), spec);
  EXPECT_THAT(refusal, HasSubstr("or index=\"build\""));
  EXPECT_THAT(refusal, Not(HasSubstr("path of an index")));
}

TEST_F(TextTest, RefusesWaysOfReadingThatAnIndexRulesOut) {
  folder_.Write("a.txt", "0\n");
  EXPECT_THAT(Refusal(Numbered({{"sharding", ir::StringValue("splits")}})),
              HasSubstr("sharding= is for reading in splits"));
  EXPECT_THAT(Refusal(Numbered({{"interleave", IntValue(2)}})), HasSubstr("interleave= is for reading in splits"));
}

TEST_F(TextTest, NamesFileAndByteOfALineThatIsNoTextByNumber) {
  const std::string path = folder_.Write("a.txt", "fine\nalso fine\n\xFF\xFE\nthe last\n");
  const Ran ran = RunEveryWay(Numbered());
  EXPECT_THAT(ran.Texts(), ElementsAre("line='fine'", "line='also fine'"));
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), path + ", byte 15");
  GraphBuilder skipping = Numbered();
  skipping.SkipFailed(1);
  EXPECT_THAT(RunEveryWay(skipping).Texts(1), ElementsAre("line='fine'", "line='also fine'", "line='the last'"));
}

TEST_F(TextTest, TellsByNumberWhenLinesMoved) {
  folder_.Write("a.txt", "one\ntwo\n");
  const Fingerprint before = RunEveryWay(Numbered()).fingerprints.at(0);
  folder_.Write("a.txt", "o\ne\ntwo\n");
  const Fingerprint after = RunEveryWay(Numbered()).fingerprints.at(0);
  EXPECT_EQ(before.count, 2u);
  EXPECT_EQ(after.count, 3u);
  folder_.Write("a.txt", "one\nt\no\n");
  EXPECT_NE(RunEveryWay(Numbered()).fingerprints.at(0).hash, after.hash);
}

TEST_F(TextTest, OfEmptyFilesIsEmptyByNumber) {
  folder_.Write("a.txt", "");
  const Ran ran = RunEveryWay(Numbered());
  EXPECT_THAT(ran.rows, IsEmpty());
  EXPECT_EQ(ran.cardinality, Cardinality::Of(0));
}

TEST_F(TextTest, OfEmptyFilesIsEmpty) {
  folder_.Write("a.txt", "");
  EXPECT_THAT(RunEveryWay(Source()).rows, IsEmpty());
}

TEST_F(TextTest, NamesFileAndByteOfALineThatIsNoText) {
  const std::string path = folder_.Write("a.txt", "fine\nalso fine\n\xFF\xFE\nnever seen\n");
  const Ran ran = RunEveryWay(Source());
  EXPECT_THAT(ran.Texts(), ElementsAre("line='fine'", "line='also fine'"));
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kFile), path + ", byte 15");
  EXPECT_EQ(GetErrorField(ran.error, ErrorField::kOperator), "Text[0]");
}

TEST_F(TextTest, PassesItsProvenanceOn) {
  const std::string path = folder_.Write("a.txt", "fine\nbad\n");
  GraphBuilder builder = Source();
  builder.Add("map", {0});
  builder.Step("TypeCast", {"line"}, {"line"}, {{"dtype", ir::StringValue("int64")}});
  const std::string refusal = Refusal(builder);
  EXPECT_THAT(refusal, HasSubstr("string")) << "text is no number before anything runs";
}

TEST_F(TextTest, TellsWhenTheDataChanged) {
  folder_.Write("a.txt", "one\n");
  const Fingerprint before = RunEveryWay(Source()).fingerprints.at(0);
  folder_.Write("b.txt", "two\n");
  const Fingerprint after = RunEveryWay(Source()).fingerprints.at(0);
  EXPECT_EQ(before.count, 1u);
  EXPECT_EQ(after.count, 2u);
  EXPECT_NE(before.hash, after.hash);
}

TEST_F(TextTest, RefusesPatternsThatMatchNothing) { EXPECT_THAT(Refusal(Source("*.tar")), HasSubstr("*.tar")); }

}  // namespace
}  // namespace headrace

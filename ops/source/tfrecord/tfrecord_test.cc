#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_system.h"
#include "io/files/testing/temporary_folder.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "ir/value.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kTestFiles = "io/formats/tfrecord/testdata/";

ir::proto::Value FieldsOfTfRecord(const std::vector<std::pair<std::string, ir::ColumnType>>& features) {
  ir::Schema schema;
  for (const auto& [name, type] : features) schema.columns.push_back({name, type});
  return ir::ColumnsValue(schema);
}

ir::ColumnType TfType(DType dtype, Shape shape = {}) { return ir::ColumnType::Of(dtype, std::move(shape)); }

GraphBuilder TfRecords(const std::string& paths, GraphBuilder::Given attributes = {}) {
  GraphBuilder builder;
  attributes.emplace_back("paths", ir::StringsValue({paths}));
  builder.Add("TFRecord", {}, attributes);
  return builder;
}

std::pair<std::string, ir::proto::Value> Built() { return {"index", ir::StringsValue({"build"})}; }
std::pair<std::string, ir::proto::Value> Labels() {
  return {"fields", FieldsOfTfRecord({{"label", TfType(DType::kInt64)}})};
}

class TfRecordOp : public ::testing::Test {
 protected:
  std::string WriteNumbers(const std::string& name, int first, int count) const {
    std::vector<std::string> payloads;
    for (int i = first; i < first + count; ++i) payloads.push_back(ExampleBytes({{"label", Int64Feature({i})}}));
    return folder_.Write(name, TfRecordBytes(payloads));
  }
  TemporaryFolder folder_;
};

TEST_F(TfRecordOp, GivesTheBytesOfRecords) {
  folder_.Write("a.tfrecord", TfRecordBytes({"one", ""}));
  folder_.Write("b.tfrecord", "");
  folder_.Write("c.tfrecords-00000-of-00001", TfRecordBytes({"three"}));
  folder_.Write("README", "not a TFRecord file");
  const Ran ran = RunEveryWay(TfRecords(folder_.path()));
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_THAT(ran.Texts(epoch), ElementsAre("record='one'", "record=''", "record='three'"));
  }
  const Ran indexed = RunEveryWay(TfRecords(folder_.path(), {Built()}));
  EXPECT_EQ(indexed.Texts(1), ran.Texts(1));
  EXPECT_THAT(indexed.Keys(1), ElementsAre(0, 1, 2));
  EXPECT_EQ(indexed.cardinality, Cardinality::Of(3));
}

// Of TensorFlow 2.21, plain, by gzip and by zlib.
TEST_F(TfRecordOp, GivesTheFeaturesOfFilesOfTensorFlow) {
  const auto fields = FieldsOfTfRecord({{"label", TfType(DType::kInt64)},
                                        {"score", TfType(DType::kFloat32, {2})},
                                        {"box", TfType(DType::kFloat32, {ir::kUnknownDim, 4})},
                                        {"words", TfType(DType::kString, {ir::kUnknownDim})},
                                        {"optional", TfType(DType::kInt64)},
                                        {"empty", TfType(DType::kInt64, {ir::kUnknownDim})}});
  const auto defaults = ir::PairsValue({{"optional", "-1"}});
  std::vector<std::string> plain;
  for (const char* name : {"examples.tfrecord", "examples.tfrecord.gz", "examples.tfrecord.zlib"}) {
    const Ran ran = RunEveryWay(TfRecords(kTestFiles + name, {{"fields", fields}, {"defaults", defaults}}));
    ASSERT_TRUE(ran.error.ok()) << ran.error;
    ASSERT_THAT(ran.Texts(), SizeIs(5));
    EXPECT_THAT(ran.Texts()[0], HasSubstr("label=0, score=float32 (2,) [0 -0], box=float32 (0, 4) []"));
    EXPECT_THAT(ran.Texts()[2], AllOf(HasSubstr("label=6"), HasSubstr("box=float32 (2, 4) [0 0.25 0.5"),
                                      HasSubstr("optional=-1, empty=int64 (0,) []")));
    EXPECT_THAT(ran.Texts()[3], HasSubstr("optional=7, empty=int64 (0,) []"));
    if (plain.empty()) plain = ran.Texts();
    EXPECT_EQ(ran.Texts(), plain) << name;
  }
  const Ran indexed = RunEveryWay(TfRecords(kTestFiles + "examples.tfrecord",
                                            {{"fields", fields},
                                             {"defaults", defaults},
                                             {"index", ir::StringsValue({kTestFiles + "examples.tfrecord.idx"})}}));
  EXPECT_EQ(indexed.Texts(), plain);
}

TEST_F(TfRecordOp, ReadsListsThatAreNotPacked) {
  const Ran ran =
      RunEveryWay(TfRecords(kTestFiles + "unpacked.tfrecord",
                            {{"fields", FieldsOfTfRecord({{"label", TfType(DType::kInt64, {ir::kUnknownDim})},
                                                          {"score", TfType(DType::kFloat32, {ir::kUnknownDim})}})}}));
  EXPECT_THAT(ran.Texts(), ElementsAre("label=int64 (2,) [5 -6], score=float32 (2,) [0.5 -2]",
                                       "label=int64 (1,) [9], score=float32 (3,) [1 2 3]"));
}

TEST_F(TfRecordOp, ReadsSequences) {
  const Ran ran = RunEveryWay(TfRecords(
      kTestFiles + "sequence.tfrecord",
      {{"fields",
        FieldsOfTfRecord({{"id", TfType(DType::kInt64)}, {"frame", TfType(DType::kBytes, {ir::kUnknownDim})}})}}));
  ASSERT_THAT(ran.Texts(), SizeIs(3));
  EXPECT_THAT(ran.Texts()[2], AllOf(HasSubstr("id=2"), HasSubstr("frame=bytes (3,)")));
}

TEST_F(TfRecordOp, MakesChosenColumnsAlone) {
  folder_.Write("a", TfRecordBytes({ExampleBytes({{"x", Int64Feature({1})}, {"y", BytesFeature({"wrong"})}})}));
  const auto fields = FieldsOfTfRecord({{"x", TfType(DType::kInt64)}, {"y", TfType(DType::kInt64)}});
  EXPECT_THAT(RunEveryWay(TfRecords(folder_ / "a", {{"fields", fields}, {"columns", ir::StringsValue({"x"})}})).Texts(),
              ElementsAre("x=1"));
}

TEST_F(TfRecordOp, ShufflesAllRowsByNumber) {
  WriteNumbers("a", 0, 20);
  WriteNumbers("b", 20, 20);
  const Ran ran = RunEveryWay(TfRecords(folder_ / "?", {Built(), Labels(), {"shuffle", ir::BoolValue(true)}}));
  EXPECT_NE(ran.Ints(0, 0), ran.Ints(0, 1));
  std::vector<int64_t> sorted = ran.Ints(0, 1);
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(sorted.at(static_cast<size_t>(i)), i);
}

// "train-*" matches the indices, too, once they were made.
TEST_F(TfRecordOp, LeavesOutTheIndicesBesideTheFiles) {
  WriteNumbers("train-0", 0, 3);
  folder_.Write("train-0.idx", "0 1");
  folder_.Write("train-0.tfindex", "0 1");
  folder_.Write("train-0.hridx", "of a run before");
  EXPECT_THAT(RunEveryWay(TfRecords(folder_ / "train-*", {Labels()})).Ints(), ElementsAre(0, 1, 2));
  EXPECT_THAT(DescribeError(RunOnce(*TfRecords(folder_ / "*idx").Build(), OptionsOf({})).status()),
              HasSubstr("paths names only what lies beside TFRecord files"));
}

TEST_F(TfRecordOp, SkipsRowsThatAreWrong) {
  std::string bytes =
      TfRecordBytes({ExampleBytes({{"label", Int64Feature({1})}}), ExampleBytes({{"label", FloatFeature({1})}}),
                     ExampleBytes({{"label", Int64Feature({3})}}), ExampleBytes({{"label", Int64Feature({4})}})});
  bytes[bytes.size() - 5] ^= 1;  // of the last payload
  const size_t second = TfRecordBytes({ExampleBytes({{"label", Int64Feature({1})}})}).size();
  const std::string path = folder_.Write("a", bytes);
  for (const bool indexed : {false, true}) {
    GraphBuilder::Given given = {Labels()};
    if (indexed) given.push_back(Built());
    const Ran failing = RunEveryWay(TfRecords(path, given));
    EXPECT_THAT(failing.Ints(), ElementsAre(1));
    EXPECT_THAT(DescribeError(failing.error),
                AllOf(HasSubstr("\"label\" has float32 values"), HasSubstr(Cat(path, ", byte ", second))));
    GraphBuilder skipping = TfRecords(path, given);
    skipping.SkipFailed(10);
    const Ran skipped = RunEveryWay(skipping);
    EXPECT_TRUE(skipped.error.ok()) << skipped.error;
    EXPECT_THAT(skipped.Ints(), ElementsAre(1, 3));
  }
}

TEST_F(TfRecordOp, LeavesOutDamage) {
  std::string bytes = TfRecordBytes({"one", "two", "three"});
  bytes[19 + 12] ^= 1;
  folder_.Write("a", bytes + TfRecordBytes({"four"}).substr(0, 15));
  folder_.Write("b", TfRecordBytes({"five"}));
  const std::pair<std::string, ir::proto::Value> skip("damage", ir::StringValue("skip"));
  for (const bool indexed : {false, true}) {
    GraphBuilder::Given given = {skip};
    if (indexed) given.push_back(Built());
    const Ran ran = RunEveryWay(TfRecords(folder_ / "[ab]", given));
    EXPECT_TRUE(ran.error.ok()) << ran.error;
    EXPECT_THAT(ran.Texts(), ElementsAre("record='one'", "record='three'", "record='five'"));
  }
}

TEST_F(TfRecordOp, RefusesWhatDoesNotGoTogether) {
  WriteNumbers("a", 0, 3);
  const std::string path = folder_ / "a";
  EXPECT_THAT(Refusal(TfRecords(path, {Built(), {"compression", ir::StringValue("gzip")}})),
              HasSubstr("compression=\"gzip\" is for files that are read from their start on"));
  EXPECT_THAT(Refusal(TfRecords(path, {{"index", ir::StringsValue({path})}, {"damage", ir::StringValue("skip")}})),
              HasSubstr("give index=\"build\""));
  EXPECT_THAT(Refusal(TfRecords(path, {Built(), {"interleave", ir::IntValue(2)}})), HasSubstr("interleave="));
  EXPECT_THAT(Refusal(TfRecords(path, {{"split_bytes", ir::IntValue(2)}})), HasSubstr("split_bytes"));
  EXPECT_THAT(Refusal(TfRecords(path, {{"sharding", ir::StringValue("contiguous")}})), HasSubstr("sharding"));
  EXPECT_THAT(Refusal(TfRecords(path, {{"fields", FieldsOfTfRecord({})}})), HasSubstr("features is empty"));
  EXPECT_THAT(Refusal(TfRecords(path, {{"fields", FieldsOfTfRecord({{"x", TfType(DType::kInt32)}})}})),
              HasSubstr("features are int64, float32 or bytes"));
  EXPECT_THAT(Refusal(TfRecords(path, {Labels(), {"defaults", ir::PairsValue({{"other", "1"}})}})),
              HasSubstr("no column \"other\""));
  EXPECT_THAT(Refusal(TfRecords(path, {Labels(), {"defaults", ir::PairsValue({{"label", "0.5"}})}})),
              HasSubstr("the default of the feature \"label\" is 0.5"));
  EXPECT_THAT(Refusal(TfRecords(path, {{"defaults", ir::PairsValue({{"label", "1"}})}})),
              HasSubstr("features is None"));
  const std::vector<std::string> indices = {folder_.Write("a.idx", "0 1"), folder_.Write("b.idx", "0 1")};
  EXPECT_THAT(Refusal(TfRecords(path, {{"index", ir::StringsValue(indices)}})),
              HasSubstr("index names 2 files and paths 1"));
  folder_.Write("gz", Compress(Compression::kGzip, TfRecordBytes({"one"})));
  EXPECT_THAT(Refusal(TfRecords(folder_ / "gz", {Built()})), HasSubstr("decompress it, or leave out index="));
}

// Files whose sum shows that one of them was replaced are other data.
TEST_F(TfRecordOp, NoticesOtherRecords) {
  WriteNumbers("a", 0, 3);
  const auto fingerprint = [&](GraphBuilder::Given given) {
    return RunOnce(*TfRecords(folder_ / "a", std::move(given)).Build(), OptionsOf({}))->fingerprints.at(0);
  };
  const Fingerprint before = fingerprint({Built()});
  EXPECT_EQ(fingerprint({Built()}), before);
  EXPECT_EQ(before.count, 3u);
  folder_.Write("a", TfRecordBytes({"another"}));
  EXPECT_NE(fingerprint({Built()}), before);
}

}  // namespace
}  // namespace headrace

#include "io/formats/tfrecord/feature_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/testing/one_file.h"
#include "io/formats/testing/read_records.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "io/formats/tfrecord/tf_record_format.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "label int64 ()", with -1 for an axis that differs; "label: why it cannot be read".
std::vector<std::string> ProposedFor(const std::vector<std::string>& records) {
  FeatureSurvey survey;
  for (const std::string& record : records) EXPECT_TRUE(survey.Add(record).ok());
  EXPECT_EQ(survey.records(), records.size());
  std::vector<std::string> texts;
  for (const FeatureSurvey::Proposal& proposal : survey.Proposals()) {
    texts.push_back(!proposal.refusal.empty()
                        ? Cat(proposal.name, ": ", proposal.refusal)
                        : Cat(proposal.name, " ", FeatureKindName(proposal.kind), " ", ShapeName(proposal.shape)));
  }
  return texts;
}

std::vector<std::string> RecordsOfTestFile(const std::string& name) {
  std::ifstream file("io/formats/tfrecord/testdata/" + name, std::ios::binary);
  const OneFile bytes(std::string{std::istreambuf_iterator<char>(file), {}});
  std::vector<std::string> records;
  for (const ReadRecord& record : ReadSplit(TfRecordFormat(), bytes, "a", {}, 0, 4096).records) {
    records.push_back(record.content);
  }
  return records;
}

TEST(FeatureSurvey, ProposesTypesThatReadTheRecords) {
  EXPECT_THAT(ProposedFor({}), IsEmpty());
  EXPECT_THAT(ProposedFor({ExampleBytes({{"one", Int64Feature({1})}, {"four", FloatFeature({1, 2, 3, 4})}}),
                           ExampleBytes({{"four", FloatFeature({5, 6, 7, 8})}, {"one", Int64Feature({2})}})}),
              ElementsAre("four float32 (4,)", "one int64 ()"));
  EXPECT_THAT(
      ProposedFor({ExampleBytes({{"a", BytesFeature({"x"})}, {"b", Int64Feature({1})}, {"c", Int64Feature({})}}),
                   ExampleBytes({{"a", BytesFeature({"x", "y"})}, {"c", Int64Feature({})}})}),
      ElementsAre("a bytes (-1,)", "b int64 (-1,)", "c int64 (-1,)"));
}

TEST(FeatureSurvey, ProposesAFirstAxisForSteps) {
  const auto sequence = [](const std::vector<std::string>& steps) {
    return SequenceExampleBytes({{"id", Int64Feature({1})}}, {{"s", FeatureListBytes(steps)}});
  };
  const std::string one = Int64Feature({1}), two = Int64Feature({1, 2});
  EXPECT_THAT(ProposedFor({sequence({one, one}), sequence({}), sequence({one})}),
              ElementsAre("id int64 ()", "s int64 (-1,)"));
  EXPECT_THAT(ProposedFor({sequence({two, two}), sequence({two})}), ElementsAre("id int64 ()", "s int64 (-1, 2)"));
  EXPECT_THAT(ProposedFor({sequence({two, two}), sequence({one})}), ElementsAre("id int64 ()", "s int64 (-1, -1)"));
  EXPECT_THAT(ProposedFor({sequence({two, one})}),
              ElementsAre("id int64 ()", "s: its steps have different numbers of values"));
}

TEST(FeatureSurvey, SaysWhatCannotBeRead) {
  EXPECT_THAT(
      ProposedFor({ExampleBytes({{"a", Int64Feature({1})}, {"b", ""}}), ExampleBytes({{"a", FloatFeature({1})}})}),
      ElementsAre("a: it has int64 and float32 values", "b: none of these records has a value of it"));
  EXPECT_THAT(ProposedFor({ExampleBytes({{"a", Int64Feature({1})}}),
                           SequenceExampleBytes({}, {{"a", FeatureListBytes({Int64Feature({1})})}})}),
              ElementsAre(HasSubstr("a feature list of others")));
  FeatureSurvey survey;
  EXPECT_EQ(KindOf(survey.Add("not a message")), ErrorKind::kData);
  EXPECT_EQ(survey.records(), 0u);
}

TEST(FeatureSurvey, KnowsFilesOfTensorFlow) {
  EXPECT_THAT(ProposedFor(RecordsOfTestFile("examples.tfrecord")),
              ElementsAre("box float32 (-1,)", "empty: none of these records has a value of it", "image bytes ()",
                          "label int64 ()", "neg int64 (2,)", "optional int64 (-1,)", "score float32 (2,)",
                          "words bytes (-1,)"));
  EXPECT_THAT(ProposedFor(RecordsOfTestFile("sequence.tfrecord")),
              ElementsAre("frame bytes (-1,)", "id int64 ()", "name bytes ()",
                          "tokens: its steps have different numbers of values"));
}

}  // namespace
}  // namespace headrace

// What is stored beside a graph is compared with what this machine gives, and the first step that differs is named.
#include "capi/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "absl/strings/escaping.h"
#include "capi/stored_check.h"
#include "capi/testing/inference_bytes.h"
#include "core/error.h"
#include "core/text.h"
#include "io/records/crc32c.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

std::string HexOf(uint32_t number) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", number);
  return text;
}

std::string DigestText(const Tensor& tensor) {
  const Tensor plain = *tensor.Contiguous();
  std::string shape;
  for (const int64_t length : plain.shape()) shape += Cat(shape.empty() ? "" : ", ", length);
  return Cat("\"dtype\": \"", DTypeName(plain.dtype()), "\", \"shape\": [", shape, "], \"crc32c\": \"",
             HexOf(Crc32c(plain.raw(), plain.bytes())), "\"");
}

class CapiSelfCheck : public ::testing::Test {
 protected:
  CapiSelfCheck() : graph_(*InferenceGraph::Parse(fixture::PictureGraph())) {
    const Tensor picture = fixture::Encoded("baseline_420.jpg");
    stored_ = "{\"headrace\": \"0.0.9\", \"libraries\": {\"libjpeg-turbo\": \"9.9\"}, \"inputs\": {\"image\": \"";
    stored_ += absl::Base64Escape(fixture::ReadTestFile("baseline_420.jpg")) + "\"}, \"outputs\": {\"image\": {";
    stored_ += DigestText((*graph_->Run({picture}))[0]) + "}}, \"steps\": [";
    std::string steps;
    const auto traced = *graph_->Trace({picture});
    for (const StepResult& step : traced) {
      steps += Cat(steps.empty() ? "" : ", ", "{\"step\": \"", step.step, "\", \"column\": \"", step.column, "\", ",
                   DigestText(step.value), "}");
    }
    stored_ += steps + "], \"later\": [1, {}]}";
  }

  std::string Run(const std::string& stored) {
    const absl::Status status = capi::RunSelfCheck(*graph_, stored);
    return status.ok() ? "" : Cat(ErrorKindName(KindOf(status)), ": ", ToStd(status.message()));
  }
  // With the checksum that follows `before` changed.
  std::string Changed(std::string stored, const std::string& before) {
    const size_t at = stored.find("crc32c\": \"", stored.find(before)) + 10;
    stored[at] = stored[at] == '0' ? '1' : '0';
    return stored;
  }

  std::shared_ptr<const InferenceGraph> graph_;
  std::string stored_;
};

TEST_F(CapiSelfCheck, PassesWhereResultsAreEqual) { EXPECT_EQ(Run(stored_), ""); }

TEST_F(CapiSelfCheck, NamesTheFirstStepThatDiffers) {
  std::string changed = Changed(stored_, "\"outputs\"");
  EXPECT_THAT(Run(changed), HasSubstr("UnsupportedError: this machine gives another result"));
  EXPECT_THAT(Run(changed), HasSubstr("attached with headrace 0.0.9, libjpeg-turbo 9.9"));
  changed = Changed(Changed(changed, "CenterCrop"), "Resize");
  EXPECT_THAT(Run(changed), HasSubstr("the first step that differs is"));
  EXPECT_THAT(Run(changed), HasSubstr("Resize"));
}

// A graph of one column "x" of any type, which it gives back: format 2, and a node Input.
std::shared_ptr<const InferenceGraph> PassingGraph() {
  constexpr std::string_view kBytes(
      "\x08\x02\x12\x28\x0a\x05Input\x22\x1f\x0a\x07"
      "columns\x12\x14"
      "b\x12\x0a\x10\x0a\x01x\x12\x0b\x0a\x07unknown\x18\x01",
      44);
  return *InferenceGraph::Parse(kBytes);
}

std::string TextsCheck(std::string_view dtype, std::string_view shape, std::string_view texts) {
  return Cat("{\"inputs\": {\"x\": {\"dtype\": \"", dtype, "\", \"shape\": ", shape, ", \"base64\": \"",
             absl::Base64Escape(absl::string_view(texts.data(), texts.size())),
             "\"}}, \"outputs\": {\"x\": {\"dtype\": \"", dtype, "\", \"shape\": ", shape, ", \"crc32c\": \"",
             HexOf(Crc32c(texts.data(), texts.size())), "\"}}}");
}

std::string RunTexts(const std::string& stored) {
  const absl::Status status = capi::RunSelfCheck(*PassingGraph(), stored);
  return status.ok() ? "" : std::string(ToStd(status.message()));
}

TEST(CapiSelfCheckOfTexts, PassesWhereResultsAreEqual) {
  for (const char* dtype : {"bytes", "string"}) {
    EXPECT_EQ(RunTexts(TextsCheck(dtype, "[2]", "1:a3:b:c")), "") << dtype;
    EXPECT_EQ(RunTexts(TextsCheck(dtype, "[2, 1]", "0:0:")), "") << dtype;
    EXPECT_EQ(RunTexts(TextsCheck(dtype, "[3, 0]", "")), "") << dtype;
  }
}

TEST(CapiSelfCheckOfTexts, SaysWhatIsDamaged) {
  for (const char* texts :
       {"", "1:a", "1:a1:b1:c", "1:a1", "1:a9:b", "1:a:b", "-1:a1:b", "1:a99999999999999999999:b"}) {
    EXPECT_EQ(RunTexts(TextsCheck("string", "[2]", texts)),
              Cat("the stored input x has ", std::string_view(texts).size(),
                  " bytes, which are not string (2,) with the length of each and a colon before it"))
        << texts;
  }
  // The length of a text that is missing, at the end.
  EXPECT_THAT(RunTexts(TextsCheck("string", "[1]", "1:a9:")), HasSubstr("the stored input x has 5 bytes"));
  EXPECT_THAT(RunTexts(TextsCheck("string", "[0]", "5:")), HasSubstr("the stored input x has 2 bytes"));
  EXPECT_THAT(RunTexts(TextsCheck("string", "[4611686018427387904, 4, 0]", "")),
              HasSubstr("the stored input x has 0 bytes"));
}

TEST_F(CapiSelfCheck, SaysWhatIsNotStored) {
  EXPECT_EQ(KindOf(capi::RunSelfCheck(*graph_, std::nullopt)), ErrorKind::kNotFound);
  EXPECT_THAT(Run("{}"), HasSubstr("lacks the input image"));
  EXPECT_THAT(Run("{\"inputs\": {\"image\": \"????\"}}"), HasSubstr("not base64"));
  EXPECT_THAT(Run("{\"inputs\": {\"image\": {\"dtype\": \"float32\", \"shape\": [2], \"base64\": \"\"}}}"),
              HasSubstr("has 0 bytes"));
  EXPECT_THAT(Run("{\"inputs\": {\"image\": {\"dtype\": \"colour\"}}}"), HasSubstr("no dtype"));
  EXPECT_THAT(Run("{\"inputs\": {\"image\": {\"dtype\": \"uint8\", \"shape\": [4611686018427387904, 4, 0]}}}"),
              HasSubstr("has 0 bytes"));
  EXPECT_THAT(Run("{\"inputs\": {\"image\": {\"dtype\": \"bool\", \"shape\": [1], \"base64\": \"Bw==\"}}}"),
              HasSubstr("neither 0 nor 1"));
}

TEST_F(CapiSelfCheck, SurvivesACheckThatIsCutAnywhere) {
  for (size_t bytes = 0; bytes < stored_.size(); bytes += 7) {
    EXPECT_THAT(Run(stored_.substr(0, bytes)), HasSubstr("DataError: the stored check cannot be read")) << bytes;
  }
}

}  // namespace
}  // namespace headrace

// Fuzzes the survey of features. Any records: one that is damaged does not count, the others give a proposal for each
// name that they have, in order, of no more values than the records have bytes.
// Input: records, each after its length (u16).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/tfrecord/feature_survey.h"

namespace {

using headrace::FeatureSurvey;
using headrace::Require;

constexpr size_t kMostBytes = 8000;

// Takes the next record off the input.
std::string_view NextRecord(std::string_view& input) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(input[i])); };
  const size_t length = std::min(input.size() - 2, byte(0) | byte(1) << 8);
  const std::string_view record = input.substr(2, length);
  input.remove_prefix(2 + length);
  return record;
}

void CheckProposals(const std::vector<FeatureSurvey::Proposal>& proposals, size_t bytes) {
  Require(proposals.size() <= bytes, "a name takes a byte at least");
  for (size_t i = 0; i < proposals.size(); ++i) {
    Require(i == 0 || proposals[i - 1].name < proposals[i].name, "proposals have names in order");
    for (const int64_t length : proposals[i].shape) {
      Require(length >= FeatureSurvey::kDiffers && length <= static_cast<int64_t>(bytes), "a value takes a byte");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  const size_t bytes = input.size();
  FeatureSurvey survey;
  uint64_t records = 0;
  while (input.size() > 2) {
    const absl::Status added = survey.Add(NextRecord(input));
    Require(added.ok() || headrace::KindOf(added) == headrace::ErrorKind::kData, "damage is the record's");
    if (added.ok()) ++records;
    Require(survey.records() == records, "a damaged record does not count");
  }
  CheckProposals(survey.Proposals(), bytes);
  return 0;
}

// `FeatureSurvey` looks at records for the types with which their features can be read. Use it to propose what a user
// should state: a few records show kinds and lengths, and later ones may have others.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_FEATURE_SURVEY_H_
#define HEADRACE_IO_FORMATS_TFRECORD_FEATURE_SURVEY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/tensor.h"
#include "io/formats/tfrecord/feature_values.h"

namespace headrace {

class FeatureSurvey {
 public:
  // The length of an axis that differs from record to record.
  static constexpr int64_t kDiffers = -1;

  struct Proposal {
    std::string name;
    FeatureKind kind = FeatureKind::kNone;
    Shape shape = {};
    // Why it cannot be read; empty: it can.
    std::string refusal = {};
  };

  // kData: the record is not a tf.train.Example or SequenceExample; it does not count.
  absl::Status Add(std::string_view record);
  uint64_t records() const { return records_; }
  // In order of the names.
  std::vector<Proposal> Proposals() const;

 private:
  // The numbers that were seen of something.
  struct Range {
    size_t least = 0;
    size_t most = 0;
    bool any = false;

    void Take(size_t number);
    bool same() const { return least == most; }
  };
  // What was seen of a name.
  struct Seen {
    uint64_t records = 0;  // with values of a kind
    FeatureKind kind = FeatureKind::kNone;
    std::optional<FeatureKind> other_kind = {};
    bool in_context = false;
    bool in_lists = false;
    bool uneven = false;
    Range values;
    Range in_steps;
  };

  void Take(const FeatureEntry& entry, const FeatureValues& values, Seen& seen) const;
  Proposal ProposalOf(const std::string& name, const Seen& seen) const;

  std::map<std::string, Seen, std::less<>> seen_;
  uint64_t records_ = 0;
  FeatureValues values_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_FEATURE_SURVEY_H_

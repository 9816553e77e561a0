// `FeatureValues` reads the values of a feature, packed or not, or of the steps of a feature list, as protobuf does:
// the pieces of a list are joined, and of several kinds the last one counts. Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_FEATURE_VALUES_H_
#define HEADRACE_IO_FORMATS_TFRECORD_FEATURE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "io/formats/tfrecord/feature_finder.h"

namespace headrace {

// The numbers are those of the fields of a message Feature.
enum class FeatureKind : uint8_t { kNone = 0, kBytes = 1, kFloats = 2, kInt64s = 3 };
std::string_view FeatureKindName(FeatureKind kind);  // "int64"

class FeatureValues {
 public:
  // Reads an entry that is there, in time that grows with its bytes. Returns null, or the byte at which it is damaged.
  const char* Read(const FeatureEntry& entry);

  // kNone: it has no values of any kind, as a feature that is not there.
  FeatureKind kind() const { return kind_; }
  // Of the first step that has another kind than one before it.
  std::optional<FeatureKind> other_kind() const { return other_kind_; }
  bool is_list() const { return is_list_; }
  // Values of all steps.
  size_t count() const { return count_; }
  // Of a feature list.
  size_t steps() const { return steps_; }
  // Values of each step, 0 without a step; nullopt: they differ.
  std::optional<size_t> in_step() const { return uneven_ ? std::nullopt : std::optional(in_step_); }

  // The count() values of its kind, in order.
  absl::Span<const int64_t> ints() const { return ints_; }
  void CopyFloats(float* target) const;
  // Views of the entry.
  absl::Span<const std::string_view> texts() const { return parts_; }

 private:
  void Clear();
  const char* ReadSteps(std::string_view list);
  const char* ReadFeature(std::string_view feature);
  const char* ReadList(std::string_view list);
  const char* ReadInts(std::string_view packed);
  void BeginStep();
  void EndStep();

  FeatureKind kind_ = FeatureKind::kNone;
  std::optional<FeatureKind> other_kind_;
  bool is_list_ = false;
  bool uneven_ = false;
  size_t count_ = 0;
  size_t steps_ = 0;
  size_t in_step_ = 0;
  std::vector<int64_t> ints_;
  std::vector<std::string_view> parts_;  // texts, or the bytes of floats
  // Of the step that is read.
  FeatureKind step_kind_ = FeatureKind::kNone;
  size_t step_count_ = 0;
  size_t step_ints_ = 0;   // ints_ before it
  size_t step_parts_ = 0;  // parts_ before it
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_FEATURE_VALUES_H_

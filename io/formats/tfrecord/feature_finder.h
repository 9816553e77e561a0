// `FeatureFinder` finds features by their names in the bytes of a tf.train.Example or a tf.train.SequenceExample, whose
// context is read as an Example's features are. Use it for many messages of one kind: their features mostly come in one
// order, and are then found without a search.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_FEATURE_FINDER_H_
#define HEADRACE_IO_FORMATS_TFRECORD_FEATURE_FINDER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/seeded_hash.h"

namespace headrace {

// An entry of a message's maps: a name with a message Feature, or of the second map with a FeatureList.
struct FeatureEntry {
  bool there = false;
  bool is_list = false;
  std::string_view bytes = {};
};

// kData: byte `at` of the record is not what a message has there. `record` and `at`: in one buffer.
absl::Status NotAnExample(std::string_view record, const char* at);

// Calls take(name, entry) for each entry, in the order of the bytes. kData: the record is not such a message.
absl::Status ForEachFeature(std::string_view record,
                            absl::FunctionRef<void(std::string_view name, const FeatureEntry& entry)> take);

class FeatureFinder {
 public:
  explicit FeatureFinder(const std::vector<std::string>& names);

  // Sets the entry of each name, in their order: views of the record. Of a name that comes again the last entry counts.
  // kData: the record is not such a message, or has a name in both maps.
  absl::Status Find(std::string_view record, absl::Span<FeatureEntry> found);

 private:
  static constexpr int kNotWanted = -1;
  // Which name came at a place of the message before, and its number among those wanted.
  struct Seen {
    std::string name;
    int number = kNotWanted;
  };

  int NumberOf(std::string_view name, size_t place);

  std::unordered_map<std::string, int, SeededHash, std::equal_to<>> numbers_;
  std::vector<Seen> seen_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_FEATURE_FINDER_H_

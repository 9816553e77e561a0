#include "io/formats/tfrecord/feature_finder.h"

#include <optional>

#include "core/error.h"
#include "io/formats/wire/wire_fields.h"

namespace headrace {
namespace {

// Field numbers of the messages of tensorflow/core/example: the maps of Example (the first alone) and SequenceExample,
// their entries, and the key of an entry.
constexpr uint32_t kFeatures = 1;
constexpr uint32_t kFeatureLists = 2;
constexpr uint32_t kEntry = 1;
constexpr uint32_t kKey = 1;

// Names that are remembered with their places.
constexpr size_t kMostSeen = 1024;

// Where a message is damaged; null: it is not.
using Damage = const char*;

Damage ReadKey(std::string_view entry, std::string_view& key) {
  WireFields fields(entry);
  while (fields.Next()) {
    if (fields.Is(kKey, WireType::kBytes)) key = fields.bytes();
  }
  return fields.damaged() ? fields.at() : nullptr;
}

template <typename Take>
Damage ReadMap(std::string_view map, bool is_list, Take& take) {
  WireFields fields(map);
  while (fields.Next()) {
    if (!fields.Is(kEntry, WireType::kBytes)) continue;
    std::string_view key;
    if (const Damage damage = ReadKey(fields.bytes(), key); damage != nullptr) return damage;
    take(key, FeatureEntry{true, is_list, fields.bytes()});
  }
  return fields.damaged() ? fields.at() : nullptr;
}

template <typename Take>
absl::Status ReadMaps(std::string_view record, Take take) {
  WireFields fields(record);
  Damage damage = nullptr;
  while (damage == nullptr && fields.Next()) {
    const bool is_list = fields.number() == kFeatureLists;
    if ((is_list || fields.number() == kFeatures) && fields.type() == WireType::kBytes) {
      damage = ReadMap(fields.bytes(), is_list, take);
    }
  }
  if (damage == nullptr && fields.damaged()) damage = fields.at();
  return damage == nullptr ? absl::OkStatus() : NotAnExample(record, damage);
}

}  // namespace

absl::Status NotAnExample(std::string_view record, const char* at) {
  return DataError("the record is not a tf.train.Example or SequenceExample: what is wrong begins at its byte ",
                   at - record.data(), " of ", record.size(),
                   "; without features= the column `record` has the bytes of any record");
}

absl::Status ForEachFeature(std::string_view record,
                            absl::FunctionRef<void(std::string_view name, const FeatureEntry& entry)> take) {
  return ReadMaps(record, [&](std::string_view name, const FeatureEntry& entry) { take(name, entry); });
}

FeatureFinder::FeatureFinder(const std::vector<std::string>& names) {
  for (const std::string& name : names) numbers_.emplace(name, static_cast<int>(numbers_.size()));
}

int FeatureFinder::NumberOf(std::string_view name, size_t place) {
  if (place < seen_.size() && seen_[place].name == name) return seen_[place].number;
  const auto found = numbers_.find(name);
  const int number = found == numbers_.end() ? kNotWanted : found->second;
  if (place < kMostSeen) {
    if (place >= seen_.size()) seen_.resize(place + 1);
    seen_[place].name = name;
    seen_[place].number = number;
  }
  return number;
}

absl::Status FeatureFinder::Find(std::string_view record, absl::Span<FeatureEntry> found) {
  for (FeatureEntry& entry : found) entry = {};
  size_t place = 0;
  std::optional<std::string_view> in_both;
  const absl::Status read = ReadMaps(record, [&](std::string_view name, const FeatureEntry& entry) {
    const int number = NumberOf(name, place++);
    if (number == kNotWanted) return;
    FeatureEntry& of_name = found[static_cast<size_t>(number)];
    if (of_name.there && of_name.is_list != entry.is_list) in_both = name;
    of_name = entry;
  });
  if (!read.ok() || !in_both.has_value()) return read;
  return DataError("\"", *in_both, "\" is a feature of the context and a feature list, too; leave it out of features=");
}

}  // namespace headrace

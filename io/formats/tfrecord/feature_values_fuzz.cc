// Fuzzes messages of examples. Any bytes: each entry of a message is read or is damaged at a byte of it, and names are
// found as they come. Any values: written packed and single, they are read back.
// Input: a byte, whose lowest bit chooses between the two, and the message; or the values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/formats/tfrecord/feature_finder.h"
#include "io/formats/tfrecord/feature_values.h"
#include "io/formats/tfrecord/testing/example_bytes.h"

namespace {

using headrace::FeatureEntry;
using headrace::FeatureKind;
using headrace::FeatureValues;
using headrace::Packing;
using headrace::Require;

bool IsWithin(const char* at, std::string_view bytes) {
  return at >= bytes.data() && at <= bytes.data() + bytes.size();
}

void ReadEntry(const FeatureEntry& entry, FeatureValues& values) {
  const char* const damage = values.Read(entry);
  Require(damage == nullptr || IsWithin(damage, entry.bytes), "damage is at a byte of the entry");
  if (damage != nullptr) return;
  Require(values.kind() == FeatureKind::kNone ? values.count() == 0 : values.count() <= entry.bytes.size(),
          "a value takes a byte at least");
  if (values.other_kind().has_value()) return;
  if (values.kind() == FeatureKind::kInt64s) Require(values.ints().size() == values.count(), "numbers are counted");
  if (values.kind() == FeatureKind::kBytes) {
    Require(values.texts().size() == values.count(), "texts are counted");
    for (const std::string_view text : values.texts()) Require(IsWithin(text.data(), entry.bytes), "texts are views");
  }
  std::vector<float> floats(values.kind() == FeatureKind::kFloats ? values.count() : 0);
  if (!floats.empty()) values.CopyFloats(floats.data());
}

void ReadMessage(std::string_view record) {
  std::map<std::string, FeatureEntry> last;
  std::map<std::string, int> maps;  // 1: the first, 2: the second, 3: both
  FeatureValues values;
  const absl::Status read = headrace::ForEachFeature(record, [&](std::string_view name, const FeatureEntry& entry) {
    last[std::string(name)] = entry;
    maps[std::string(name)] |= entry.is_list ? 2 : 1;
    ReadEntry(entry, values);
  });
  Require(read.ok() || headrace::KindOf(read) == headrace::ErrorKind::kData, "damage is the record's");
  std::vector<std::string> names = {"", "a"};
  for (const auto& [name, entry] : last) {
    if (names.size() < 20 && name != "" && name != "a") names.push_back(name);
  }
  headrace::FeatureFinder finder(names);
  for (int round = 0; round < 2; ++round) {
    std::vector<FeatureEntry> found(names.size());
    const absl::Status status = finder.Find(record, absl::MakeSpan(found));
    Require(read.ok() || !status.ok(), "a damaged message has no features");
    if (!status.ok()) continue;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto listed = last.find(names[i]);
      Require(found[i].there == (listed != last.end()), "what is there is found");
      if (!found[i].there) continue;
      Require(found[i].bytes.data() == listed->second.bytes.data(), "the last entry counts");
      Require(maps[names[i]] != 3, "a name is in one of the maps");
    }
  }
}

void ReadBack(std::string_view input) {
  std::vector<int64_t> ints(input.size() / sizeof(int64_t));
  if (!ints.empty()) std::memcpy(ints.data(), input.data(), ints.size() * sizeof(int64_t));
  std::vector<float> floats(input.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), input.data(), floats.size() * sizeof(float));
  for (const Packing packing : {Packing::kPacked, Packing::kSingle}) {
    const std::string record = headrace::ExampleBytes({{"i", headrace::Int64Feature(ints, packing)},
                                                       {"f", headrace::FloatFeature(floats, packing)},
                                                       {"b", headrace::BytesFeature({std::string(input)})}});
    headrace::FeatureFinder finder({"i", "f", "b"});
    std::vector<FeatureEntry> found(3);
    Require(finder.Find(record, absl::MakeSpan(found)).ok(), "a message is read");
    FeatureValues values;
    Require(values.Read(found[0]) == nullptr && values.kind() == FeatureKind::kInt64s &&
                values.ints() == absl::MakeConstSpan(ints),
            "whole numbers come back");
    std::vector<float> copied(floats.size());
    Require(values.Read(found[1]) == nullptr && values.count() == floats.size(), "floats are counted");
    values.CopyFloats(copied.data());
    Require(floats.empty() || std::memcmp(copied.data(), floats.data(), floats.size() * sizeof(float)) == 0,
            "floats come back");
    Require(values.Read(found[2]) == nullptr && values.count() == 1 && values.texts()[0] == input, "bytes come back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4000));
  if (input.empty()) return 0;
  if (input[0] % 2 == 0) {
    ReadMessage(input.substr(1));
  } else {
    ReadBack(input.substr(1));
  }
  return 0;
}

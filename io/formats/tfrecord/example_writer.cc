#include "io/formats/tfrecord/example_writer.h"

#include <cstddef>

#include "core/varint.h"
#include "io/formats/tfrecord/feature_values.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {
namespace {

using Ints = absl::Span<const int64_t>;
using Floats = absl::Span<const float>;
using Texts = absl::Span<const std::string_view>;

// All fields that are written are messages or byte strings.
constexpr char kTagOfFirst = 1 << 3 | 2;
constexpr char kTagOfSecond = 2 << 3 | 2;

// Of a field of so many bytes, with its tag.
size_t FieldSize(size_t bytes) { return 1 + VarintSize(bytes) + bytes; }

void PutField(char tag, size_t size, std::string& bytes) {
  bytes.push_back(tag);
  PutVarint(bytes, size);
}

// ---- the lists ----

size_t PackedSize(Ints values) {
  size_t size = 0;
  for (const int64_t value : values) size += VarintSize(static_cast<uint64_t>(value));
  return size;
}
size_t PackedSize(Floats values) { return values.size() * sizeof(float); }

template <typename T>
size_t ListSize(absl::Span<const T> values) {
  return values.empty() ? 0 : FieldSize(PackedSize(values));
}
size_t ListSize(Texts values) {
  size_t size = 0;
  for (const std::string_view value : values) size += FieldSize(value.size());
  return size;
}

void PutList(Ints values, std::string& bytes) {
  if (values.empty()) return;
  PutField(kTagOfFirst, PackedSize(values), bytes);
  for (const int64_t value : values) PutVarint(bytes, static_cast<uint64_t>(value));
}
void PutList(Floats values, std::string& bytes) {
  if (values.empty()) return;
  PutField(kTagOfFirst, PackedSize(values), bytes);
  bytes.append(reinterpret_cast<const char*>(values.data()), PackedSize(values));
}
void PutList(Texts values, std::string& bytes) {
  for (const std::string_view value : values) {
    PutField(kTagOfFirst, value.size(), bytes);
    bytes.append(value);
  }
}

FeatureKind KindOfList(const WrittenFeature& feature) {
  if (std::holds_alternative<Ints>(feature.values)) return FeatureKind::kInt64s;
  return std::holds_alternative<Floats>(feature.values) ? FeatureKind::kFloats : FeatureKind::kBytes;
}

// ---- the messages around them ----

size_t SizeOfList(const WrittenFeature& feature) {
  return std::visit([](const auto& values) { return ListSize(values); }, feature.values);
}

size_t SizeOfEntry(const WrittenFeature& feature) {
  return FieldSize(feature.name.size()) + FieldSize(FieldSize(SizeOfList(feature)));
}

void PutEntry(const WrittenFeature& feature, std::string& bytes) {
  const size_t list = SizeOfList(feature);
  PutField(kTagOfFirst, SizeOfEntry(feature), bytes);
  PutField(kTagOfFirst, feature.name.size(), bytes);
  bytes.append(feature.name);
  PutField(kTagOfSecond, FieldSize(list), bytes);
  PutField(static_cast<char>(static_cast<int>(KindOfList(feature)) << 3 | 2), list, bytes);
  std::visit([&](const auto& values) { PutList(values, bytes); }, feature.values);
}

}  // namespace

void AppendExample(absl::Span<const WrittenFeature> features, std::string& bytes) {
  size_t size = 0;
  for (const WrittenFeature& feature : features) size += FieldSize(SizeOfEntry(feature));
  PutField(kTagOfFirst, size, bytes);
  for (const WrittenFeature& feature : features) PutEntry(feature, bytes);
}

absl::Status AppendExampleRecord(absl::Span<const WrittenFeature> features, std::string& frames) {
  std::string message;
  AppendExample(features, message);
  return AppendTfRecord({message}, frames);
}

}  // namespace headrace

#include "io/formats/tfrecord/testing/example_bytes.h"

#include <cstring>

#include "core/testing/require.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace headrace {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kLengthDelimited = 2;
constexpr uint32_t kFixed32 = 5;

std::string FloatBytes(float value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

template <typename T, typename BytesOf>
std::string NumbersList(const std::vector<T>& values, Packing packing, uint32_t wire_type, BytesOf bytes_of) {
  std::string list;
  for (const T value : values) {
    if (packing == Packing::kSingle) list += TagBytes(1, wire_type);
    list += bytes_of(value);
  }
  return packing == Packing::kSingle || values.empty() ? list : FieldBytes(1, list);
}

}  // namespace

std::string TfRecordBytes(const std::vector<std::string>& payloads) {
  std::string frames;
  for (const std::string_view payload : payloads) Require(AppendTfRecord({payload}, frames).ok(), "a record fits");
  return frames;
}

std::string VarintBytes(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}

std::string TagBytes(uint32_t field, uint32_t wire_type) { return VarintBytes(uint64_t{field} << 3 | wire_type); }

std::string FieldBytes(uint32_t field, std::string_view content) {
  return (TagBytes(field, kLengthDelimited) + VarintBytes(content.size())).append(content);
}

std::string Int64Feature(const std::vector<int64_t>& values, Packing packing) {
  return FieldBytes(3, NumbersList(values, packing, kVarint,
                                   [](int64_t value) { return VarintBytes(static_cast<uint64_t>(value)); }));
}

std::string FloatFeature(const std::vector<float>& values, Packing packing) {
  return FieldBytes(2, NumbersList(values, packing, kFixed32, FloatBytes));
}

std::string BytesFeature(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += FieldBytes(1, value);
  return FieldBytes(1, list);
}

std::string FeaturesBytes(const NamedMessages& features) {
  std::string bytes;
  for (const auto& [name, message] : features) bytes += FieldBytes(1, FieldBytes(1, name) + FieldBytes(2, message));
  return bytes;
}

std::string ExampleBytes(const NamedMessages& features) { return FieldBytes(1, FeaturesBytes(features)); }

std::string FeatureListBytes(const std::vector<std::string>& features) {
  std::string bytes;
  for (const std::string& feature : features) bytes += FieldBytes(1, feature);
  return bytes;
}

std::string SequenceExampleBytes(const NamedMessages& context, const NamedMessages& lists) {
  return FieldBytes(1, FeaturesBytes(context)) + FieldBytes(2, FeaturesBytes(lists));
}

}  // namespace headrace

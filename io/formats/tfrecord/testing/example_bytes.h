// `TfRecordBytes` and `ExampleBytes` make the bytes of TFRecord files and of the messages in them, field by field, so
// that tests can also write what no library writes.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_TESTING_EXAMPLE_BYTES_H_
#define HEADRACE_IO_FORMATS_TFRECORD_TESTING_EXAMPLE_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {

// A file of these records.
std::string TfRecordBytes(const std::vector<std::string>& payloads);

// The wire of protobuf.
std::string VarintBytes(uint64_t value);
std::string TagBytes(uint32_t field, uint32_t wire_type);
// A field of bytes, or of a message.
std::string FieldBytes(uint32_t field, std::string_view content);

enum class Packing { kPacked, kSingle };

// The messages Feature of one kind.
std::string Int64Feature(const std::vector<int64_t>& values, Packing packing = Packing::kPacked);
std::string FloatFeature(const std::vector<float>& values, Packing packing = Packing::kPacked);
std::string BytesFeature(const std::vector<std::string>& values);

// Names and messages, in this order, however often a name comes.
using NamedMessages = std::vector<std::pair<std::string, std::string>>;
// The message Features, or with messages FeatureList the message FeatureLists.
std::string FeaturesBytes(const NamedMessages& features);
std::string ExampleBytes(const NamedMessages& features);
std::string FeatureListBytes(const std::vector<std::string>& features);
std::string SequenceExampleBytes(const NamedMessages& context, const NamedMessages& lists);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_TESTING_EXAMPLE_BYTES_H_

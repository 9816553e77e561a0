// `AppendExample` writes a tf.train.Example: packed lists, and features in the order given, so that rows of equal
// values are equal bytes. Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_EXAMPLE_WRITER_H_
#define HEADRACE_IO_FORMATS_TFRECORD_EXAMPLE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace headrace {

// A feature by its name, with the values of its one kind, perhaps none.
struct WrittenFeature {
  std::string_view name;
  std::variant<absl::Span<const int64_t>, absl::Span<const float>, absl::Span<const std::string_view>> values;
};

// Appends the message.
void AppendExample(absl::Span<const WrittenFeature> features, std::string& bytes);

// Appends the frame of a TFRecord that holds it. kData: the record is too long.
absl::Status AppendExampleRecord(absl::Span<const WrittenFeature> features, std::string& frames);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_EXAMPLE_WRITER_H_

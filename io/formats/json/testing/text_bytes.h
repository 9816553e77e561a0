// `TextBytes` gives the bytes of a text as a stream, some at a time. Use it in tests of what reads streams.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_JSON_TESTING_TEXT_BYTES_H_
#define HEADRACE_IO_FORMATS_JSON_TESTING_TEXT_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/byte_stream.h"

namespace headrace::fixture {

class TextBytes : public ByteStream {
 public:
  // At most `most` bytes at a time.
  TextBytes(std::string text, size_t most) : text_(std::move(text)), most_(most) {}

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) override {
    const size_t count = std::min({target.size(), most_, text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<ptrdiff_t>(at_), count, target.begin());
    at_ += count;
    return count;
  }

 private:
  const std::string text_;
  const size_t most_;
  size_t at_ = 0;
};

}  // namespace headrace::fixture

#endif  // HEADRACE_IO_FORMATS_JSON_TESTING_TEXT_BYTES_H_

// `StackedTexts` collects the texts of a column in one growing buffer, with a table of their ends: they become a tensor
// without another copy.
// Threads: one thread at a time.
#ifndef HEADRACE_OPS_SOURCE_LINES_STACKED_TEXTS_H_
#define HEADRACE_OPS_SOURCE_LINES_STACKED_TEXTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/tensor.h"
#include "io/formats/record_reader.h"

namespace headrace {

class StackedTexts {
 public:
  // Room that there is after the bytes that were asked for.
  static constexpr size_t kShort = 32;

  // About so many texts will be added before the next Take, in all.
  void Expect(size_t texts) { expected_ = texts; }
  // Makes room for so many more texts of so many bytes together. kResource: there is no memory.
  absl::Status MakeRoom(size_t texts, size_t bytes) {
    const bool fits = bytes_ && ends_ && filled_ + bytes + kShort <= bytes_->capacity() &&
                      (count_ + texts + 1) * sizeof(int64_t) <= ends_->capacity();
    return fits ? absl::OkStatus() : Grow(texts, bytes);
  }
  // Where the bytes of the next text go.
  uint8_t* next() const { return bytes_->data() + filled_; }
  // Where the ends of the next texts go, each counted from begin().
  int64_t* next_ends() const { return reinterpret_cast<int64_t*>(ends_->data()) + count_ + 1; }
  const uint8_t* begin() const { return bytes_->data(); }
  // Adds the texts whose bytes and ends were written there.
  void Advance(size_t texts) {
    if (texts == 0) return;
    filled_ = static_cast<size_t>(next_ends()[texts - 1]);
    count_ += texts;
  }

  // Copies the text to `target` and advances it. May read and write kShort bytes past the end.
  static void Copy(std::string_view text, uint8_t*& target) {
    // Copies short texts with what is after them: a copy of fixed length is a few instructions.
    if (text.size() <= kShort) {
      std::memcpy(target, text.data(), kShort);
    } else {
      std::memcpy(target, text.data(), text.size());
    }
    target += text.size();
  }

  // The texts added, as strings of that shape, which holds as many; there is at least one.
  Tensor Take(absl::Span<const int64_t> shape);

 private:
  // A long text must not make the messages after it large.
  static constexpr size_t kMostUsual = size_t{1} << 20;

  absl::Status Grow(size_t texts, size_t bytes);

  BufferRef bytes_;  // of all texts, and room after them
  BufferRef ends_;   // where each text ends, after a 0
  size_t count_ = 0;
  size_t filled_ = 0;
  size_t expected_ = 0;
  // Texts and bytes of the last Take.
  size_t last_count_ = 0;
  size_t last_bytes_ = 0;
};

// Grows a buffer by `more` bytes after the `used` ones of the buffer, and at first for `usual` bytes in all. False:
// there is no memory, and it is unchanged.
bool GrowBuffer(BufferRef& buffer, size_t used, size_t more, size_t usual);

// Whether these records are UTF-8, as far as one look at the bytes of all of them shows: true is certain. The records
// are those of RecordColumns::Add, with something between them that is text.
bool AllAreUtf8(const RecordBlock& block, size_t first, size_t step, size_t count);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_LINES_STACKED_TEXTS_H_

// `JsonScanner` goes once over JSON of any length, value by value, in the order of the bytes, and holds a block of
// them. The first error is kept: every call after it gives false, so that a reader asks `status` where it matters.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_JSON_JSON_SCANNER_H_
#define HEADRACE_IO_FORMATS_JSON_JSON_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "io/formats/byte_stream.h"

namespace headrace {

enum class JsonKind { kObject, kArray, kText, kNumber, kBool, kNull, kNothing };

struct JsonNumber {
  double real = 0;
  // The same, where it is a whole number that 64 bits hold.
  bool is_whole = false;
  int64_t whole = 0;
};

class JsonScanner {
 public:
  // A text may have at most so many bytes, unless a scanner is made for longer ones.
  static constexpr size_t kMaxText = size_t{1} << 24;

  JsonScanner(std::unique_ptr<ByteStream> bytes, size_t block_bytes, size_t max_text = kMaxText);

  // Of the value that comes next; kNothing: there is no value, which is an error.
  JsonKind Peek();
  // Goes into an object, and to each of its keys in turn; false: it has no further one, or there was an error. The
  // value after a key is read or skipped before the next key.
  bool EnterObject();
  bool NextKey(std::string& key);
  // Goes into a list, and to each of its values in turn.
  bool EnterArray();
  bool NextElement();
  // Escapes are replaced. The text must be UTF-8.
  bool ReadText(std::string& text);
  bool ReadNumber(JsonNumber& number);
  bool ReadBool(bool& value);
  // Goes past a value of any kind and depth.
  bool Skip();
  // After the outermost value: nothing but blanks follow.
  bool AtEnd();

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  // Of the next byte, in what the stream gives.
  int64_t place() const { return base_ + static_cast<int64_t>(at_); }
  // Keeps an error of what was read: kData, with the place.
  bool Fail(std::string_view what);

 private:
  bool Fill(size_t needed);
  // -1: the end.
  int Look() { return at_ < end_ || Fill(1) ? static_cast<uint8_t>(buffer_[at_]) : -1; }
  int LookPastBlanks();
  bool Expect(char wanted, std::string_view what);
  bool SkipWord(std::string_view word);
  bool AppendRun(std::string& text);
  bool AppendEscape(std::string& text);
  bool ReadHex(uint32_t& unit);
  bool ReadLongNumber(JsonNumber& number);

  const std::unique_ptr<ByteStream> bytes_;
  const size_t block_bytes_;
  const size_t max_text_;
  std::unique_ptr<char[]> buffer_;
  size_t at_ = 0;
  size_t end_ = 0;
  int64_t base_ = 0;  // of the buffer in the stream
  bool drained_ = false;
  // Whether a list or object was entered and nothing in it was read.
  bool fresh_ = false;
  std::string open_;  // brackets, while values are skipped
  std::string skipped_;
  absl::Status status_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_JSON_JSON_SCANNER_H_

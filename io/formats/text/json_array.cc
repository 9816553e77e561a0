#include "io/formats/text/json_array.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kJsonArrayByteOrderMark = "\xEF\xBB\xBF";

bool IsJsonSpace(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

size_t AfterJsonSpaces(std::string_view bytes, size_t at) {
  while (at < bytes.size() && IsJsonSpace(bytes[at])) ++at;
  return at;
}

size_t AfterMark(std::string_view bytes) {
  return bytes.substr(0, kJsonArrayByteOrderMark.size()) == kJsonArrayByteOrderMark ? kJsonArrayByteOrderMark.size()
                                                                                    : 0;
}

// Where the text whose first quote is at `at` ends; npos: not in these bytes.
size_t AfterJsonText(std::string_view bytes, size_t at) {
  for (++at; at < bytes.size(); ++at) {
    if (bytes[at] == '"') return at + 1;
    if (bytes[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

// Where the list or object that begins with these bytes ends; npos: not in them.
size_t AfterBrackets(std::string_view bytes) {
  size_t depth = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char byte = bytes[at];
    if (byte == '"') {
      at = AfterJsonText(bytes, at);
      if (at == std::string_view::npos) return at;
      --at;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if ((byte == '}' || byte == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Cuts one run of bytes: goes from element to element.
class JsonArrayPass {
 public:
  JsonArrayPass(absl::Span<const uint8_t> bytes, int64_t offset, bool last, size_t longest)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        offset_(offset),
        last_(last),
        longest_(longest) {}

  // What is next: an element, the end of the array, bytes that are not there yet, or damage.
  enum class Next { kElement, kEnd, kMore, kDamage };

  Next Begin() {
    if (offset_ == 0) {
      const size_t bracket = AfterJsonSpaces(bytes_, AfterMark(bytes_));
      const size_t first = AfterJsonSpaces(bytes_, std::min(bracket + 1, bytes_.size()));
      if (first == bytes_.size()) return Missing(NotClosed());
      at_ = first;
    }
    return Here();
  }

  // At an element: goes on to what follows it, and says in `record` where it is. The pass stays there unless it is
  // whole, with the comma or bracket after it.
  Next Take(Record& record) {
    const size_t length = JsonElementLength(bytes_.substr(at_));
    if (length == 0) return Damaged(Cat("no element begins at byte ", Byte(at_), " of the array"));
    if (length == std::string_view::npos) return Missing(NotClosed());
    if (length > longest_) return Damaged(TooLong());
    const size_t after = AfterJsonSpaces(bytes_, at_ + length);
    if (after == bytes_.size()) return Missing(NotClosed());
    size_t next = after;
    if (bytes_[after] == ',') {
      next = AfterJsonSpaces(bytes_, after + 1);
      if (next == bytes_.size()) return Missing(NotClosed());
      if (bytes_[next] == ']') return Damaged(Cat("no element comes after the comma at byte ", Byte(after)));
    } else if (bytes_[after] != ']') {
      return Damaged(Cat("a comma, or the bracket that ends the array, is missing in front of byte ", Byte(after)));
    }
    record = {Byte(at_), static_cast<uint32_t>(at_), static_cast<uint32_t>(length)};
    at_ = next;
    return Here();
  }

  // At the bracket that ends the array: nothing but spaces may follow.
  Next End() {
    const size_t after = AfterJsonSpaces(bytes_, at_ + 1);
    if (after < bytes_.size()) {
      return Damaged(Cat("the array ends at byte ", Byte(at_), ", and the file goes on at byte ", Byte(after),
                         "; a file holds one array, or an object a line"));
    }
    if (!last_) return Missing({});
    at_ = after;
    return Next::kEnd;
  }

  size_t at() const { return at_; }
  int64_t byte() const { return Byte(at_); }
  const std::string& wrong() const { return wrong_; }

 private:
  Next Here() const { return bytes_[at_] == ']' ? Next::kEnd : Next::kElement; }
  int64_t Byte(size_t at) const { return offset_ + static_cast<int64_t>(at); }

  Next Damaged(std::string wrong) {
    wrong_ = std::move(wrong);
    return Next::kDamage;
  }
  // What is wrong if the file ends here.
  Next Missing(std::string wrong) {
    if (last_) return Damaged(std::move(wrong));
    return bytes_.size() - at_ > longest_ ? Damaged(TooLong()) : Next::kMore;
  }
  std::string NotClosed() const {
    return Cat("the file ends at byte ", Byte(bytes_.size()),
               " within the array, which no bracket ends: it was cut off");
  }
  std::string TooLong() const {
    return Cat("an element of the array is longer than ", longest_, " bytes; are its brackets and quotes closed?");
  }

  const std::string_view bytes_;
  const int64_t offset_;
  const bool last_;
  const size_t longest_;
  size_t at_ = 0;
  std::string wrong_;
};

}  // namespace

std::optional<bool> BeginsJsonArray(absl::Span<const uint8_t> first) {
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), std::min(first.size(), kJsonArrayBytes));
  if (bytes.size() < kJsonArrayByteOrderMark.size() && kJsonArrayByteOrderMark.substr(0, bytes.size()) == bytes) {
    return std::nullopt;
  }
  const size_t at = AfterJsonSpaces(bytes, AfterMark(bytes));
  if (at < bytes.size()) return bytes[at] == '[';
  return bytes.size() == kJsonArrayBytes ? std::optional(false) : std::nullopt;
}

size_t JsonElementLength(std::string_view bytes) {
  if (bytes.empty()) return std::string_view::npos;
  if (bytes[0] == '"') return AfterJsonText(bytes, 0);
  if (bytes[0] == '{' || bytes[0] == '[') return AfterBrackets(bytes);
  return bytes.find_first_of(" \t\r\n,]}{[\"");
}

Framing::First JsonArray::FindFirst(absl::Span<const uint8_t> bytes, int64_t /*offset*/, bool /*last*/) const {
  return {false, bytes.size()};
}

absl::StatusOr<Framing::Piece> JsonArray::Cut(absl::Span<uint8_t> bytes, int64_t offset, int64_t stop, bool last,
                                              std::vector<Record>& records) const {
  JsonArrayPass pass(bytes, offset, last, longest_);
  JsonArrayPass::Next next = pass.Begin();
  while (next == JsonArrayPass::Next::kElement && pass.byte() < stop) {
    Record record;
    next = pass.Take(record);
    if (next == JsonArrayPass::Next::kElement || next == JsonArrayPass::Next::kEnd) records.push_back(record);
  }
  // What follows the array is looked at once its elements were given.
  if (next == JsonArrayPass::Next::kEnd && records.empty()) next = pass.End();
  if (next == JsonArrayPass::Next::kDamage && records.empty()) return DataError(pass.wrong());
  // Stays at the file's start until an element is cut, so that damage is named by the same byte whatever is read at
  // once.
  const bool waits = offset == 0 && records.empty() && next == JsonArrayPass::Next::kMore;
  return Piece{waits ? 0 : pass.at(), 0};
}

}  // namespace headrace

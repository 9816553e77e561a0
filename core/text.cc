#include "core/text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"

namespace headrace::text_internal {
namespace {

// So many parts are read before their text is copied.
constexpr size_t kAtOnce = 8;

// The next parts of a list, as characters.
class NextParts {
 public:
  // Takes up to kAtOnce of them from `parts`, and their letters from `letters`.
  NextParts(const char*& letters, va_list* parts) {
    for (; count_ < kAtOnce && *letters != '\0'; ++count_, ++letters) {
      texts_[count_] = Read(*letters, parts, digits_[count_]);
      length_ += texts_[count_].size();
    }
  }
  NextParts(const NextParts&) = delete;

  void AppendTo(std::string& text) const {
    const size_t before = text.size();
    text.resize(before + length_);
    char* end = text.data() + before;
    for (size_t i = 0; i < count_; ++i) end = std::copy_n(texts_[i].data(), texts_[i].size(), end);
  }

 private:
  using Digits = char[absl::numbers_internal::kFastToBufferSize];

  static std::string_view Read(char letter, va_list* parts, Digits& digits) {
    switch (letter) {
      case kCString: {
        const char* const text = va_arg(*parts, const char*);
        return text == nullptr ? std::string_view() : std::string_view(text);
      }
      case kString:
        return *va_arg(*parts, const std::string*);
      case kView: {
        const View view = va_arg(*parts, View);
        return {view.data, view.size};
      }
      case kDouble:
        return {digits, absl::numbers_internal::SixDigitsToBuffer(va_arg(*parts, double), digits)};
      case kSigned:
        return Until(absl::numbers_internal::FastIntToBuffer(va_arg(*parts, int64_t), digits), digits);
      default:
        return Until(absl::numbers_internal::FastIntToBuffer(va_arg(*parts, uint64_t), digits), digits);
    }
  }

  static std::string_view Until(const char* end, const Digits& digits) {
    return {digits, static_cast<size_t>(end - digits)};
  }

  size_t count_ = 0;
  size_t length_ = 0;
  std::string_view texts_[kAtOnce];
  Digits digits_[kAtOnce];
};

void AppendList(std::string& text, const char* letters, va_list parts) {
  va_list left;
  va_copy(left, parts);
  while (*letters != '\0') NextParts(letters, &left).AppendTo(text);
  va_end(left);
}

}  // namespace

std::string JoinedList(const char* letters, va_list parts) {
  std::string text;
  AppendList(text, letters, parts);
  return text;
}

std::string Joined(const char* letters, ...) {
  va_list parts;
  va_start(parts, letters);
  std::string text = JoinedList(letters, parts);
  va_end(parts);
  return text;
}

void AppendJoined(std::string& text, const char* letters, ...) {
  va_list parts;
  va_start(parts, letters);
  AppendList(text, letters, parts);
  va_end(parts);
}

}  // namespace headrace::text_internal

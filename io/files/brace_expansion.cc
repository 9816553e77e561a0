#include "io/files/brace_expansion.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

using ExpandedTexts = std::vector<std::string>;

constexpr int kMostBraces = 32;  // within each other
constexpr size_t kMostDigits = 18;
constexpr std::string_view kBraceLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// The text as messages show it.
std::string ShownBraces(std::string_view text) {
  constexpr size_t kMostShown = 200;
  return text.size() <= kMostShown ? std::string(text) : Cat(text.substr(0, kMostShown), "…");
}

absl::Status TooManyTexts(std::string_view text) {
  return GraphError("braces stand for more than ", kMostExpanded, " names, or ", kMostExpandedBytes >> 20,
                    " MiB of them; write a pattern with * in their place: ", ShownBraces(text));
}

size_t BytesOfTexts(const ExpandedTexts& texts) {
  size_t bytes = 0;
  for (const std::string& each : texts) bytes += each.size();
  return bytes;
}

// A number as braces have it.
struct BraceNumber {
  int64_t value = 0;
  size_t width = 0;  // of its text; 0: it does not begin with 0
};

std::optional<BraceNumber> BraceNumberOf(std::string_view text) {
  const size_t sign = text.substr(0, 1) == "-" ? 1 : 0;
  const std::string_view digits = text.substr(sign);
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  BraceNumber number;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0') number.width = text.size();
  return number;
}

std::string PaddedNumber(int64_t value, size_t width) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  const size_t sign = value < 0 ? 1 : 0;
  if (digits.size() + sign < width) digits.insert(0, width - sign - digits.size(), '0');
  return value < 0 ? Cat("-", digits) : digits;
}

// "000..999", "a..e" or "1..9..2" as its ends and step.
struct BraceRange {
  std::string_view first = {};
  std::string_view last = {};
  std::string_view step = {};
};

std::optional<BraceRange> BraceRangeOf(std::string_view inside) {
  constexpr std::string_view kDots = "..";
  const size_t one = inside.find(kDots);
  if (one == std::string_view::npos) return std::nullopt;
  BraceRange range = {inside.substr(0, one), inside.substr(one + kDots.size()), {}};
  const size_t two = range.last.find(kDots);
  if (two != std::string_view::npos) {
    range.step = range.last.substr(two + kDots.size());
    range.last = range.last.substr(0, two);
    if (range.step.empty()) return std::nullopt;
  }
  return range;
}

class BraceExpansion {
 public:
  explicit BraceExpansion(std::string_view text) : text_(text), closing_(text.size(), kNone) { Match(); }

  absl::StatusOr<ExpandedTexts> Expand() { return Expand(0, text_.size(), 0); }

 private:
  static constexpr size_t kNone = std::string_view::npos;

  // Finds the brace that closes each, so that each character is looked at a fixed number of times.
  void Match() {
    std::vector<size_t> open;
    for (size_t at = 0; at < text_.size(); ++at) {
      if (text_[at] == '\\') {
        ++at;
      } else if (text_[at] == '{') {
        open.push_back(at);
      } else if (text_[at] == '}' && !open.empty()) {
        closing_[open.back()] = at;
        open.pop_back();
      }
    }
  }

  absl::StatusOr<ExpandedTexts> Expand(size_t begin, size_t end, int depth) const {
    if (depth > kMostBraces)
      return GraphError("braces are nested more than ", kMostBraces, " deep: ", ShownBraces(text_));
    ExpandedTexts texts(1);
    size_t literal = begin;
    for (size_t at = begin; at < end; ++at) {
      if (text_[at] == '\\') {
        ++at;
      } else if (text_[at] == '{' && closing_[at] != kNone) {
        HEADRACE_ASSIGN_OR_RETURN(const ExpandedTexts group, Group(at + 1, closing_[at], depth));
        HEADRACE_RETURN_IF_ERROR(Join({std::string(text_.substr(literal, at - literal))}, texts));
        HEADRACE_RETURN_IF_ERROR(Join(group, texts));
        at = closing_[at];
        literal = at + 1;
      }
    }
    HEADRACE_RETURN_IF_ERROR(Join({std::string(text_.substr(literal, end - literal))}, texts));
    return texts;
  }

  // Puts each of `parts` after each of the texts.
  absl::Status Join(const ExpandedTexts& parts, ExpandedTexts& texts) const {
    if (parts.size() == 1 && parts[0].empty()) return absl::OkStatus();
    const size_t count = texts.size() * parts.size();
    if (count > kMostExpanded) return TooManyTexts(text_);
    if (BytesOfTexts(texts) * parts.size() + BytesOfTexts(parts) * texts.size() > kMostExpandedBytes) {
      return TooManyTexts(text_);
    }
    if (parts.size() == 1) {
      for (std::string& text : texts) text += parts[0];
      return absl::OkStatus();
    }
    ExpandedTexts joined;
    joined.reserve(count);
    for (const std::string& text : texts) {
      for (const std::string& part : parts) joined.push_back(Cat(text, part));
    }
    texts = std::move(joined);
    return absl::OkStatus();
  }

  // What the braces around these bytes stand for.
  absl::StatusOr<ExpandedTexts> Group(size_t begin, size_t end, int depth) const {
    const std::string_view inside = text_.substr(begin, end - begin);
    if (const std::optional<BraceRange> range = BraceRangeOf(inside); range.has_value()) {
      HEADRACE_ASSIGN_OR_RETURN(ExpandedTexts counted, Counted(*range));
      if (!counted.empty()) return counted;
    }
    ExpandedTexts texts;
    size_t part = begin;
    for (size_t at = begin; at <= end; ++at) {
      if (at < end && text_[at] == '\\') {
        ++at;
      } else if (at < end && text_[at] == '{' && closing_[at] != kNone) {
        at = closing_[at];
      } else if (at >= end || text_[at] == ',') {
        HEADRACE_ASSIGN_OR_RETURN(ExpandedTexts more, Expand(part, std::min(at, end), depth + 1));
        // Braces without a comma are characters.
        if (part == begin && at >= end) return InBraces(std::move(more));
        if (texts.size() + more.size() > kMostExpanded) return TooManyTexts(text_);
        std::move(more.begin(), more.end(), std::back_inserter(texts));
        part = at + 1;
      }
    }
    return texts;
  }

  static ExpandedTexts InBraces(ExpandedTexts texts) {
    for (std::string& text : texts) text = Cat("{", text, "}");
    return texts;
  }

  // Empty: it is no range.
  absl::StatusOr<ExpandedTexts> Counted(const BraceRange& range) const {
    std::optional<BraceNumber> step = BraceNumber{1, 0};
    if (!range.step.empty()) step = BraceNumberOf(range.step);
    if (!step.has_value()) return ExpandedTexts();
    const int64_t by = std::max<int64_t>(1, step->value < 0 ? -step->value : step->value);
    const bool letters = range.first.size() == 1 && range.last.size() == 1;
    const size_t first = letters ? kBraceLetters.find(range.first[0]) : kNone;
    const size_t last = letters ? kBraceLetters.find(range.last[0]) : kNone;
    if (first != kNone && last != kNone) {
      return Count(static_cast<int64_t>(first), static_cast<int64_t>(last), by,
                   [](int64_t at) { return std::string(1, kBraceLetters[static_cast<size_t>(at)]); });
    }
    const std::optional<BraceNumber> begin = BraceNumberOf(range.first), end = BraceNumberOf(range.last);
    if (!begin.has_value() || !end.has_value()) return ExpandedTexts();
    const bool padded = begin->width > 0 || end->width > 0;
    const size_t width = padded ? std::max(range.first.size(), range.last.size()) : 0;
    return Count(begin->value, end->value, by, [=](int64_t at) { return PaddedNumber(at, width); });
  }

  template <typename Text>
  absl::StatusOr<ExpandedTexts> Count(int64_t first, int64_t last, int64_t by, Text text) const {
    const auto apart = static_cast<uint64_t>(first < last ? last - first : first - last);
    const uint64_t count = apart / static_cast<uint64_t>(by) + 1;
    if (count > kMostExpanded) return TooManyTexts(text_);
    ExpandedTexts texts;
    texts.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      const int64_t moved = static_cast<int64_t>(i) * by;
      texts.push_back(text(first < last ? first + moved : first - moved));
    }
    return texts;
  }

  const std::string_view text_;
  std::vector<size_t> closing_;  // of the brace at each byte; kNone: it opens none, or none closes it
};

// Takes out the backslashes, but for one after another.
void Unescape(std::string& text) {
  size_t kept = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    text[kept++] = text[at];
  }
  text.resize(kept);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandBraces(std::string_view text) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<std::string> texts, BraceExpansion(text).Expand());
  for (std::string& each : texts) Unescape(each);
  return texts;
}

}  // namespace headrace

#include "io/formats/recordio/image_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "core/error.h"
#include "io/formats/recordio/text_fields.h"

namespace headrace {
namespace {

// As Python reads a number and stores it in 4 bytes: by way of float64.
bool ReadLabel(std::string_view text, float& label) {
  double number = 0;
  if (!ReadNumber(text, number)) return false;
  label = static_cast<float>(number);
  return std::isfinite(label) || !std::isfinite(number);
}

// Whether the text is a whole number that is not the label: of two classes it would make one.
bool IsRoundedClass(std::string_view text, float label) {
  // Programs write large numbers of float32 so, with fewer digits than they have.
  if (text.find_first_of("eE") != std::string_view::npos || !std::isfinite(label)) return false;
  const bool fraction = text.find('.') != std::string_view::npos;
  if (fraction) {
    double number = 0;
    ReadNumber(text, number);
    return std::floor(number) == number && static_cast<double>(label) != number;
  }
  text.remove_prefix(std::min(text.size(), text.find_first_not_of("+-0")));
  char digits[64];
  const std::to_chars_result end =
      std::to_chars(std::begin(digits), std::end(digits), std::abs(double{label}), std::chars_format::fixed, 0);
  return text != std::string_view(digits, static_cast<size_t>(end.ptr - digits)) && !(text.empty() && label == 0);
}

std::string Quoted(std::string_view text) { return Cat("\"", text.substr(0, 100), "\""); }

// The part of the message after the path and the line; empty: the line is good.
std::string AddLine(std::string_view line, std::vector<float>& labels, ImageList& list) {
  const size_t first = line.find('\t');
  const size_t last = line.rfind('\t');
  if (first == last) return Cat("a list has an index, labels and a path, with tabs between them; got ", Quoted(line));
  const std::string_view path = WithoutSpaces(line.substr(last));
  const std::string_view index_text = WithoutSpaces(line.substr(0, first));
  uint64_t index = 0;
  if (!ReadNumber(index_text, index)) {
    return Cat("the index ", Quoted(index_text), " is not a whole number from 0 to 2^64 - 1");
  }
  labels.clear();
  for (size_t begin = first + 1; begin <= last;) {
    const size_t end = line.find('\t', begin);
    const std::string_view text = WithoutSpaces(line.substr(begin, end - begin));
    float label = 0;
    if (!ReadLabel(text, label)) return Cat("the label ", Quoted(text), " is not a number of float32");
    if (IsRoundedClass(text, label)) {
      return Cat("the label ", Quoted(text),
                 " is a whole number that float32, the type of labels, does not hold; number "
                 "the classes from 0");
    }
    labels.push_back(label);
    begin = end + 1;
  }
  list.Add(index, labels, path);
  return {};
}

}  // namespace

absl::Span<const float> ImageList::labels(size_t i) const {
  const size_t begin = i == 0 ? 0 : label_ends_[i - 1];
  return absl::MakeConstSpan(labels_).subspan(begin, label_ends_[i] - begin);
}

std::string_view ImageList::path(size_t i) const {
  const size_t begin = i == 0 ? 0 : path_ends_[i - 1];
  return std::string_view(paths_).substr(begin, path_ends_[i] - begin);
}

void ImageList::Add(uint64_t index, absl::Span<const float> labels, std::string_view path) {
  indices_.push_back(index);
  labels_.insert(labels_.end(), labels.begin(), labels.end());
  label_ends_.push_back(labels_.size());
  paths_ += path;
  path_ends_.push_back(paths_.size());
}

absl::StatusOr<ImageList> ParseImageList(std::string_view text, std::string_view path) {
  ImageList list;
  std::vector<float> labels;
  HEADRACE_RETURN_IF_ERROR(ForEachLine(text, [&](size_t number, std::string_view line) {
    const std::string wrong = AddLine(line, labels, list);
    return wrong.empty() ? absl::OkStatus() : DataError(path, ", line ", number, ": ", wrong);
  }));
  return list;
}

void AppendImageListLine(uint64_t index, absl::Span<const float> labels, std::string_view path, LabelText label_text,
                         std::string& text) {
  Append(text, index, "\t");
  // The longest is -3.4e38 with all its digits.
  char digits[64];
  for (const float label : labels) {
    const std::to_chars_result end =
        label_text == LabelText::kFixed
            ? std::to_chars(std::begin(digits), std::end(digits), double{label}, std::chars_format::fixed, 6)
            : std::to_chars(std::begin(digits), std::end(digits), label);
    text.append(digits, end.ptr);
    text += '\t';
  }
  Append(text, path, "\n");
}

}  // namespace headrace

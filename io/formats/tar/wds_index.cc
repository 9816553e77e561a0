#include "io/formats/tar/wds_index.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/error.h"
#include "io/formats/tar/tar_format.h"
#include "io/formats/tar/tar_member.h"
#include "io/formats/tar/tar_name.h"

namespace headrace {
namespace {

// Takes the text up to the first `end`, or all of it.
std::string_view TakeUpTo(char end, std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

class WdsIndex {
 public:
  WdsIndex(std::string_view text, std::string_view path, int64_t size) : text_(text), path_(path), size_(size) {}

  absl::StatusOr<ItemSpans> Parse() {
    std::string_view head = TakeLine();
    const std::string_view version = TakeUpTo(' ', head);
    named_ = version == "v1.2";
    const std::optional<int64_t> lines = WholeNumber(head);
    if ((!named_ && version != "v1.1") || !lines.has_value()) {
      return Wrong("it is not the first of an index of wds2idx, \"v1.2 <samples>\"");
    }
    for (int64_t i = 0; i < *lines; ++i) {
      if (text_.empty()) return Wrong(Cat("the index ends before the ", *lines, " samples that its first line states"));
      HEADRACE_RETURN_IF_ERROR(AddLine(TakeLine()));
    }
    if (!text_.empty())
      return Wrong(Cat("the index goes on after the ", *lines, " samples that its first line states"));
    spans_.end = end_;
    return std::move(spans_);
  }

 private:
  std::string_view TakeLine() {
    ++line_;
    std::string_view line = TakeUpTo('\n', text_);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  template <typename Text>
  absl::Status Wrong(const Text& text) const {
    return DataError(path_, ": line ", line_, ": ", text, "; make the index anew, or read with index=\"build\"");
  }

  absl::Status AddLine(std::string_view line) {
    // Without names, a line is a sample.
    if (!named_) open_ = false;
    while (!line.empty()) {
      TakeUpTo(' ', line);
      const std::optional<int64_t> offset = WholeNumber(TakeUpTo(' ', line));
      const std::optional<int64_t> bytes = WholeNumber(TakeUpTo(' ', line));
      const std::string_view name = named_ ? TakeUpTo(' ', line) : "";
      if (!offset.has_value() || !bytes.has_value() || (named_ && name.empty())) {
        return Wrong("it is not \"extension offset size name\" for each member; is there a space in a name?");
      }
      HEADRACE_RETURN_IF_ERROR(AddMember(*offset, *bytes, name));
    }
    return absl::OkStatus();
  }

  absl::Status AddMember(int64_t offset, int64_t bytes, std::string_view name) {
    constexpr auto kBlock = static_cast<int64_t>(kTarBlock);
    if (offset % kBlock != 0 || offset < end_ + kBlock || offset > size_ || bytes > size_ - offset) {
      return Wrong(Cat("no member has ", bytes, " bytes at byte ", offset, " of an archive of ", size_,
                       " bytes, after the members before it"));
    }
    const int64_t begin = end_;
    end_ = std::min(size_, offset + (bytes + kBlock - 1) / kBlock * kBlock);
    if (named_) {
      const std::optional<TarName> of = TarNameOf(name);
      // What wds2idx takes for samples of their own belongs to none.
      if (!of.has_value()) return absl::OkStatus();
      if (open_ && of->key != key_) open_ = false;
      key_ = of->key;
    }
    if (!open_) {
      spans_.begins.push_back(begin);
      spans_.ends.push_back(end_);
    }
    open_ = true;
    spans_.ends.back() = end_;
    if (end_ - spans_.begins.back() > TarFormat::kLongest) return Wrong("the sample is too long");
    return absl::OkStatus();
  }

  std::string_view text_;
  const std::string_view path_;
  const int64_t size_;
  int64_t line_ = 0;
  bool named_ = false;
  bool open_ = false;  // further members may belong to the last sample
  std::string key_;
  int64_t end_ = 0;  // of the members so far
  ItemSpans spans_;
};

}  // namespace

absl::StatusOr<ItemSpans> ParseWdsIndex(std::string_view text, std::string_view path, int64_t size) {
  return WdsIndex(text, path, size).Parse();
}

}  // namespace headrace

// Fuzzes text files: lines are those between line ends, or between those outside of quotes, whatever the size of blocks
// and splits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/split_table.h"
#include "io/formats/text/line_format.h"

namespace {

using headrace::Require;

constexpr size_t kMostBytes = 4000;

constexpr char kQuote = '"';

size_t EndOf(std::string_view text, bool quoted) {
  bool within = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == kQuote) within = !within;
    if (text[i] == '\n' && !within) return i;
  }
  return text.size();
}

std::vector<std::string> LinesOf(std::string_view text, bool quoted) {
  if (text == "\xEF\xBB\xBF") return {};
  if (text.substr(0, 3) == "\xEF\xBB\xBF" && text.find('\n') >= 3) {
    std::vector<std::string> lines = LinesOf(headrace::Cat("x", text.substr(3)), quoted);
    lines[0].erase(0, 1);
    return lines;
  }
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = EndOf(text, quoted);
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void Read(const headrace::LineFormat& format, const headrace::OneFile& file, const headrace::Split& split,
          size_t block_bytes, std::vector<std::string>& lines) {
  const auto reader = format.Open(file, "a.txt", split, split.begin, block_bytes);
  Require(reader.ok(), "a file is opened");
  headrace::RecordBlock block;
  do {
    Require((*reader)->Next(block).ok(), "any bytes are lines");
    for (size_t i = 0; i < block.records.size(); ++i) lines.emplace_back(block.content(i));
  } while (!block.records.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  // What a compressed file holds is for other fuzz tests.
  if (headrace::CompressionOf({data, text.size()}) != headrace::Compression::kNone) return 0;
  const std::vector<std::string> expected = LinesOf(text, false);
  const std::vector<std::string> quoted = LinesOf(text, true);
  const headrace::LineFormat format;
  const headrace::LineFormat format_of_quoted(headrace::LineFormat::kLongest, kQuote);
  const headrace::OneFile file{std::string(text)};
  for (const size_t block : {3, 64, 1 << 16}) {
    std::vector<std::string> whole;
    Read(format_of_quoted, file, {}, block, whole);
    Require(whole == quoted, "blocks of any size give the lines that go on within quotes");
    for (const int64_t split_bytes : {11, 200, 1 << 16}) {
      const headrace::SplitTable splits({static_cast<int64_t>(text.size())}, split_bytes);
      std::vector<std::string> lines;
      for (uint64_t i = 0; i < splits.size(); ++i) Read(format, file, splits.At(i).split, block, lines);
      Require(lines == expected, "splits and blocks of any size give the lines");
    }
  }
  return 0;
}

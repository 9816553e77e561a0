// Fuzzes text files with a header. Any bytes: the header is the first line, and the others are those of the file
// without it, whatever the size of blocks and splits; a file with another header is damaged.
// Input: a byte, whose lowest bit says whether there are quotes, and the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/split_table.h"
#include "io/formats/text/headed_lines.h"

namespace {

using headrace::Require;

constexpr size_t kMostBytes = 2000;

using Lines = std::vector<std::string>;

// Adds the lines of a split; false: the file is damaged.
bool AddLines(const headrace::Format& format, const headrace::OneFile& file, const headrace::Split& split,
              size_t block_bytes, Lines& lines) {
  const auto reader = format.Open(file, "a.csv", split, split.begin, block_bytes);
  Require(reader.ok(), "a file is opened");
  headrace::RecordBlock block;
  do {
    const absl::Status status = (*reader)->Next(block);
    if (!status.ok()) Require(headrace::KindOf(status) == headrace::ErrorKind::kData, "damage is the file's");
    if (!status.ok()) return false;
    for (size_t i = 0; i < block.records.size(); ++i) lines.emplace_back(block.content(i));
  } while (!block.records.empty());
  return true;
}

void CheckLines(const headrace::HeadedLines& format, const headrace::OneFile& file, int64_t size,
                const Lines& expected) {
  for (const size_t block : {1, 7, 4096}) {
    for (const int64_t split_bytes : {int64_t{5}, int64_t{61}, size + 1}) {
      const headrace::SplitTable splits({size}, split_bytes);
      Lines lines;
      for (uint64_t i = 0; i < splits.size(); ++i) {
        Require(AddLines(format, file, splits.At(i).split, block, lines), "the header is the file's own");
      }
      Require(lines == expected, "the lines after the header");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, std::min(size - 1, kMostBytes));
  const std::optional<char> quote = data[0] % 2 == 1 ? std::optional<char>('"') : std::nullopt;
  const headrace::OneFile file(bytes);
  const auto compression = headrace::CompressionOfFile(file, "a.csv");
  // Compressed files have tests of their own.
  if (!compression.ok() || *compression != headrace::Compression::kNone) return 0;
  const absl::StatusOr<std::optional<std::string>> header = headrace::HeadedLines::HeaderOf(file, "a.csv", quote);
  Require(header.ok(), "any bytes have a first line");
  Lines lines;
  const headrace::LineFormat plain(headrace::LineFormat::kLongest, quote);
  Require(AddLines(plain, file, {0, static_cast<int64_t>(bytes.size())}, 4096, lines), "any bytes are lines");
  Require(header->has_value() == !lines.empty(), "a file without a line has no header");
  if (!header->has_value()) return 0;
  Require(lines.front() == **header, "the header is the first line");
  lines.erase(lines.begin());
  const headrace::HeadedLines format(**header, "a.csv", quote);
  const auto length = static_cast<int64_t>(bytes.size());
  // Line ends within quotes make each file one split.
  if (quote.has_value()) {
    Lines whole;
    Require(AddLines(format, file, {0, length}, 64, whole) && whole == lines, "the lines after the header");
  } else {
    CheckLines(format, file, length, lines);
  }
  Lines none;
  const headrace::HeadedLines other(headrace::Cat(**header, "x"), "b.csv", quote);
  Require(!AddLines(other, file, {0, length}, 64, none) && none.empty(), "another header is damage");
  return 0;
}

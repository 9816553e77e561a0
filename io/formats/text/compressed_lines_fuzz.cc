// Fuzzes lines of compressed files: they are those of the plain file, whatever the size of blocks, from each of them
// on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/text/line_format.h"

namespace {

using headrace::Compression;
using headrace::Require;

constexpr size_t kMostBytes = 1000;

// Where the line after each one begins, and the line.
using Lines = std::vector<std::pair<int64_t, std::string>>;

// nullopt: damaged.
std::optional<Lines> Read(const headrace::LineFormat& format, const headrace::OneFile& file, int64_t from,
                          size_t block_bytes) {
  const auto reader = format.Open(file, "a.txt", {}, from, block_bytes);
  Require(reader.ok(), "a file is opened");
  Lines lines;
  headrace::RecordBlock block;
  do {
    if (!(*reader)->Next(block).ok()) return std::nullopt;
    for (size_t i = 0; i < block.records.size(); ++i) lines.emplace_back(block.After(i), block.content(i));
  } while (!block.records.empty());
  return lines;
}

void Compare(const headrace::LineFormat& format, std::string_view text) {
  const std::optional<Lines> expected = Read(format, headrace::OneFile(std::string(text)), 0, 1 << 16);
  Require(expected.has_value(), "any bytes are lines");
  const std::string_view half = text.substr(0, text.size() / 2);
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const headrace::OneFile file(headrace::Compress(compression, half) +
                                 headrace::Compress(compression, text.substr(half.size())));
    for (const size_t block : {3, 64, 1 << 16}) {
      const std::optional<Lines> found = Read(format, file, 0, block);
      // A tar archive is refused.
      if (!found.has_value()) return;
      Require(*found == *expected, "a compressed file has the lines of the plain one");
    }
    for (size_t i = 0; i < expected->size(); i += 1 + expected->size() / 5) {
      const std::optional<Lines> rest = Read(format, file, (*expected)[i].first, 64);
      Require(rest.has_value() &&
                  std::equal(rest->begin(), rest->end(), expected->begin() + static_cast<long>(i) + 1, expected->end()),
              "reading goes on from each line");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  if (headrace::CompressionOf({data, text.size()}) != Compression::kNone) return 0;
  Compare(headrace::LineFormat(), text);
  Compare(headrace::LineFormat(headrace::LineFormat::kLongest, '"'), text);
  return 0;
}

// Fuzzes files of JSON: the same elements or lines come whatever the size of blocks, and from each of them on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/text/json_format.h"

namespace {

using headrace::Require;

constexpr size_t kMostBytes = 4000;

struct Read {
  std::vector<std::string> texts;
  std::vector<int64_t> after;
  std::string wrong;  // empty: nothing
};

Read ReadFrom(const headrace::OneFile& file, int64_t from, size_t block_bytes) {
  const headrace::JsonFormat format;
  const auto reader = format.Open(file, "a.json", headrace::Split(), from, block_bytes);
  Require(reader.ok(), "a file is opened");
  Read read;
  headrace::RecordBlock block;
  do {
    const absl::Status status = (*reader)->Next(block);
    if (!status.ok()) {
      Require(headrace::KindOf(status) == headrace::ErrorKind::kData, "what is wrong is the file's fault");
      read.wrong = std::string(headrace::ToStd(status.message()));
      return read;
    }
    for (size_t i = 0; i < block.records.size(); ++i) {
      read.texts.emplace_back(block.content(i));
      read.after.push_back(block.After(i));
    }
  } while (!block.records.empty());
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  // What a compressed file holds is for other fuzz tests.
  if (headrace::CompressionOf({data, text.size()}) != headrace::Compression::kNone) return 0;
  const headrace::OneFile file{std::string(text)};
  const Read whole = ReadFrom(file, 0, 1 << 16);
  for (const size_t block : {3, 64}) {
    const Read other = ReadFrom(file, 0, block);
    Require(other.texts == whole.texts && other.wrong == whole.wrong, "blocks of any size give the same");
    if (whole.texts.empty()) continue;
    const size_t middle = whole.texts.size() / 2;
    const Read rest = ReadFrom(file, other.after[middle], block);
    Require(rest.texts ==
                std::vector<std::string>(whole.texts.begin() + static_cast<int64_t>(middle) + 1, whole.texts.end()),
            "reading goes on after each");
    Require(rest.wrong == whole.wrong, "and ends in the same way");
  }
  return 0;
}

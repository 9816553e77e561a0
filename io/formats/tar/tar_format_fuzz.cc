// Fuzzes tar archives: samples and damage are the same whatever the size of blocks, and the walk over the headers finds
// the samples that the reader gives.
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
#include "io/formats/tar/tar_format.h"
#include "io/formats/tar/tar_sample.h"
#include "io/formats/tar/tar_walk.h"
#include "io/formats/tar/testing/tar_bytes.h"

namespace {

using headrace::Require;

constexpr size_t kMostBytes = 20'000;

struct Read {
  std::vector<int64_t> begins = {};
  std::vector<int64_t> ends = {};
  absl::Status error = {};
};

void TakeApart(std::string_view bytes, int64_t offset) {
  headrace::TarSample sample;
  sample.Begin(bytes, offset);
  headrace::TarSample::Field field;
  while (true) {
    const auto more = sample.Next(field);
    Require(more.ok(), "what was cut is a sample");
    if (!*more) return;
    Require(field.data.data() >= bytes.data() && field.data.size() <= bytes.size(), "data are views of the sample");
  }
}

Read ReadAll(const headrace::OneFile& file, size_t block_bytes) {
  const headrace::TarFormat format;
  const auto reader = format.Open(file, "a.tar", headrace::Split(), 0, block_bytes);
  Require(reader.ok(), "a file is opened");
  headrace::RecordBlock block;
  Read read;
  while (true) {
    read.error = (*reader)->Next(block);
    if (!read.error.ok() || block.records.empty()) return read;
    for (size_t i = 0; i < block.records.size(); ++i) {
      const headrace::Record& record = block.records[i];
      read.begins.push_back(record.offset);
      read.ends.push_back(record.offset + record.length);
      TakeApart(block.content(i), record.offset);
    }
  }
}

// Otherwise no changed header would be read.
void SetChecksums(std::string& bytes) {
  for (size_t at = 0; at + headrace::kTestTarBlock <= bytes.size(); at += headrace::kTestTarBlock) {
    if (bytes.compare(at + 257, 5, "ustar") == 0) headrace::SetTarChecksum(bytes, at);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  SetChecksums(bytes);
  const absl::Span<const uint8_t> first(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  // What a compressed file holds is for other fuzz tests.
  if (headrace::ArchiveCompressionOf(first) != headrace::Compression::kNone) return 0;
  const headrace::OneFile file(bytes);
  const Read whole = ReadAll(file, 1 << 16);
  Require(whole.error.ok() || headrace::KindOf(whole.error) == headrace::ErrorKind::kData, "damage is the file's");
  for (const size_t block_bytes : {100, 3000}) {
    const Read blocks = ReadAll(file, block_bytes);
    Require(blocks.begins == whole.begins && blocks.ends == whole.ends && blocks.error.ok() == whole.error.ok(),
            "blocks of any size give the samples");
  }
  const auto opened = file.Open("a.tar");
  const auto walked = headrace::WalkTar(**opened, static_cast<int64_t>(bytes.size()));
  Require(walked.ok() == whole.error.ok(), "the walk and the reader find the same damage");
  if (!walked.ok()) return 0;
  Require(walked->begins == whole.begins && walked->ends == whole.ends, "the walk finds the samples");
  return 0;
}

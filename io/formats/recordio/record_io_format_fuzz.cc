// Fuzzes RecordIO files. Any bytes: every size of blocks gives the same records and the same damage, under both
// policies, and what was lost and what was given together are the file. Any payloads: written, they are read back
// from splits of any size.
// Input: a byte, whose lowest bit chooses between the two, and the file; or the payloads, each after its length (u8).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/recordio/record_frame.h"
#include "io/formats/recordio/record_io_format.h"
#include "io/formats/split_table.h"

namespace {

using headrace::OnDamage;
using headrace::Require;

struct Read {
  std::vector<std::string> payloads;
  std::vector<int64_t> offsets;
  std::string lost;  // its places
  std::string error;

  friend bool operator==(const Read&, const Read&) = default;
};

void Add(const headrace::RecordBlock& block, Read& read, int64_t& end) {
  for (const headrace::LostBytes& lost : block.lost) {
    Require(lost.offset == end && lost.bytes > 0, "lost bytes follow what was given");
    end += lost.bytes;
    headrace::Append(read.lost, lost.offset, "+", lost.bytes, ": ", lost.reason, "\n");
  }
  for (size_t i = 0; i < block.records.size(); ++i) {
    Require(block.records[i].offset == end, "a record follows what was given");
    end = block.After(i);
    read.offsets.push_back(block.records[i].offset);
    read.payloads.emplace_back(block.content(i));
  }
}

Read ReadSplit(const headrace::OneFile& file, OnDamage on_damage, const headrace::Split& split, size_t block_bytes) {
  const headrace::RecordIoFormat format(on_damage);
  Read read;
  const auto reader = format.Open(file, "a.rec", split, split.begin, block_bytes);
  headrace::RecordBlock block;
  int64_t end = split.begin;
  absl::Status status = reader.status();
  do {
    if (status.ok()) status = (*reader)->Next(block);
    if (!status.ok()) break;
    if (split.begin > 0 && !block.records.empty() && read.payloads.empty()) end = block.records[0].offset;
    Add(block, read, end);
  } while (!block.records.empty());
  if (!status.ok()) read.error = std::string(headrace::ToStd(status.message()));
  const bool whole = split == headrace::Split() && status.ok();
  Require(!whole || end == (*reader)->file_size(), "every byte was given or lost");
  return read;
}

void ReadFile(std::string_view bytes) {
  const headrace::OneFile file{std::string(bytes)};
  for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
    const Read expected = ReadSplit(file, on_damage, {}, size_t{1} << 16);
    Require(on_damage == OnDamage::kFail || expected.error.empty(), "what is damaged is skipped");
    for (const size_t block : {5, 64, 1000}) {
      Require(ReadSplit(file, on_damage, {}, block) == expected, "blocks of any size give the same records");
    }
  }
}

void ReadBack(std::string_view input) {
  std::vector<std::string> payloads;
  std::string frames;
  while (!input.empty()) {
    const auto length = static_cast<uint8_t>(input[0]);
    payloads.emplace_back(input.substr(1, length));
    input.remove_prefix(std::min(input.size(), size_t{length} + 1));
    Require(headrace::AppendRecord({payloads.back()}, frames).ok(), "a short record can be written");
  }
  const headrace::OneFile file(frames);
  for (const int64_t split_bytes : {7, 100, 4000}) {
    const headrace::SplitTable splits({static_cast<int64_t>(frames.size())}, split_bytes);
    std::vector<std::string> found;
    for (uint64_t i = 0; i < splits.size(); ++i) {
      const Read read = ReadSplit(file, OnDamage::kFail, splits.At(i).split, 64);
      Require(read.error.empty(), "what was written is not damaged");
      found.insert(found.end(), read.payloads.begin(), read.payloads.end());
    }
    Require(found == payloads, "each record comes once");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  if (input[0] % 2 == 0) {
    ReadFile(input.substr(1));
  } else {
    ReadBack(input.substr(1, 2000));
  }
  return 0;
}

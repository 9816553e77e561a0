// Fuzzes TFRecord files. Any bytes, with the checksums of heads made right: every size of blocks gives the same records
// and the same damage, plain and compressed, and what was given and lost together is the file. Any payloads: written,
// they are read back.
// Input: a byte, whose lowest bit chooses between the two, and the file; or the payloads, each after its length (u8).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/testing/compress.h"
#include "io/formats/tfrecord/testing/example_bytes.h"
#include "io/formats/tfrecord/tf_record_format.h"
#include "io/formats/tfrecord/tf_record_frame.h"

namespace {

using headrace::Compression;
using headrace::OnDamage;
using headrace::Require;

constexpr size_t kMostBytes = 2000;

struct Read {
  std::vector<std::string> payloads;
  std::vector<int64_t> offsets;
  int64_t bytes = 0;  // that were given or lost
  std::string error;

  friend bool operator==(const Read&, const Read&) = default;
};

Read ReadTfRecords(const headrace::OneFile& file, OnDamage on_damage, size_t block_bytes) {
  const headrace::TfRecordFormat format(on_damage);
  Read read;
  const auto reader = format.Open(file, "a", {}, 0, block_bytes);
  Require(reader.ok(), "a file is opened");
  headrace::RecordBlock block;
  do {
    const absl::Status status = (*reader)->Next(block);
    if (!status.ok()) {
      Require(headrace::KindOf(status) == headrace::ErrorKind::kData, "damage is the file's");
      read.error = std::string(headrace::ToStd(status.message()));
      return read;
    }
    for (const headrace::LostBytes& lost : block.lost) {
      Require(lost.bytes > 0 && !lost.reason.empty(), "what is lost has a reason");
      read.bytes += lost.bytes;
    }
    for (size_t i = 0; i < block.records.size(); ++i) {
      read.offsets.push_back(block.records[i].offset);
      read.payloads.emplace_back(block.content(i));
      read.bytes += static_cast<int64_t>(headrace::TfRecordFrame::kAroundBytes) + block.records[i].length;
      Require(on_damage == OnDamage::kFail || headrace::CheckTfPayload(block.content(i)).ok(), "damage is left out");
    }
  } while (!block.records.empty());
  return read;
}

// Without this hardly an input would have a record.
std::string WithGoodHeads(std::string bytes) {
  size_t at = 0;
  while (bytes.size() - at >= headrace::TfRecordFrame::kHeadBytes) {
    uint64_t length;
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    const uint32_t crc = headrace::MaskedCrc32c(&length, sizeof(length));
    std::memcpy(bytes.data() + at + sizeof(length), &crc, sizeof(crc));
    const size_t left = bytes.size() - at;
    if (length > left || left - length < headrace::TfRecordFrame::kAroundBytes) break;
    at += length + headrace::TfRecordFrame::kAroundBytes;
  }
  return bytes;
}

// What decompressed files alone refuse.
bool IsRefusedCompressed(const std::string& bytes, const Read& read) {
  return (bytes.size() > 262 && bytes.compare(257, 5, "ustar") == 0) ||
         read.error.find("of a compressed file") != std::string::npos;
}

void ReadFile(const std::string& bytes) {
  const headrace::OneFile file(bytes);
  for (const OnDamage on_damage : {OnDamage::kFail, OnDamage::kSkip}) {
    const Read expected = ReadTfRecords(file, on_damage, size_t{1} << 16);
    for (const size_t block : {1, 13, 64, 1000}) {
      Require(ReadTfRecords(file, on_damage, block) == expected, "blocks of any size give the same records");
    }
    const bool plain = headrace::TfRecordCompression({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}) ==
                       Compression::kNone;
    if (!plain) continue;
    Require(!expected.error.empty() || expected.bytes == static_cast<int64_t>(bytes.size()),
            "every byte was given or lost");
    for (const Compression compression : {Compression::kGzip, Compression::kZlib}) {
      const Read held = ReadTfRecords(headrace::OneFile(headrace::Compress(compression, bytes)), on_damage, 64);
      if (IsRefusedCompressed(bytes, held)) continue;
      Require(held.payloads == expected.payloads && held.offsets == expected.offsets,
              "a compressed file has the records of the plain one");
      Require(held.error.empty() == expected.error.empty(), "and its damage");
    }
  }
}

void ReadBack(std::string_view input) {
  std::vector<std::string> payloads;
  while (!input.empty()) {
    const auto length = static_cast<uint8_t>(input[0]);
    payloads.emplace_back(input.substr(1, length));
    input.remove_prefix(std::min(input.size(), size_t{length} + 1));
  }
  const Read read = ReadTfRecords(headrace::OneFile(headrace::TfRecordBytes(payloads)), OnDamage::kFail, 64);
  Require(read.error.empty() && read.payloads == payloads, "each record comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  if (input.empty()) return 0;
  if (input[0] % 2 != 0) {
    ReadBack(input.substr(1));
  } else {
    ReadFile(std::string(input.substr(1)));
    ReadFile(WithGoodHeads(std::string(input.substr(1))));
  }
  return 0;
}

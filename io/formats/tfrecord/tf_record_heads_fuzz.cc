// Fuzzes the walk over the heads of TFRecords. Any bytes, also with the checksums of heads made right: the walk ends,
// each record is within the file, the records that reading gives are the first of the walk, and a head is the same
// whatever was read before it. Input: a byte, whose lowest bit makes checksums right, and the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/testing/require.h"
#include "io/files/testing/one_file.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/tfrecord/tf_record_format.h"
#include "io/formats/tfrecord/tf_record_frame.h"
#include "io/formats/tfrecord/tf_record_heads.h"

namespace {

using headrace::Require;
using headrace::TfRecordFrame;

constexpr size_t kMostBytes = 4000;

// Gives each head on the way its checksum; hardly an input would have a record without.
std::string WithChecksums(std::string bytes) {
  for (size_t at = 0; bytes.size() - at >= TfRecordFrame::kHeadBytes;) {
    uint64_t length;
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    const uint32_t crc = headrace::MaskedCrc32c(&length, sizeof(length));
    std::memcpy(bytes.data() + at + sizeof(length), &crc, sizeof(crc));
    const size_t left = bytes.size() - at;
    if (length > left || left - length < TfRecordFrame::kAroundBytes) break;
    at += length + TfRecordFrame::kAroundBytes;
  }
  return bytes;
}

// Where the walk finds records, and where it ends.
std::vector<int64_t> Walked(const headrace::RandomAccessFile& file, int64_t size) {
  headrace::TfRecordHeads heads(&file, size);
  std::vector<int64_t> offsets = {0};
  while (offsets.back() < size) {
    const absl::StatusOr<int64_t> end = heads.EndAt(offsets.back());
    Require(end.ok() || headrace::KindOf(end.status()) == headrace::ErrorKind::kData, "damage is the file's");
    if (!end.ok()) return offsets;
    Require(*end >= offsets.back() + static_cast<int64_t>(TfRecordFrame::kAroundBytes) && *end <= size,
            "a record is within the file");
    offsets.push_back(*end);
  }
  return offsets;
}

std::vector<int64_t> Given(const headrace::OneFile& files) {
  const headrace::TfRecordFormat format(headrace::OnDamage::kFail, headrace::Compression::kNone);
  const auto reader = format.Open(files, "a", {}, 0, 64);
  Require(reader.ok(), "a file is opened");
  std::vector<int64_t> offsets;
  headrace::RecordBlock block;
  while ((*reader)->Next(block).ok() && !block.records.empty()) {
    for (const headrace::Record& record : block.records) offsets.push_back(record.offset);
  }
  return offsets;
}

void CheckHeads(const std::string& bytes) {
  const headrace::OneFile files(bytes);
  const auto size = static_cast<int64_t>(bytes.size());
  const std::shared_ptr<const headrace::RandomAccessFile> file = *files.Open("a");
  const std::vector<int64_t> walked = Walked(*file, size);
  const std::vector<int64_t> given = Given(files);
  Require(given.size() < walked.size() && std::equal(given.begin(), given.end(), walked.begin()),
          "reading gives the first records of the walk");
  // From the last to the first.
  headrace::TfRecordHeads heads(file.get(), size);
  for (size_t i = walked.size() - 1; i > 0; --i) {
    const absl::StatusOr<int64_t> end = heads.EndAt(walked[i - 1]);
    Require(end.ok() && *end == walked[i], "a head is the same in any order");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, std::min(size - 1, kMostBytes));
  CheckHeads(data[0] % 2 == 0 ? bytes : WithChecksums(bytes));
  return 0;
}

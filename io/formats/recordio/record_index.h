// `RecordIndex` says where the records of a RecordIO file begin. It is read from MXNet's .idx files, lines
// `key\toffset\n`, or made by a scan of the file. Offsets at which no record begins are found when they are read.
// Threads: pure functions; ScanRecords reads on the calling thread.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_RECORD_INDEX_H_
#define HEADRACE_IO_FORMATS_RECORDIO_RECORD_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/formats/record_reader.h"

namespace headrace {

// In the order of the file's lines, or of a scan. Keys may come in any order.
struct RecordIndex {
  std::vector<uint64_t> keys;
  std::vector<int64_t> offsets;  // of heads, in bytes; of keys[i]

  friend bool operator==(const RecordIndex&, const RecordIndex&) = default;
};

// Lines end with \n or \r\n, the last one perhaps with the file; empty lines are left out. A key may come again. kData,
// naming `path` and the line: it is not a key and an offset, whole numbers below 2^64 and 2^63.
absl::StatusOr<RecordIndex> ParseRecordIndex(std::string_view text, std::string_view path);

// For indices whose keys are no numbers. A line, counted from 1, whose key is a view of the text.
struct RecordIndexLine {
  size_t number;
  std::string_view key;
  int64_t offset;
};
absl::StatusOr<std::vector<RecordIndexLine>> ParseRecordIndexLines(std::string_view text, std::string_view path);

std::string FormatRecordIndex(const RecordIndex& index);

// Reads a file once, by large blocks, and gives each record in order the keys 0, 1, 2, …, as MXNet's rec2idx does (the
// ids in image records need not be unique). With OnDamage::kSkip, appends what was lost to `lost`, at last all of more
// than 65,536 places as one. kData: damage, under kFail, which names the file and the byte.
absl::StatusOr<RecordIndex> ScanRecords(const FileSystem& files, const std::string& path, OnDamage on_damage,
                                        std::vector<LostBytes>* lost = nullptr);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_RECORD_INDEX_H_

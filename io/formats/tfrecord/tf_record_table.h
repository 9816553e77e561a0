// `BuildTfRecordTable` and `ReadTfRecordTable` number the records of TFRecord files, by the heads of the records or by
// index files. Files that are compressed as a whole have no table.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_TABLE_H_
#define HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"
#include "io/formats/record_reader.h"

namespace headrace {

struct TfRecordTable {
  // What was found and left out.
  struct Note {
    std::string path;
    int64_t offset;
    std::string text;
  };

  ItemTable records = {};                 // with their frames
  std::vector<std::string> indices = {};  // the index file of each file; none: they were built
  std::vector<Note> notes = {};

  uint64_t size() const { return records.size(); }
  uint64_t fingerprint() const { return records.fingerprint(); }
};

// Reads the heads of all records, 12 bytes each where records are long, and keeps where they are beside each file
// (io/formats/item_index.h) if it `writes`. Under kSkip it reads the records whole, and leaves out those that
// TfRecordFormat leaves out. kGraph: a file is compressed. kData: damage.
absl::StatusOr<TfRecordTable> BuildTfRecordTable(const FileSystem& files, const std::vector<std::string>& paths,
                                                 OnDamage on_damage, bool writes);

// By an index for each of the paths, of all its records or a part of them: a text of lines `offset size`, in bytes with
// the frame, as DALI's tfrecord2idx and the Python package tfrecord write it. The records are in the order of their
// offsets. kGraph: a file is compressed. kData, naming index and byte: what is not a record.
absl::StatusOr<TfRecordTable> ReadTfRecordTable(const FileSystem& files, const std::vector<std::string>& paths,
                                                const std::vector<std::string>& indices);

// A line of such an index.
struct TfRecordIndexLine {
  int64_t offset = 0;
  int64_t bytes = 0;

  friend bool operator==(const TfRecordIndexLine&, const TfRecordIndexLine&) = default;
};
// kData, naming `path` and the line: it is not two numbers, or no frame has so few bytes.
absl::StatusOr<std::vector<TfRecordIndexLine>> ParseTfRecordIndex(std::string_view text, std::string_view path);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TFRECORD_TF_RECORD_TABLE_H_

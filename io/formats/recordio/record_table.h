// `RecordTable` maps record numbers to offsets across several RecordIO files, in the order of the files and of the
// bytes in each. It is built from .idx files or by scans, which are saved beside the files where that is possible.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_RECORD_TABLE_H_
#define HEADRACE_IO_FORMATS_RECORDIO_RECORD_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/record_reader.h"
#include "io/formats/recordio/record_index.h"

namespace headrace {

inline constexpr std::string_view kRecordEnding = ".rec";
inline constexpr std::string_view kIndexEnding = ".idx";

class RecordTable {
 public:
  struct File {
    std::string path;
    int64_t size = 0;        // in bytes, when the table was made
    std::string index = {};  // the file that its index was read from; empty: the file was scanned
    bool complete = false;   // the index names every record
    uint64_t first = 0;      // the number of its first record; set by Add
  };
  // A problem that was found and skipped.
  struct Note {
    std::string path;
    int64_t offset;
    std::string text;
  };

  // Adds a file whose records are those of `index`, in order of their offsets; `end`: where the last one ends at the
  // latest.
  void Add(File file, const RecordIndex& index, int64_t end);
  void Add(Note note) { notes_.push_back(std::move(note)); }

  uint64_t size() const { return offsets_.size() - files_.size(); }
  const std::vector<File>& files() const { return files_; }
  const std::vector<Note>& notes() const { return notes_; }
  // The number of the file that has the record.
  uint64_t FileOf(uint64_t record) const;
  // Where the record of that file begins, and where it ends at the latest, in bytes.
  int64_t Begin(uint64_t record, uint64_t file) const { return offsets_[record + file]; }
  int64_t End(uint64_t record, uint64_t file) const { return offsets_[record + file + 1]; }
  uint64_t Key(uint64_t record, uint64_t file) const;
  // Covers which records there are and where, not their bytes.
  uint64_t fingerprint() const;

 private:
  std::vector<File> files_;
  std::vector<int64_t> offsets_;             // of the records of each file, then the end of its last one
  std::vector<std::vector<uint64_t>> keys_;  // of each file; empty: 0, 1, 2, …
  std::vector<Note> notes_;
};

// Leaves out the records of a file's index, in order of their offsets, that are not to be read; `size` is the file's.
// Returns where the last one that is left ends at the latest.
using ChooseRecords = absl::StatusOr<int64_t> (*)(const FileSystem& files, const std::string& path, int64_t size,
                                                  RecordIndex& index);
absl::StatusOr<int64_t> ChooseAll(const FileSystem& files, const std::string& path, int64_t size, RecordIndex& index);

// `indices`: an .idx file for each of the paths, of all its records or a part of them. kData, naming index, keys and
// byte: an offset that no record of the file can have, or that stands there twice. OnDamage::kSkip looks up every
// record, and leaves out and notes those that are damaged; kData: they are more than three
// quarters.
absl::StatusOr<RecordTable> ReadIndices(const FileSystem& files, const std::vector<std::string>& paths,
                                        const std::vector<std::string>& indices, OnDamage on_damage,
                                        ChooseRecords choose);

// Takes the .idx file beside each of the paths, "a.idx" beside "a.rec", if it fits the file; otherwise scans the file
// and, if it `writes`, saves that index, if it may be written and does not hold something else. kData: damage, under
// OnDamage::kFail.
absl::StatusOr<RecordTable> BuildIndices(const FileSystem& files, const std::vector<std::string>& paths,
                                         OnDamage on_damage, ChooseRecords choose, bool writes = true);
std::string IndexPathOf(const std::string& path);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_RECORDIO_RECORD_TABLE_H_

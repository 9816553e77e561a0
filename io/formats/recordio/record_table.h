// `RecordTable` is the ItemTable of RecordIO files: records by number, in the order of the files and of the bytes in
// each. It is built from .idx files or by scans, which are saved beside the files where that is possible. Threads: made
// by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_RECORDIO_RECORD_TABLE_H_
#define HEADRACE_IO_FORMATS_RECORDIO_RECORD_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/item_table.h"
#include "io/formats/record_reader.h"
#include "io/formats/recordio/record_index.h"

namespace headrace {

inline constexpr std::string_view kRecordEnding = ".rec";
inline constexpr std::string_view kIndexEnding = ".idx";

class RecordTable : public ItemTable {
 public:
  // Where the index of a file was read.
  struct Source {
    std::string index = {};  // the path of that file; empty: the file itself was scanned
    bool complete = false;   // it names every record
  };
  // A problem that was found and skipped.
  struct Note {
    std::string path;
    int64_t offset;
    std::string text;
  };

  // Adds a file of `size` bytes whose records are those of `index`, in order of their offsets; `end`: where the last
  // one ends at the latest.
  void Add(std::string path, int64_t size, Source source, RecordIndex index, int64_t end);
  void Add(Note note) { notes_.push_back(std::move(note)); }

  const std::vector<Note>& notes() const { return notes_; }
  const Source& source(uint64_t file) const { return sources_[file]; }
  uint64_t Key(uint64_t record, uint64_t file) const;

 private:
  std::vector<Source> sources_;              // of each file
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

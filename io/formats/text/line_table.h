// `LineTable` maps line numbers to offsets across several files, in the order of the files and of the bytes in each. It
// is made by one pass over the files, and takes 8 bytes a line.
// Threads: made by one thread; const afterwards, and readable from any.
#ifndef HEADRACE_IO_FORMATS_TEXT_LINE_TABLE_H_
#define HEADRACE_IO_FORMATS_TEXT_LINE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/record_reader.h"

namespace headrace {

class LineTable {
 public:
  struct File {
    std::string path;
    int64_t size = 0;    // in bytes, when the table was made
    uint64_t first = 0;  // the number of its first line
  };

  // Leaves out the lines of a block that are not to be numbered.
  using Choose = absl::FunctionRef<void(RecordBlock& block)>;
  // Numbers the records that `format`, of lines, has in these files. An error names the file and the byte. kGraph: a
  // file is compressed.
  static absl::StatusOr<LineTable> Build(const FileSystem& files, const std::vector<std::string>& paths,
                                         const Format& format, Choose choose);

  uint64_t size() const { return begins_.size() - files_.size(); }
  const std::vector<File>& files() const { return files_; }
  // The number of the file that has the line.
  uint64_t FileOf(uint64_t line) const;
  // Where the line of that file begins, and where it ends at the latest, in bytes.
  int64_t Begin(uint64_t line, uint64_t file) const { return begins_[line + file]; }
  int64_t End(uint64_t line, uint64_t file) const { return begins_[line + file + 1]; }
  // Covers which lines there are and where, not their bytes.
  uint64_t fingerprint() const;

 private:
  static absl::Status CheckPlain(const FileSystem& files, const std::string& path);
  absl::Status Add(const FileSystem& files, const std::string& path, const Format& format, Choose choose);

  std::vector<File> files_;
  std::vector<int64_t> begins_;  // of the lines of each file, then the file's size
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_LINE_TABLE_H_

// `HeadedLines` reads lines of files that all begin with the same line, a header, which is not a record. An empty file
// has no header. Every reader checks the header of its file before it gives a line of it, whichever split it reads, at
// the cost of a read of the header's length where the split does not begin with the file. A compressed file may have a
// header as any other.
// Threads: immutable.
#ifndef HEADRACE_IO_FORMATS_TEXT_HEADED_LINES_H_
#define HEADRACE_IO_FORMATS_TEXT_HEADED_LINES_H_

#include <memory>
#include <optional>
#include <string>

#include "io/formats/pending_read.h"
#include "io/formats/text/line_format.h"

namespace headrace {

class HeadedLines : public Format {
 public:
  // The first line of a file, without its end and a byte order mark; nullopt: the file has no byte. `quote`: as
  // LineFormat's.
  static absl::StatusOr<std::optional<std::string>> HeaderOf(const FileSystem& files, const std::string& path,
                                                             std::optional<char> quote = std::nullopt);

  // `of`: the file that has the header. Readers of a file with another one fail with kData, which is not a row's own.
  HeadedLines(std::string header, std::string of, std::optional<char> quote = std::nullopt)
      : lines_(LineFormat::kLongest, quote), quote_(quote), header_(std::move(header)), of_(std::move(of)) {}

  PartBorders part_borders() const override { return lines_.part_borders(); }
  absl::StatusOr<bool> IsOneSplit(const FileSystem& files, const std::string& path) const override {
    return lines_.IsOneSplit(files, path);
  }
  absl::StatusOr<std::unique_ptr<RecordReader>> Open(const FileSystem& files, const std::string& path,
                                                     const Split& split, int64_t from,
                                                     size_t block_bytes) const override;

 private:
  class Reader;

  absl::Status OtherHeader(const std::string& path) const;
  // Of a file whose lines are read from one after the first on.
  absl::StatusOr<std::shared_ptr<PendingRead>> StartFirst(const FileSystem& files, const std::string& path) const;
  absl::Status CheckCompressed(const FileSystem& files, const std::string& path) const;

  const LineFormat lines_;
  const std::optional<char> quote_;
  const std::string header_;
  const std::string of_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_TEXT_HEADED_LINES_H_

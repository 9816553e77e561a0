// `SkippedRowsLog` writes a file of JSON lines, one for each row that a run left out: epoch, key, record, offset, file,
// operator, kind and message. Several processes may write to one file: each line is one write at its end.
// Threads: one thread.
#ifndef HEADRACE_ENGINE_EXEC_SKIPPED_ROWS_LOG_H_
#define HEADRACE_ENGINE_EXEC_SKIPPED_ROWS_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/operator/failed_row.h"
#include "io/files/descriptor.h"

namespace headrace {

// Without the line's end. The file's name is exact: a byte of it that is no part of a character is "\udcff", which
// Python's json.loads() and os.fsencode() turn into that byte.
std::string SkippedRowLine(uint64_t epoch, const FailedRow& row);

class SkippedRowsLog {
 public:
  // Appends to the file, which is made if there is none. kNotFound if that is not possible, kUnsupported for a scheme
  // of other than local files, and for a link or a file that is not this user's own (io/files/opened_file.h).
  static absl::StatusOr<std::unique_ptr<SkippedRowsLog>> Open(const std::string& path);
  SkippedRowsLog(const SkippedRowsLog&) = delete;

  // kResource if the line cannot be written.
  absl::Status Write(uint64_t epoch, const FailedRow& row);

 private:
  SkippedRowsLog(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  const Descriptor file_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_SKIPPED_ROWS_LOG_H_

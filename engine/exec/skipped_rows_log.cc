#include "engine/exec/skipped_rows_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "core/printable.h"
#include "io/files/file_system.h"

namespace headrace {
namespace {

std::string SystemText(int error) { return std::generic_category().message(error); }

absl::Status NotARegularFile(const std::string& path) {
  return UnsupportedError(path, ": the log of on_error() must be a regular file, not a pipe, a socket or a device");
}

}  // namespace

std::string SkippedRowLine(uint64_t epoch, const FailedRow& row) {
  std::string line = Cat(R"({"epoch":)", epoch, R"(,"key":)", row.id.key);
  if (row.provenance.record >= 0) Append(line, R"(,"record":)", row.provenance.record);
  if (row.provenance.file != nullptr) Append(line, R"(,"file":)", JsonText(*row.provenance.file));
  if (row.provenance.offset >= 0) Append(line, R"(,"offset":)", row.provenance.offset);
  Append(line, R"(,"operator":)", JsonText(GetErrorField(row.error, ErrorField::kOperator)), R"(,"kind":)",
         JsonText(ErrorKindName(KindOf(row.error))), R"(,"message":)", JsonText(ToStd(row.error.message())), "}");
  return line;
}

absl::StatusOr<std::unique_ptr<SkippedRowsLog>> SkippedRowsLog::Open(const std::string& path) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the log of on_error()", path));
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, DefaultFileSystem()->Locate(path));
  if (located.files->local() == nullptr) return UnsupportedError(path, ": the log of on_error() must be a local file");
  // O_NONBLOCK so that opening a named pipe does not wait for a reader.
  const int descriptor = open(located.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0 && errno == ENXIO) return NotARegularFile(path);
  if (descriptor < 0) return NotFoundError(path, ": the log of on_error() cannot be opened: ", SystemText(errno));
  std::unique_ptr<SkippedRowsLog> log(new SkippedRowsLog(path, descriptor));
  struct stat stat;
  if (fstat(descriptor, &stat) != 0 || !S_ISREG(stat.st_mode)) return NotARegularFile(path);
  return log;
}

SkippedRowsLog::~SkippedRowsLog() { close(descriptor_); }

absl::Status SkippedRowsLog::Write(uint64_t epoch, const FailedRow& row) {
  const std::string line = SkippedRowLine(epoch, row) + "\n";
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t put = write(descriptor_, left.data(), left.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ResourceError(path_, ": the log of on_error() cannot be written: ", SystemText(errno));
    left.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

}  // namespace headrace

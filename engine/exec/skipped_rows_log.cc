#include "engine/exec/skipped_rows_log.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "io/files/file_system.h"
#include "io/files/opened_file.h"

namespace headrace {
namespace {

std::string SystemText(int error) { return std::generic_category().message(error); }

// How often a log is made anew that others delete as soon as it is there.
constexpr int kLogTries = 100;

// At its end. kUnsupported: what has the name is not a file of this user's own.
absl::StatusOr<Descriptor> OpenLog(const std::string& named, const std::string& path) {
  for (int i = 0; i < kLogTries; ++i) {
    OwnFile found = OpenOwnFile(path, Writing::kAtEnd);
    if (!found.refused.empty()) {
      return UnsupportedError(named,
                              ": the log of on_error() must be a regular file of this user's with one name; this ",
                              found.refused, ": name another file");
    }
    if (found.file.is_open()) return std::move(found.file);
    if (errno != ENOENT) break;
    // A second process may make it meanwhile.
    Descriptor made = MakeFile(path, 0666, Writing::kAtEnd);
    if (made.is_open()) return made;
    if (errno != EEXIST) break;
  }
  return NotFoundError(named, ": the log of on_error() cannot be opened: ", SystemText(errno));
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
  HEADRACE_ASSIGN_OR_RETURN(Descriptor file, OpenLog(path, located.path));
  return std::unique_ptr<SkippedRowsLog>(new SkippedRowsLog(path, std::move(file)));
}

absl::Status SkippedRowsLog::Write(uint64_t epoch, const FailedRow& row) {
  const std::string line = SkippedRowLine(epoch, row) + "\n";
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t put = write(file_.get(), left.data(), left.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ResourceError(path_, ": the log of on_error() cannot be written: ", SystemText(errno));
    left.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

}  // namespace headrace

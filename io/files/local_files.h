// `LocalFiles` does what only the machine's own files allow: they are locked and written to in place. A log that
// several processes share (io/records/record_log.h) needs it; other code uses FileSystem. Threads: any thread at once.
#ifndef HEADRACE_IO_FILES_LOCAL_FILES_H_
#define HEADRACE_IO_FILES_LOCAL_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"

namespace headrace {

// A file that is locked while it is open: no other process deletes it or writes to it.
class WritableFile : public RandomAccessFile {
 public:
  virtual absl::Status WriteAt(int64_t offset, absl::Span<const uint8_t> bytes) const = 0;
  // Returns once all that was written is on the disk.
  virtual absl::Status Sync() const = 0;
};

class LocalFiles : public FileSystem {
 public:
  // The folder, which only this user may enter, and those above it. OK if it exists, whoever may enter it then.
  virtual absl::Status MakeOwnFolder(const std::string& folder) const = 0;
  // A new file that begins with `head` and that only this user may read. Others see it under its own name only when it
  // is locked; it is open without a lock where the disk has none.
  virtual absl::StatusOr<std::shared_ptr<const WritableFile>> MakeLocked(const std::string& path,
                                                                         std::string_view head) const = 0;
  // A file that this user made. kNotFound also if another process has locked it.
  virtual absl::StatusOr<std::shared_ptr<const WritableFile>> OpenLocked(const std::string& path) const = 0;
  // Makes `changed_ns` of a file of this user's the time of now: it was used. Its bytes stay.
  virtual absl::Status Touch(const std::string& path) const = 0;

  const LocalFiles* local() const override { return this; }
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_LOCAL_FILES_H_

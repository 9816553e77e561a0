// `OutputStream` writes a file from its start to its end. Commit gives the file its name when all of it is there, so
// readers see the old file or the new one, never a part; a stream that is dropped without Commit or Keep leaves
// nothing. FileSystem::Create makes one. Use it for every file that is written, io/files/file_set.h for files that
// belong together, and io/files/local_files.h for those that are changed in place. Threads: one thread at a time.
#ifndef HEADRACE_IO_FILES_OUTPUT_STREAM_H_
#define HEADRACE_IO_FILES_OUTPUT_STREAM_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace headrace {

struct OutputOptions {
  // The ending of the draft's name, such as ".draft", by which FileSystem::Resume finds what a process left. While a
  // stream is open, no other one has the same draft. Empty: nobody can foresee the draft's name, nor go on with it.
  std::string draft = {};
  // Only this user may read the file. Otherwise it has the permissions of the file of this user's that it replaces, or
  // those of a new file.
  bool own = false;
  // Commit waits until the bytes are on the disk.
  bool durable = true;
  // So many bytes from the start may be written again until Seal: a table that is known at the end. A store that can
  // only append holds them in memory.
  int64_t head = 0;
};

class OutputStream {
 public:
  virtual ~OutputStream() = default;

  // Appends these parts, end to end. The stream may hold them back until Flush. After an error of the disk every call
  // fails by it.
  virtual absl::Status Append(absl::Span<const std::string_view> parts) = 0;
  // The number of bytes appended.
  virtual int64_t size() const = 0;
  // Replaces bytes of the head that were appended before.
  virtual absl::Status Rewrite(int64_t offset, std::string_view bytes) = 0;
  // Gives what was appended to the system, so that it outlives the process.
  virtual absl::Status Flush() = 0;
  // Returns once all of it is on the disk. Only Commit or Keep may follow.
  virtual absl::Status Seal() = 0;
  // Seals the stream and gives the file its name, in place of the file that has it. Nothing may follow; after an error
  // Keep may.
  virtual absl::Status Commit() = 0;
  // Leaves the draft, with all that was appended, for FileSystem::Resume. Nothing may follow.
  virtual absl::Status Keep() = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FILES_OUTPUT_STREAM_H_

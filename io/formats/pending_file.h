// `PendingFile` is the read of a whole file, which may complete later. Dropping it waits for nothing.
// Threads: used by one thread; completed on any.
#ifndef HEADRACE_IO_FORMATS_PENDING_FILE_H_
#define HEADRACE_IO_FORMATS_PENDING_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "io/files/file_system.h"
#include "io/files/started_reads.h"
#include "io/formats/completion.h"

namespace headrace {

class PendingFile : public StartedRead {
 public:
  // Reads the file as it was listed: FileSystem::StartRead.
  static std::shared_ptr<PendingFile> Start(const FileSystem& files, const std::string& path, const ListedFile& listed);

  absl::StatusOr<Tensor> Wait() { return read_.Wait(); }

 private:
  Completion<Tensor> read_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_PENDING_FILE_H_

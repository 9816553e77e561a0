// `PendingFile` is the read of a whole file, which may complete later. Dropping it waits for nothing, and cancels a
// read that has not completed. Threads: used by one thread; completed on any.
#ifndef HEADRACE_IO_FORMATS_PENDING_FILE_H_
#define HEADRACE_IO_FORMATS_PENDING_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/tensor.h"
#include "io/files/cancellation.h"
#include "io/files/completion.h"
#include "io/files/file_system.h"
#include "io/files/started_reads.h"

namespace headrace {

class PendingFile : public StartedRead {
 public:
  // Reads the file as it was listed: FileSystem::StartRead.
  static std::shared_ptr<PendingFile> Start(const FileSystem& files, const std::string& path, const ListedFile& listed);
  ~PendingFile() override;

  absl::StatusOr<Tensor> Wait() { return state_->read.Wait(); }

 private:
  // Lives until the read has completed.
  struct State {
    Completion<Tensor> read;
    Cancellation cancellation;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_PENDING_FILE_H_

#include "io/formats/pending_file.h"

#include <utility>

namespace headrace {

std::shared_ptr<PendingFile> PendingFile::Start(const FileSystem& files, const std::string& path,
                                                const ListedFile& listed) {
  auto pending = std::make_shared<PendingFile>();
  const std::shared_ptr<State>& state = pending->state_;
  const Cancellation::Scope scope(std::shared_ptr<Cancellation>(state, &state->cancellation));
  files.StartRead(path, listed, [state](absl::StatusOr<Tensor> read) { state->read.Give(std::move(read)); });
  return pending;
}

PendingFile::~PendingFile() {
  if (!state_->read.is_given()) state_->cancellation.Cancel();
}

}  // namespace headrace

#include "io/formats/pending_file.h"

#include <utility>

namespace headrace {

std::shared_ptr<PendingFile> PendingFile::Start(const FileSystem& files, const std::string& path,
                                                const ListedFile& listed) {
  auto pending = std::make_shared<PendingFile>();
  files.StartRead(path, listed, [pending](absl::StatusOr<Tensor> read) { pending->read_.Give(std::move(read)); });
  return pending;
}

}  // namespace headrace

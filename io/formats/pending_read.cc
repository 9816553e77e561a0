#include "io/formats/pending_read.h"

#include <utility>

#include "core/error.h"

namespace headrace {

absl::StatusOr<std::shared_ptr<PendingRead>> PendingRead::Start(std::shared_ptr<const RandomAccessFile> file,
                                                                int64_t offset, size_t room, size_t bytes) {
  BufferRef buffer = BufferPool::Current().Allocate(room + bytes + kSlack);
  if (!buffer) return ResourceError("no memory for ", bytes, " bytes of a file");
  const std::shared_ptr<PendingRead> read(new PendingRead(std::move(file), room, bytes, std::move(buffer)));
  read->file_->StartReadAt(offset, absl::MakeSpan(read->buffer_->data() + room, bytes),
                           [read](absl::StatusOr<int64_t> done) { read->read_.Give(std::move(done)); });
  return read;
}

absl::StatusOr<int64_t> PendingRead::Wait() { return read_.Wait(); }

}  // namespace headrace

#include "io/formats/pending_read.h"

#include <utility>

#include "core/error.h"

namespace headrace {

absl::StatusOr<std::shared_ptr<PendingRead>> PendingRead::Start(std::shared_ptr<const RandomAccessFile> file,
                                                                int64_t offset, size_t room, size_t bytes) {
  BufferRef buffer = BufferPool::Current().Allocate(room + bytes + kSlack);
  if (!buffer) return ResourceError("no memory for ", bytes, " bytes of a file");
  const std::shared_ptr<State> state(new State{std::move(file), std::move(buffer)});
  const Cancellation::Scope scope(std::shared_ptr<Cancellation>(state, &state->cancellation));
  state->file->StartReadAt(offset, absl::MakeSpan(state->buffer->data() + room, bytes),
                           [state](absl::StatusOr<int64_t> done) { state->read.Give(std::move(done)); });
  return std::shared_ptr<PendingRead>(new PendingRead(state, room, bytes));
}

PendingRead::~PendingRead() {
  if (!state_->read.is_given()) state_->cancellation.Cancel();
}

absl::StatusOr<int64_t> PendingRead::Wait() { return state_->read.Wait(); }

}  // namespace headrace

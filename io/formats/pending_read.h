// `PendingRead` is a read into a pooled buffer of its own, which may complete later. Dropping it waits for nothing, and
// cancels a read that has not completed: the buffer and the file live until it has.
// Threads: used by one thread; completed on any.
#ifndef HEADRACE_IO_FORMATS_PENDING_READ_H_
#define HEADRACE_IO_FORMATS_PENDING_READ_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/buffer.h"
#include "io/files/cancellation.h"
#include "io/files/completion.h"
#include "io/files/file_system.h"

namespace headrace {

class PendingRead {
 public:
  // The buffer is padded with this many scratch bytes, which may be read and written.
  static constexpr size_t kSlack = 64;

  // Reads `bytes` from `offset` on; the data begin `room` bytes after the buffer's start. kResource: no memory.
  static absl::StatusOr<std::shared_ptr<PendingRead>> Start(std::shared_ptr<const RandomAccessFile> file,
                                                            int64_t offset, size_t room, size_t bytes);

  ~PendingRead();

  // Waits for the end of the read: the number of bytes, fewer than asked for only at the file's end. kClosed: the work
  // of this thread should end.
  absl::StatusOr<int64_t> Wait();
  size_t room() const { return room_; }
  size_t bytes() const { return bytes_; }
  const BufferRef& buffer() const { return state_->buffer; }

 private:
  // Lives until the read has completed.
  struct State {
    const std::shared_ptr<const RandomAccessFile> file;
    const BufferRef buffer;
    Completion<int64_t> read = {};
    Cancellation cancellation = {};
  };

  PendingRead(std::shared_ptr<State> state, size_t room, size_t bytes)
      : state_(std::move(state)), room_(room), bytes_(bytes) {}

  const std::shared_ptr<State> state_;
  const size_t room_;
  const size_t bytes_;
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_PENDING_READ_H_

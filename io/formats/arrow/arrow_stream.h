// `ArrowStream` gives the batches of an Arrow C stream, once and in order.
// Threads: one thread at a time, except Claim, from any thread. Batches may be read from any thread while the stream
// lives, also after the next one was taken.
#ifndef HEADRACE_IO_FORMATS_ARROW_ARROW_STREAM_H_
#define HEADRACE_IO_FORMATS_ARROW_ARROW_STREAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "io/formats/arrow/arrow_batch.h"
#include "io/formats/arrow/arrow_mapping.h"
#include "io/formats/arrow/arrow_owner.h"

namespace headrace {

class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual ArrowArrayStream* get() = 0;
};

// The schema of a stream. kData, with what the producer says: it gives none.
absl::StatusOr<ArrowOwner<ArrowSchema>> SchemaOf(ArrowArrayStream& stream);
// Its next array; null: it is at its end. kData: the producer failed.
absl::StatusOr<HeldArrow> NextOf(ArrowArrayStream& stream, const ArrowKeeper& keep);

class ArrowStream {
 public:
  // `owner` keeps the stream; `keep` the arrays. Reads the first array if a dictionary without given classes is to be
  // numbered by it.
  static absl::StatusOr<std::shared_ptr<ArrowStream>> Of(std::unique_ptr<StreamOwner> owner, ArrowMapping mapping,
                                                         ArrowKeeper keep);

  const ArrowMapping& mapping() const { return mapping_; }
  // Whether nobody has claimed it before: its rows come once.
  bool Claim() { return !claimed_.exchange(true); }
  // Null: it is at its end. An error comes again.
  absl::StatusOr<std::shared_ptr<const ArrowBatch>> Next();

 private:
  ArrowStream(std::unique_ptr<StreamOwner> owner, ArrowMapping mapping, ArrowKeeper keep)
      : owner_(std::move(owner)), mapping_(std::move(mapping)), keep_(std::move(keep)) {}

  const std::unique_ptr<StreamOwner> owner_;
  ArrowMapping mapping_;
  const ArrowKeeper keep_;
  HeldArrow first_;
  std::shared_ptr<const ArrowBatch> last_;
  uint64_t rows_ = 0;
  absl::Status failed_;
  std::atomic<bool> claimed_{false};
};

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_ARROW_ARROW_STREAM_H_

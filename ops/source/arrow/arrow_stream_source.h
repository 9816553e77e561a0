// `ArrowStreamSource` gives the rows of an Arrow stream, in order and once: of a second epoch it is an error.
// Threads: as StreamSource's.
#ifndef HEADRACE_OPS_SOURCE_ARROW_ARROW_STREAM_SOURCE_H_
#define HEADRACE_OPS_SOURCE_ARROW_ARROW_STREAM_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/operator/operator.h"
#include "io/formats/arrow/arrow_stream.h"
#include "ops/source/arrow/arrow_columns.h"

namespace headrace {

class ArrowStreamSource : public StreamSource {
 public:
  ArrowStreamSource(std::string name, std::shared_ptr<ArrowStream> stream, ArrowFiles files)
      : name_(std::move(name)), stream_(std::move(stream)), files_(std::move(files)) {}

  absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) override;
  absl::Status ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                        bool& end) override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override;

 private:
  absl::Status Advance();
  absl::Status AddRows(absl::Span<const ArrowPlace> places, absl::Span<const uint64_t> positions, Block& block,
                       absl::Span<uint64_t> counters);

  const std::string name_;
  const std::shared_ptr<ArrowStream> stream_;
  const ArrowFiles files_;
  uint64_t epoch_ = 0;
  std::shared_ptr<const ArrowBatch> batch_;  // null: at the end
  uint64_t first_ = 0;                       // the batch's first row, in the stream
  uint64_t next_ = 0;                        // the row that comes next
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_ARROW_ARROW_STREAM_SOURCE_H_

#include "ops/source/arrow/arrow_stream_source.h"

#include <algorithm>

#include "core/error.h"
#include "core/stop_signal.h"
#include "engine/operator/failed_row.h"
#include "ops/source/memory/name_rows.h"

namespace headrace {

absl::Status ArrowStreamSource::Start(uint64_t epoch, absl::Span<const uint64_t> counters) {
  if (!stream_->Claim()) {
    return UnsupportedError(
        "the Arrow stream was read before, and a stream gives its rows once: make a new one for each "
        "epoch, or give a table: ",
        name_);
  }
  epoch_ = epoch;
  HEADRACE_RETURN_IF_ERROR(Advance());
  while (batch_ != nullptr && first_ + static_cast<uint64_t>(batch_->rows()) <= counters[0]) {
    HEADRACE_RETURN_IF_ERROR(Advance());
  }
  if (batch_ == nullptr && first_ < counters[0]) {
    return StateError("the Arrow stream has ", first_, " rows, but the state was taken after row ", counters[0], ": ",
                      name_);
  }
  next_ = counters[0];
  return absl::OkStatus();
}

// To the next batch.
absl::Status ArrowStreamSource::Advance() {
  // A pipeline that is closed waits for one call of the producer, not for many.
  if (StopSignal::Raised()) return StopSignal::Error();
  if (batch_ != nullptr) first_ += static_cast<uint64_t>(batch_->rows());
  HEADRACE_ASSIGN_OR_RETURN(batch_, stream_->Next());
  return absl::OkStatus();
}

absl::Status ArrowStreamSource::ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                                         bool& end) {
  while (batch_ != nullptr) {
    absl::InlinedVector<ArrowPlace, 16> places;
    absl::InlinedVector<uint64_t, 16> positions;
    const uint64_t after = first_ + static_cast<uint64_t>(batch_->rows());
    uint64_t row = share.NextFrom(next_);
    for (; row < after && static_cast<int>(places.size()) < rows; row = share.NextFrom(row + 1)) {
      places.push_back({batch_.get(), static_cast<int64_t>(row - first_)});
      positions.push_back(row);
    }
    if (!places.empty()) return AddRows(places, positions, block, counters);
    next_ = after;
    HEADRACE_RETURN_IF_ERROR(Advance());
  }
  end = true;
  return absl::OkStatus();
}

absl::Status ArrowStreamSource::AddRows(absl::Span<const ArrowPlace> places, absl::Span<const uint64_t> positions,
                                        Block& block, absl::Span<uint64_t> counters) {
  absl::Status wrong;
  const size_t made = AddArrowColumns(stream_->mapping(), places, files_, block, wrong);
  NameRows(positions.subspan(0, made), epoch_, block);
  const size_t taken = std::min(positions.size(), made + (wrong.ok() ? 0 : 1));
  next_ = positions[taken - 1] + 1;
  counters[0] = next_;
  if (wrong.ok()) return wrong;
  const uint64_t failed = positions[made];
  block.failed =
      std::make_unique<FailedRow>(FailedRow{{epoch_, failed}, {nullptr, static_cast<int64_t>(failed), -1}, wrong});
  return wrong;
}

void ArrowStreamSource::AddFingerprints(std::vector<Fingerprint>& fingerprints) const {
  // What the stream holds is not known before it is read.
  fingerprints.push_back({Cat("Arrow ", name_), 0, 0});
}

}  // namespace headrace

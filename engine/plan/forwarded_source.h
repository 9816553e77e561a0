// `ForwardedSource` gives what another source does. Derive from it to change some of that: reading is the derived
// class's own.
// Threads: as IndexedSource.
#ifndef HEADRACE_ENGINE_PLAN_FORWARDED_SOURCE_H_
#define HEADRACE_ENGINE_PLAN_FORWARDED_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/operator/operator.h"

namespace headrace {

class ForwardedSource : public IndexedSource {
 public:
  explicit ForwardedSource(std::unique_ptr<IndexedSource> source) : source_(std::move(source)) {}

  uint64_t size() const override { return source_->size(); }
  IndexedProperties properties() const override { return source_->properties(); }
  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override { return source_->Begin(epoch); }
  uint64_t RunRows(uint64_t first) const override { return source_->RunRows(first); }
  uint64_t numbers() const override { return source_->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    source_->FindNumbers(epoch, positions);
  }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    source_->Identify(epoch, position, id, provenance);
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    source_->AddFingerprints(fingerprints);
  }
  void AddNoteFiles(std::vector<std::string>& paths) const override { source_->AddNoteFiles(paths); }

 protected:
  const IndexedSource& source() const { return *source_; }

 private:
  const std::unique_ptr<IndexedSource> source_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_PLAN_FORWARDED_SOURCE_H_

#include "engine/plan/named_source.h"

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

class Named : public IndexedSource {
 public:
  Named(std::unique_ptr<IndexedSource> source, std::string name, std::string location)
      : source_(std::move(source)), name_(std::move(name)), location_(std::move(location)) {}

  uint64_t size() const override { return source_->size(); }
  IndexedProperties properties() const override { return source_->properties(); }
  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override { return source_->Begin(epoch); }
  uint64_t RunRows(uint64_t first) const override { return source_->RunRows(first); }
  uint64_t numbers() const override { return source_->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    source_->FindNumbers(epoch, positions);
  }
  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    return WithName(source_->Read(wanted, block));
  }
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    return WithName(source_->ReadRows(wanted, block));
  }
  void StartRows(const RowPositions& wanted) const override { source_->StartRows(wanted); }
  absl::Status CheckUnchanged() const override { return WithName(source_->CheckUnchanged()); }
  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    source_->Identify(epoch, position, id, provenance);
  }
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    source_->AddFingerprints(fingerprints);
  }
  std::shared_ptr<const RowWarnings> warnings() const override { return source_->warnings(); }

 private:
  absl::Status WithName(absl::Status status) const {
    AddErrorField(status, ErrorField::kOperator, name_);
    AddErrorField(status, ErrorField::kLocation, location_);
    return status;
  }

  const std::unique_ptr<IndexedSource> source_;
  const std::string name_;
  const std::string location_;
};

}  // namespace

std::unique_ptr<IndexedSource> NamedSource(std::unique_ptr<IndexedSource> source, const OpArguments& arguments) {
  return std::make_unique<Named>(std::move(source), arguments.name, arguments.location);
}

}  // namespace headrace

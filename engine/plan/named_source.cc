#include "engine/plan/named_source.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "engine/plan/forwarded_source.h"

namespace headrace {
namespace {

class Named : public ForwardedSource {
 public:
  Named(std::unique_ptr<IndexedSource> source, std::string name, std::string location)
      : ForwardedSource(std::move(source)), name_(std::move(name)), location_(std::move(location)) {}

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    return WithName(source().Read(wanted, block));
  }
  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    return WithName(source().ReadRows(wanted, block));
  }
  void StartRows(const RowPositions& wanted) const override { source().StartRows(wanted); }
  absl::Status CheckUnchanged() const override { return WithName(source().CheckUnchanged()); }
  std::shared_ptr<const RowWarnings> warnings() const override { return source().warnings(); }

 private:
  absl::Status WithName(absl::Status status) const {
    AddErrorField(status, ErrorField::kOperator, name_);
    AddErrorField(status, ErrorField::kLocation, location_);
    return status;
  }

  const std::string name_;
  const std::string location_;
};

}  // namespace

std::unique_ptr<IndexedSource> NamedSource(std::unique_ptr<IndexedSource> source, const OpArguments& arguments) {
  return std::make_unique<Named>(std::move(source), arguments.name, arguments.location);
}

}  // namespace headrace

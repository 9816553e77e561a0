#include "ops/order/ordered_source.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/positions.h"

namespace headrace {
namespace {

class OrderedSource : public IndexedSource {
 public:
  OrderedSource(std::unique_ptr<IndexedSource> input, std::unique_ptr<RowOrder> order)
      : input_(std::move(input)), order_(std::move(order)) {}

  uint64_t size() const override { return order_->size(); }

  absl::Status Read(uint64_t epoch, uint64_t position, Block& block) const override {
    const uint64_t occurrence = Find(epoch, position);
    HEADRACE_RETURN_IF_ERROR(input_->Read(epoch, position, block));
    MarkOccurrence(occurrence, block.ids.back());
    return absl::OkStatus();
  }

  absl::Status ReadRows(uint64_t epoch, absl::Span<const uint64_t> positions, Block& block) const override {
    Positions of_input(positions.begin(), positions.end());
    Positions occurrences(positions.size());
    order_->Find(epoch, absl::MakeSpan(of_input), absl::MakeSpan(occurrences));
    absl::Status status = input_->ReadRows(epoch, of_input, block);
    uint64_t any = 0;
    for (const uint64_t occurrence : occurrences) any |= occurrence;
    for (size_t i = 0; any > 0 && i < block.ids.size(); ++i) MarkOccurrence(occurrences[i], block.ids[i]);
    return status;
  }

  void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const override {
    const uint64_t occurrence = Find(epoch, position);
    input_->Identify(epoch, position, id, provenance);
    MarkOccurrence(occurrence, id);
  }

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { input_->AddFingerprints(fingerprints); }

 private:
  // Replaces the position, and returns the row's occurrence.
  uint64_t Find(uint64_t epoch, uint64_t& position) const {
    uint64_t occurrence = 0;
    order_->Find(epoch, absl::MakeSpan(&position, 1), absl::MakeSpan(&occurrence, 1));
    return occurrence;
  }

  static void MarkOccurrence(uint64_t occurrence, RowId& id) {
    if (occurrence > 0) id.key = MixKey(id.key, occurrence);
  }

  const std::unique_ptr<IndexedSource> input_;
  const std::unique_ptr<RowOrder> order_;
};

}  // namespace

OpFactories OrderFactories(MakeOrder make, OrderTraits traits) {
  return {.indexed = [make = std::move(make)](const OpArguments& arguments,
                                              IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
            HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<RowOrder> order, make(arguments, inputs[0]->size()));
            return std::make_unique<OrderedSource>(std::move(inputs[0]), std::move(order));
          },
          .properties =
              [traits](const OpArguments& /*arguments*/, OperatorProperties& properties) {
                properties.new_order_each_epoch = traits.new_each_epoch;
              }};
}

}  // namespace headrace

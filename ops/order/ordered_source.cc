#include "ops/order/ordered_source.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/operator/positions.h"
#include "ops/recurring_rows.h"

namespace headrace {
namespace {

class OrderedSource : public IndexedSource, public KeepsKeys {
 public:
  // `of_values`: fingerprints of what the order was made from.
  OrderedSource(std::unique_ptr<IndexedSource> input, std::unique_ptr<RowOrder> order,
                std::vector<Fingerprint> of_values = {})
      : input_(std::move(input)),
        order_(std::move(order)),
        of_values_(std::move(of_values)),
        level_(RecurringOrders(*input_)) {}

  uint64_t size() const override { return order_->size(); }
  uint64_t recurring_orders() const override { return level_ + (order_->recurs() ? 1 : 0); }

  absl::Status Read(uint64_t epoch, uint64_t position, Block& block) const override {
    const uint64_t occurrence = Find(epoch, position);
    const RecurringRows recurring({&occurrence, 1});
    HEADRACE_RETURN_IF_ERROR(input_->Read(epoch, position, block));
    MarkOccurrence(occurrence, block.ids.back());
    return absl::OkStatus();
  }

  absl::Status ReadRows(uint64_t epoch, absl::Span<const uint64_t> positions, Block& block) const override {
    Positions of_input(positions.begin(), positions.end());
    Positions occurrences(positions.size());
    order_->Find(epoch, absl::MakeSpan(of_input), absl::MakeSpan(occurrences));
    const RecurringRows recurring(occurrences);
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

  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    input_->AddFingerprints(fingerprints);
    fingerprints.insert(fingerprints.end(), of_values_.begin(), of_values_.end());
  }

 private:
  // Replaces the position, and returns the row's occurrence.
  uint64_t Find(uint64_t epoch, uint64_t& position) const {
    uint64_t occurrence = 0;
    order_->Find(epoch, absl::MakeSpan(&position, 1), absl::MakeSpan(&occurrence, 1));
    return occurrence;
  }

  void MarkOccurrence(uint64_t occurrence, RowId& id) const {
    if (occurrence == 0) return;
    id.key = MixKey(id.key, occurrence);
    if (level_ > 0) id.key = MixKey(id.key, level_);
  }

  const std::unique_ptr<IndexedSource> input_;
  const std::unique_ptr<RowOrder> order_;
  const std::vector<Fingerprint> of_values_;
  const uint64_t level_;  // orders below in which rows recur
};

OpFactories FactoriesOf(
    std::function<absl::StatusOr<std::unique_ptr<IndexedSource>>(const OpArguments&, IndexedSources)> make,
    OrderTraits traits) {
  return {.indexed = std::move(make),
          .properties = [traits](const OpArguments& /*arguments*/, OperatorProperties& properties) {
            properties.new_order_each_epoch = traits.new_each_epoch;
          }};
}

}  // namespace

uint64_t RecurringOrders(const IndexedSource& source) {
  const auto* const keeps = dynamic_cast<const KeepsKeys*>(&source);
  return keeps == nullptr ? 0 : keeps->recurring_orders();
}

OpFactories OrderFactories(MakeOrder make, OrderTraits traits) {
  return FactoriesOf(
      [make = std::move(make)](const OpArguments& arguments,
                               IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
        HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<RowOrder> order, make(arguments, inputs[0]->size()));
        return std::make_unique<OrderedSource>(std::move(inputs[0]), std::move(order));
      },
      traits);
}

OpFactories OrderFactories(MakeOrderByValues make, OrderTraits traits) {
  return FactoriesOf(
      [make = std::move(make)](const OpArguments& arguments,
                               IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
        HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<RowOrder> order, make(arguments, inputs[0]->size(), *inputs[1]));
        std::vector<Fingerprint> of_values;
        inputs[1]->AddFingerprints(of_values);
        return std::make_unique<OrderedSource>(std::move(inputs[0]), std::move(order), std::move(of_values));
      },
      traits);
}

}  // namespace headrace

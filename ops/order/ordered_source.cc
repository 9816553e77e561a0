#include "ops/order/ordered_source.h"

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "engine/operator/positions.h"
#include "ops/order/occurrence_key.h"

namespace headrace {
namespace {

class OrderedSource : public IndexedSource {
 public:
  // `of_values`: fingerprints of what the order was made from.
  OrderedSource(const OpArguments& arguments, std::unique_ptr<IndexedSource> input, std::unique_ptr<RowOrder> order,
                std::vector<Fingerprint> of_values = {})
      : name_(arguments.name),
        location_(arguments.location),
        input_(std::move(input)),
        order_(std::move(order)),
        of_values_(std::move(of_values)),
        level_(input_->properties().recurring_orders) {}

  uint64_t size() const override { return order_->size(); }

  IndexedProperties properties() const override {
    IndexedProperties properties = input_->properties();
    properties.begins |= order_->begins();
    properties.asks_user |= order_->asks_user();
    properties.run_length = order_->run_length();
    properties.recurring_orders += order_->recurs() ? 1 : 0;
    return properties;
  }

  absl::StatusOr<BegunEpoch> Begin(uint64_t epoch) override {
    HEADRACE_ASSIGN_OR_RETURN(const BegunEpoch input, input_->Begin(epoch));
    absl::StatusOr<BegunEpoch> own = order_->Begin(epoch, input.rows);
    if (!own.ok()) return Located(std::move(own).status(), epoch);
    BegunEpoch begun = *own;
    if (input.chosen != 0) begun.chosen = MixKey(input.chosen, begun.chosen);
    return begun;
  }

  uint64_t numbers() const override { return input_->numbers(); }
  void FindNumbers(uint64_t epoch, absl::Span<uint64_t> positions) const override {
    Positions occurrences(positions.size());
    order_->Find(epoch, positions, absl::MakeSpan(occurrences));
    input_->FindNumbers(epoch, positions);
  }

  absl::Status Read(const RowPosition& wanted, Block& block) const override {
    uint64_t position = wanted.position;
    const uint64_t occurrence = Find(wanted.epoch, position);
    HEADRACE_RETURN_IF_ERROR(
        input_->Read({wanted.epoch, position, NestedOccurrence(wanted.occurrence_key, occurrence)}, block));
    MarkOccurrence(occurrence, block.ids.back());
    return absl::OkStatus();
  }

  absl::Status ReadRows(const RowPositions& wanted, Block& block) const override {
    Positions of_input(wanted.positions.begin(), wanted.positions.end());
    Positions occurrences(of_input.size());
    order_->Find(wanted.epoch, absl::MakeSpan(of_input), absl::MakeSpan(occurrences));
    uint64_t any = 0;
    for (const uint64_t occurrence : occurrences) any |= occurrence;
    if (any == 0 && wanted.occurrence_keys.empty()) return input_->ReadRows({wanted.epoch, of_input}, block);
    Positions nested(of_input.size());
    for (size_t i = 0; i < nested.size(); ++i) nested[i] = NestedOccurrence(wanted.occurrence_key(i), occurrences[i]);
    absl::Status status = input_->ReadRows({wanted.epoch, of_input, nested}, block);
    for (size_t i = 0; any > 0 && i < block.ids.size(); ++i) MarkOccurrence(occurrences[i], block.ids[i]);
    return status;
  }

  absl::Status CheckUnchanged() const override { return input_->CheckUnchanged(); }

  void StartRows(const RowPositions& wanted) const override {
    Positions of_input(wanted.positions.begin(), wanted.positions.end());
    Positions occurrences(of_input.size());
    order_->Find(wanted.epoch, absl::MakeSpan(of_input), absl::MakeSpan(occurrences));
    input_->StartRows({wanted.epoch, of_input});
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
  void AddNoteFiles(std::vector<std::string>& paths) const override { input_->AddNoteFiles(paths); }

 private:
  absl::Status Located(absl::Status status, uint64_t epoch) const {
    AddErrorField(status, ErrorField::kOperator, name_);
    AddErrorField(status, ErrorField::kLocation, location_);
    AddErrorField(status, ErrorField::kRow, Cat("epoch ", epoch));
    return status;
  }

  // Replaces the position, and returns the row's occurrence.
  uint64_t Find(uint64_t epoch, uint64_t& position) const {
    uint64_t occurrence = 0;
    order_->Find(epoch, absl::MakeSpan(&position, 1), absl::MakeSpan(&occurrence, 1));
    return occurrence;
  }

  // `outer`: the occurrence key of the position here. The second time in this order is not the second time in another.
  uint64_t NestedOccurrence(uint64_t outer, uint64_t occurrence) const {
    if (!order_->recurs() || (outer == 0 && occurrence == 0)) return outer;
    return MixKey(MixKey(outer, 1), occurrence);
  }

  void MarkOccurrence(uint64_t occurrence, RowId& id) const { id.key = KeyOfOccurrence(id.key, level_, occurrence); }

  const std::string name_;
  const std::string location_;
  const std::unique_ptr<IndexedSource> input_;
  const std::unique_ptr<RowOrder> order_;
  const std::vector<Fingerprint> of_values_;
  const uint64_t level_;  // orders below in which rows recur
};

// An order would take runs of its input apart, and one that was made for a number of rows cannot follow an input that
// has other numbers in other epochs.
absl::Status CheckInput(const IndexedSource& input, const OrderTraits& traits) {
  const IndexedProperties properties = input.properties();
  if (properties.run_length > 1) {
    return GraphError("does not keep rows together that the sampler below it gives in groups of ",
                      properties.run_length, "; put it below that sampler");
  }
  if (!properties.begins || traits.of_any_size) return absl::OkStatus();
  return UnsupportedError(
      "needs an input with as many rows in every epoch, but the sampler below it may have other numbers in other "
      "epochs; put it below that sampler");
}

OpFactories FactoriesOf(
    std::function<absl::StatusOr<std::unique_ptr<IndexedSource>>(const OpArguments&, IndexedSources)> make,
    OrderTraits traits) {
  return {.indexed = std::move(make),
          .properties = [traits](const OpArguments& /*arguments*/, OperatorProperties& properties) {
            properties.new_order_each_epoch = traits.new_each_epoch;
          }};
}

}  // namespace

OpFactories OrderFactories(MakeOrder make, OrderTraits traits) {
  return FactoriesOf(
      [make = std::move(make), traits](const OpArguments& arguments,
                                       IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
        HEADRACE_RETURN_IF_ERROR(CheckInput(*inputs[0], traits));
        HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<RowOrder> order, make(arguments, inputs[0]->size()));
        return std::make_unique<OrderedSource>(arguments, std::move(inputs[0]), std::move(order));
      },
      traits);
}

OpFactories OrderFactories(MakeOrderFromValues make, OrderTraits traits) {
  return FactoriesOf(
      [make = std::move(make), traits](const OpArguments& arguments,
                                       IndexedSources inputs) -> absl::StatusOr<std::unique_ptr<IndexedSource>> {
        HEADRACE_RETURN_IF_ERROR(CheckInput(*inputs[0], traits));
        HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<RowOrder> order, make(arguments, *inputs[0], *inputs[1]));
        std::vector<Fingerprint> of_values;
        inputs[1]->AddFingerprints(of_values);
        return std::make_unique<OrderedSource>(arguments, std::move(inputs[0]), std::move(order), std::move(of_values));
      },
      traits);
}

}  // namespace headrace

#include "engine/exec/element.h"

#include <utility>

#include "core/clock.h"
#include "core/error.h"

namespace headrace {

void AddOperator(absl::Status& error, const PlannedOperator& op) {
  AddErrorField(error, ErrorField::kOperator, op.name);
  AddErrorField(error, ErrorField::kLocation, op.location);
}

Message ApplyElement(const Element& element, Block& block) {
  if (block.tombstone()) {
    // Nothing that failed leaves an operator that selects rows.
    if (element.plan->properties.traits.selects) block.MarkRemoved();
    return nullptr;
  }
  CacheTrail* const trail = block.cache_trail.get();
  if (trail != nullptr && trail->found_in != nullptr && trail->found_in != element.cache) return nullptr;
  const uint64_t start = trail != nullptr ? NowNs() : 0;
  element.row->Apply(block);
  if (trail != nullptr) trail->made_ns += NowNs() - start;
  return TakeFailed(element, block);
}

Message TakeFailed(const Element& element, Block& block) {
  if (block.end != End::kError) return nullptr;
  AddOperator(block.error, *element.plan);
  Message rest = std::move(block.rest);
  if (!SkipsFailed(*element.plan, block)) return rest;
  Message tombstone = block.TakeTombstone(rest != nullptr);
  tombstone->rest = std::move(rest);
  return tombstone;
}

bool SkipsFailed(const PlannedOperator& op, const Block& block) {
  return op.skip_failed && block.failed != nullptr && IsOfOneRow(block.error);
}

void ApplyElements(absl::Span<const Element> elements, size_t first, Message message, std::vector<Message>& parts) {
  Message rest;
  for (; first < elements.size() && !rest; ++first) rest = ApplyElement(elements[first], *message);
  ApplyRemaining(elements, first, std::move(message), std::move(rest), parts);
}

void ApplyRemaining(absl::Span<const Element> elements, size_t first, Message message, Message rest,
                    std::vector<Message>& parts) {
  if (!rest) {
    parts.push_back(std::move(message));
    return;
  }
  if (message->rows() > 0 || message->end != End::kNone) {
    ApplyElements(elements, first, std::move(message), parts);
  } else {
    rest->TakeRemovedOf(*message);
  }
  while (rest) {
    Message next = std::move(rest->rest);
    ApplyElements(elements, first - 1, std::move(rest), parts);
    rest = std::move(next);
  }
}

}  // namespace headrace

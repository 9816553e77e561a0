// `Element` is one operator within a stage, made ready to run, with the functions that apply elements to messages. Use
// ApplyElements for the row operators of a stage.
// Threads: several threads may apply row operators to different messages at once.
#ifndef HEADRACE_ENGINE_EXEC_ELEMENT_H_
#define HEADRACE_ENGINE_EXEC_ELEMENT_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/operator/block.h"
#include "engine/operator/operator.h"
#include "engine/plan/physical_plan.h"

namespace headrace {

struct Element {
  const PlannedOperator* plan = nullptr;
  std::unique_ptr<RowOperator> row;
  std::unique_ptr<StreamOperator> stream;
  const RowCache* cache = nullptr;  // of a row operator that has one
};

// Adds the operator's name, and the line of the script that made it, to the error.
void AddOperator(absl::Status& error, const PlannedOperator& op);

// If a row failed, returns what follows it: rows that the element has not seen, and the terminator. This must be
// passed on after the block, because rows may be given out in another order, and a consumer that does not want the
// error still relies on the end-of-epoch marker. Where rows that fail are skipped, it returns the row as a tombstone,
// whose `rest` is what follows.
Message ApplyElement(const Element& element, Block& block);
// What ApplyElement returns for a block to which the element has been applied.
Message TakeFailed(const Element& element, Block& block);
// Whether the block ends where a row failed that is skipped.
bool SkipsFailed(const PlannedOperator& op, const Block& block);
// Applies the elements from `first` on. Appends the resulting messages in order: one, and more for each row that
// failed.
void ApplyElements(absl::Span<const Element> elements, size_t first, Message message, std::vector<Message>& parts);
// What is left of that once the elements before `first` have been applied: `rest` follows the message; null: nothing.
void ApplyRemaining(absl::Span<const Element> elements, size_t first, Message message, Message rest,
                    std::vector<Message>& parts);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_ELEMENT_H_

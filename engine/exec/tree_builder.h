// Lays an instance tree out in stages: which operators share a task, where connectors stand, which threads run what,
// and where everybody goes on after a restart.
// Thread contract: used once, by the thread that makes the pipeline.
#ifndef HEADRACE_ENGINE_EXEC_TREE_BUILDER_H_
#define HEADRACE_ENGINE_EXEC_TREE_BUILDER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/exec/pipeline.h"

namespace headrace {

// kUnsupported: of an epoch beyond `last`, the last that can be counted; none: no epoch can.
absl::Status UncountedEpoch(uint64_t epoch, std::optional<uint64_t> last);

class TreeBuilder {
 public:
  explicit TreeBuilder(Pipeline& pipeline) : pipeline_(pipeline) {}
  absl::Status Build();

 private:
  // A stage to which operators may still be added.
  struct Open {
    enum class Kind { kIndexed, kStreamSource, kRow, kStream } kind = Kind::kRow;
    bool sealed = false;
    Lane lane = Lane::kCpu;
    bool gated = false;
    int cap = 1 << 30;
    bool batches = false;  // gives out batches: few are enough in a queue
    std::vector<Stage*> inputs;
    std::vector<Element> elements;
    const PlanNode* top = nullptr;  // the operator added last
    PlanNode* source = nullptr;
    EpochRange epochs;             // of the source
    std::vector<uint64_t> words;   // of the source
    std::vector<uint64_t> before;  // one-to-many
    uint64_t skip_parts = 0;
    std::vector<std::shared_ptr<RowCache>> caches;  // to look in before a row is worked on
  };

  absl::Status CheckShards() const;
  // Refuses an epoch that repeats within repeats number beyond 64 bits, and lets none of those follow.
  absl::Status CheckEpochs();
  Open BuildNode(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words);
  Open BuildSource(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words);
  Open BuildRow(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words);
  Open BuildStream(PlanNode& instance, EpochRange epochs, absl::Span<const uint64_t> words);
  Stage* Close(Open open);
  // Lets the rows of the stage below a batch be written where they go, if nothing but their epochs changes in between.
  void GiveBatchSlots(Stage* below, absl::Span<const Element> between, const PlanNode& batch, EpochRange epochs,
                      uint64_t skipped) const;
  absl::Status OpenCaches(const PlanNode& instance);
  // Lets the operator's own cache keep rows where several epochs of them may be run, or later runs find them.
  absl::Status OpenAutomatic(const PlanNode& instance, EpochRange epochs);

  Pipeline& pipeline_;
  int64_t granted_ = 0;  // of the budget, to caches
  absl::Status opened_;  // the first automatic cache that could not be
  // On the way down, the nearest to the user first: for the indexed source that ends the way.
  std::vector<std::shared_ptr<RowCache>> caches_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_TREE_BUILDER_H_

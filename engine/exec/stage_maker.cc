#include "engine/exec/stage_maker.h"

#include <utility>

#include "engine/cache/run_caches.h"
#include "engine/exec/indexed_source_stage.h"
#include "engine/exec/row_stage.h"
#include "engine/exec/stream_source_stage.h"
#include "engine/exec/stream_stage.h"
#include "engine/operator/batch_memory.h"

namespace headrace {
namespace {

constexpr EpochRange kNoEpochs{1, 0};

class StageMaker {
 public:
  StageMaker(const PhysicalPlan& plan, absl::Span<PlanNode* const> nodes, RunControl* control)
      : plan_(plan), nodes_(nodes), control_(control) {
    for (const PlannedOperator& op : plan.operators) epochs_.push_back(op.epochs);
  }

  std::vector<std::unique_ptr<Stage>> Make() {
    StartOperators();
    std::vector<std::unique_ptr<Stage>> stages(plan_.stages.size());
    // Inputs come after what they feed.
    for (size_t i = stages.size(); i-- > 0;) stages[i] = MakeStage(plan_.stages[i], stages);
    return stages;
  }

 private:
  const PlannedOperator& op(int id) const { return plan_.operators[static_cast<size_t>(id)]; }
  PlanNode& node(int id) const { return *nodes_[static_cast<size_t>(id)]; }

  // From the user down, because an operator that has all of its rows already needs no epochs of its inputs.
  void StartOperators() {
    for (size_t id = plan_.operators.size(); id-- > 0;) {
      const PlannedOperator& op = plan_.operators[id];
      StreamOperator* const stream = nodes_[id]->stream.get();
      bool needs_input = epochs_[id].first <= epochs_[id].last;
      if (stream != nullptr) {
        stream->SetLastEpoch(epochs_[id].last);
        stream->Start(epochs_[id].first, op.counters, Checkpoint(op.input_counters.begin(), op.input_counters.end()));
        needs_input &= stream->needs_input();
      }
      if (needs_input) continue;
      for (const int input : op.inputs) epochs_[static_cast<size_t>(input)] = kNoEpochs;
    }
  }

  Stage::Parts PartsOf(const PlannedStage& stage, const std::vector<std::unique_ptr<Stage>>& stages) const {
    Stage::Parts parts;
    for (const int input : stage.inputs) parts.inputs.push_back(stages[static_cast<size_t>(input)].get());
    for (const int id : stage.caches) {
      if (auto cache = CacheOf(node(id))) parts.caches.push_back(std::move(cache));
    }
    for (const int id : stage.operators) {
      const OperatorProperties& properties = op(id).properties;
      // What joins rows makes one call for many of them, which takes the lock itself.
      const bool calls_for_each = properties.traits.python && !properties.traits.joins_rows;
      parts.calls_here |= stage.gated && calls_for_each && properties.processes == 0;
      PlanNode& made = node(id);
      if (made.row == nullptr && made.stream == nullptr) continue;
      const RowCache* cache = made.row ? made.row->row_cache().get() : nullptr;
      parts.elements.push_back({&op(id), std::move(made.row), std::move(made.stream), cache});
    }
    return parts;
  }

  SourceRanges RangesOf(int source) const {
    if (!plan_.ranges.has_value()) return {};
    return {node(source).arguments.run->ranges, plan_.ranges->batch_rows};
  }

  std::unique_ptr<BatchSlots> SlotsOf(const PlannedStage& stage) const {
    if (!stage.batch_slots.has_value()) return nullptr;
    const PlannedOperator& batch = op(stage.batch_slots->batch);
    std::vector<EpochMapping> mappings;
    for (const int id : stage.batch_slots->between) mappings.push_back(op(id).properties.epochs);
    const auto last_epoch = [mappings = std::move(mappings)](uint64_t epoch) {
      for (size_t i = mappings.size(); i-- > 0;) epoch = mappings[i].LastInput(epoch);
      return epoch;
    };
    const MemorySource source{control_->pool(stage.batch_slots->memory), control_->account()};
    return std::make_unique<BatchSlots>(source, batch.properties.batch_rows, op(batch.inputs[0]).output.Types(),
                                        stage.batch_slots->skipped_rows,
                                        epochs_[static_cast<size_t>(stage.batch_slots->batch)], last_epoch);
  }

  std::unique_ptr<Stage> MakeStage(const PlannedStage& stage, const std::vector<std::unique_ptr<Stage>>& stages) const {
    const int first = stage.operators.front();
    const EpochRange epochs = epochs_[static_cast<size_t>(first)];
    Stage::Parts parts = PartsOf(stage, stages);
    switch (stage.kind) {
      case PlannedStage::Kind::kIndexedSource:
        return std::make_unique<IndexedSourceStage>(stage, control_, std::move(parts), op(first),
                                                    std::move(node(first).indexed), plan_.shard, epochs,
                                                    RangesOf(first));
      case PlannedStage::Kind::kStreamSource:
        return std::make_unique<StreamSourceStage>(stage, control_, std::move(parts), op(first),
                                                   std::move(node(first).stream_source), plan_.shard, epochs);
      case PlannedStage::Kind::kRow:
        return std::make_unique<RowStage>(stage, control_, std::move(parts), op(stage.operators.back()),
                                          SlotsOf(stage));
      default:
        return std::make_unique<StreamStage>(stage, control_, std::move(parts));
    }
  }

  const PhysicalPlan& plan_;
  const absl::Span<PlanNode* const> nodes_;
  RunControl* const control_;
  std::vector<EpochRange> epochs_;  // of each operator, as far as they are needed
};

}  // namespace

std::vector<std::unique_ptr<Stage>> MakeStages(const PhysicalPlan& plan, absl::Span<PlanNode* const> nodes,
                                               RunControl* control) {
  return StageMaker(plan, nodes, control).Make();
}

}  // namespace headrace

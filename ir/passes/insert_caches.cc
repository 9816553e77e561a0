#include "ir/passes/insert_caches.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/passes/graph_editor.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

constexpr std::string_view kCacheOp = "cache";

bool SameInEachEpoch(const proto::Step& step) {
  const Declaration* declaration = Registry::Global().Find(step.kernel());
  return declaration != nullptr && step.salt() == 0 && !declaration->traits.random && !ActsBesides(step);
}

int LeadingSteps(const proto::Node& map) {
  const auto& steps = map.steps();
  return static_cast<int>(std::find_if_not(steps.begin(), steps.end(), SameInEachEpoch) - steps.begin());
}

// What is known of the rows that a node gives.
struct Rows {
  bool same = false;      // known by keys, and the same in each epoch
  bool shuffled = false;  // in another order in each epoch
  bool cached = false;    // a cache stands here or below
  int marked = -1;        // the map here or below that has places
};

class Marker {
 public:
  Marker(const GraphEditor& editor, proto::Graph& graph) : editor_(editor), graph_(graph), rows_(graph.nodes_size()) {}

  void Mark() {
    FindFeedingCaches();
    for (int place = 0; place < graph_.nodes_size(); ++place) MarkAt(place);
  }

 private:
  void FindFeedingCaches() {
    feeds_cache_.assign(graph_.nodes_size(), false);
    for (int place = graph_.nodes_size() - 1; place >= 0; --place) {
      const proto::Node& node = graph_.nodes(place);
      if (node.op() != kCacheOp && !feeds_cache_[place]) continue;
      for (const uint32_t input : node.inputs()) feeds_cache_[input] = true;
    }
  }

  void MarkAt(int place) {
    proto::Node& node = *graph_.mutable_nodes(place);
    Rows& rows = rows_[place];
    for (const uint32_t input : node.inputs()) {
      rows.shuffled |= rows_[input].shuffled;
      rows.cached |= rows_[input].cached;
    }
    rows.cached |= node.op() == kCacheOp;
    if (editor_.over_indices(place)) return OverIndices(node, rows);
    if (node.inputs_size() != 1) return;
    const Rows& below = rows_[node.inputs(0)];
    const Traits& traits = editor_.declaration(place).traits;
    const bool row_by_row = traits.one_to_one && editor_.declaration(place).role == Role::kRow;
    if (!(row_by_row || PassesRows(traits)) || !below.same || rows.cached || feeds_cache_[place]) return;
    const int leading = LeadingSteps(node);
    rows.same = !ActsBesides(node) && leading == node.steps_size();
    rows.marked = below.marked;
    // A place before the first step is one after the last of the map below.
    if (node.op() != kMapOp || (leading == 0 && below.marked >= 0)) return;
    if (below.marked >= 0) graph_.mutable_nodes(below.marked)->clear_cache_points();
    node.set_cache_points(static_cast<uint32_t>(leading + 1));
    rows.marked = place;
  }

  void OverIndices(const proto::Node& node, Rows& rows) const {
    // What the user gave may be written to between epochs: ActsBesides counts references.
    bool same = !ActsBesides(node);
    for (const uint32_t input : node.inputs()) same &= rows_[input].same;
    // Pairs of shuffled rows are others in each epoch.
    same &= !Registry::Global().Find(node.op())->traits.side_by_side || !rows.shuffled;
    rows.same = same;
    rows.shuffled |= node.salt() != 0;
  }

  const GraphEditor& editor_;
  proto::Graph& graph_;
  std::vector<Rows> rows_;
  std::vector<bool> feeds_cache_;
};

}  // namespace

absl::StatusOr<proto::Graph> InsertCaches(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(const GraphEditor editor, GraphEditor::Of(graph));
  proto::Graph result = graph;
  Marker(editor, result).Mark();
  return result;
}

}  // namespace headrace::ir

#include "ir/passes/insert_caches.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/parameters.h"
#include "ir/passes/graph_editor.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

constexpr std::string_view kCacheOp = "cache";

bool SameInEachEpoch(const proto::Step& step) {
  const auto draws = [](const proto::Step& each) {
    const Declaration* declaration = Registry::Global().Find(each.kernel());
    return declaration == nullptr || each.salt() != 0 || declaration->traits.random || ReadsParameter(each);
  };
  return !AnyStepOf(step, draws) && !ActsBesides(step);
}

int LeadingSteps(const proto::Node& map) {
  const auto& steps = map.steps();
  return static_cast<int>(std::find_if_not(steps.begin(), steps.end(), SameInEachEpoch) - steps.begin());
}

// Properties of the rows of a node.
struct Rows {
  bool same = false;      // identified by keys, and the same in each epoch
  bool shuffled = false;  // in another order in each epoch
  bool cached = false;    // there is a cache here or below
  int marked = -1;        // the map here or below that has cache points
};

class InsertCachesMarker {
 public:
  InsertCachesMarker(const GraphEditor& editor, proto::Graph& graph)
      : editor_(editor), graph_(graph), rows_(graph.nodes_size()) {}

  void Mark() {
    FindFeedingCaches();
    for (int id = 0; id < graph_.nodes_size(); ++id) MarkAt(id);
  }

 private:
  void FindFeedingCaches() {
    feeds_cache_.assign(graph_.nodes_size(), false);
    for (int id = graph_.nodes_size() - 1; id >= 0; --id) {
      const proto::Node& node = graph_.nodes(id);
      if (node.op() != kCacheOp && !feeds_cache_[id]) continue;
      for (const uint32_t input : node.inputs()) feeds_cache_[input] = true;
    }
  }

  void MarkAt(int id) {
    proto::Node& node = *graph_.mutable_nodes(id);
    Rows& rows = rows_[id];
    for (const uint32_t input : node.inputs()) {
      rows.shuffled |= rows_[input].shuffled;
      rows.cached |= rows_[input].cached;
    }
    rows.cached |= node.op() == kCacheOp;
    if (editor_.over_indices(id)) return OverIndices(node, rows);
    if (node.inputs_size() != 1) return;
    const Rows& below = rows_[node.inputs(0)];
    const Traits& traits = editor_.declaration(id).traits;
    const bool row_by_row = traits.one_to_one && editor_.declaration(id).role == Role::kRow;
    const bool given_on = row_by_row || PassesRows(traits) || node.op() == kCacheOp;
    if (!given_on || !below.same) return;
    const int leading = LeadingSteps(node);
    rows.same = !ActsBesides(node) && leading == node.steps_size();
    // Beside the user's own cache none is needed for rows, but notes of them may be kept.
    if (rows.cached || feeds_cache_[id]) {
      if (node.op() == kMapOp) node.set_cache_points(1);
      return;
    }
    rows.marked = below.marked;
    // A cache point before the first step equals the one after the last step of the map below.
    if (node.op() != kMapOp || (leading == 0 && below.marked >= 0)) return;
    if (below.marked >= 0) graph_.mutable_nodes(below.marked)->clear_cache_points();
    node.set_cache_points(static_cast<uint32_t>(leading + 1));
    rows.marked = id;
  }

  void OverIndices(const proto::Node& node, Rows& rows) const {
    // The user may write to arrays between epochs: ActsBesides counts references.
    bool same = !ActsBesides(node);
    const Declaration& declaration = *Registry::Global().Find(node.op());
    // The second of two inputs has values, which say which rows come and not what they are.
    const int of_rows = declaration.max_inputs == 2 ? 1 : node.inputs_size();
    for (int i = 0; i < of_rows; ++i) same &= rows_[node.inputs(i)].same;
    // Pairs of shuffled rows differ in each epoch.
    same &= !declaration.traits.side_by_side || !rows.shuffled;
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
  InsertCachesMarker(editor, result).Mark();
  return result;
}

}  // namespace headrace::ir

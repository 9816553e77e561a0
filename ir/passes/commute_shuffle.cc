#include "ir/passes/commute_shuffle.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/branches.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/node_traits.h"
#include "ir/passes/graph_editor.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

// Most encoded images and texts are smaller than this.
constexpr int64_t kEncodedBytes = 128 << 10;

int64_t ValueBytes(const ColumnType& type) {
  return static_cast<int64_t>(ItemSize(type.dtype)) * ElementCount(*type.shape);
}

// For a column that maps rewrote; `resized`: some of them change the number of elements.
bool Grows(const ColumnType& from, const ColumnType& to, bool resized) {
  if (ItemSize(to.dtype) == 0) return false;
  const bool encoded = IsVariableLength(from.dtype);
  if (to.fully_known()) {
    const bool known = from.fully_known() && !encoded;
    return (known || encoded) && ValueBytes(to) >= (encoded ? kEncodedBytes : ValueBytes(from));
  }
  return encoded && !resized;
}

class ShuffleMover {
 public:
  explicit ShuffleMover(GraphEditor editor) : editor_(std::move(editor)), one_by_one_(editor_.size()) {}

  absl::StatusOr<proto::Graph> Run() && {
    for (int id = 0; id < editor_.size(); ++id) {
      one_by_one_[id] = OneByOne(id);
      const Traits& traits = editor_.declaration(id).traits;
      if (traits.by_position && traits.one_to_one && one_by_one_[id]) Move(id);
    }
    return std::move(editor_).Finish();
  }

 private:
  // Rows come in messages of one.
  bool OneByOne(int id) const {
    if (editor_.declaration(id).traits.one_to_many) return false;
    const auto& inputs = editor_.node(id).inputs();
    return std::all_of(inputs.begin(), inputs.end(), [&](uint32_t input) { return one_by_one_[input]; });
  }

  // Moves it below as many maps as possible and worthwhile together: one that decodes may be followed by one that
  // crops.
  void Move(int id) {
    int worth = 0;
    const std::vector<int> maps = MapsBelow(id);
    for (size_t i = 0; i < maps.size(); ++i) {
      if (SmallerBelow(id, maps, i)) worth = static_cast<int>(i) + 1;
    }
    for (int i = 0; i < worth; ++i) {
      const int below = maps[static_cast<size_t>(i)];
      if (!editor_.Swap(id, editor_.node(below), editor_.node(id))) return;
      id = below;
    }
  }

  std::vector<int> MapsBelow(int id) const {
    std::vector<int> maps;
    for (int below = editor_.OwnInput(id); below >= 0; below = editor_.OwnInput(below)) {
      if (editor_.node(below).op() != kMapOp || CallsInOrder(editor_.node(below))) break;
      maps.push_back(below);
    }
    return maps;
  }

  // Whether rows are no larger below the maps up to index `last` (from the top) than above them all.
  bool SmallerBelow(int id, const std::vector<int>& maps, size_t last) const {
    const Schema below = editor_.InputSchemas(maps[last])[0];
    for (const Column& column : below.columns) {
      bool rewritten = false;
      bool resized = false;
      for (size_t i = 0; i <= last; ++i) {
        for (const proto::Step& step : editor_.node(maps[i]).steps()) {
          if (std::find(step.outputs().begin(), step.outputs().end(), column.name) == step.outputs().end()) continue;
          rewritten = true;
          resized = resized || AnyStepOf(step, [](const auto& each) { return TraitsOf(each).geometric; });
        }
      }
      if (rewritten && !Grows(column.type, editor_.schema(id).Find(column.name)->type, resized)) return false;
    }
    return true;
  }

  GraphEditor editor_;
  std::vector<bool> one_by_one_;
};

}  // namespace

absl::StatusOr<proto::Graph> CommuteShuffle(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(GraphEditor editor, GraphEditor::Of(graph));
  return ShuffleMover(std::move(editor)).Run();
}

}  // namespace headrace::ir

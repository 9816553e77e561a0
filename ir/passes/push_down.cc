#include "ir/passes/push_down.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/expression.h"
#include "ir/graph.h"
#include "ir/passes/column_ops.h"
#include "ir/passes/graph_editor.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether a row's expressions give a value for every row of the schema.
bool NeverFails(const proto::Node& node, const Schema& schema) {
  return std::all_of(node.attributes().begin(), node.attributes().end(), [&](const proto::Attribute& attribute) {
    return !attribute.value().has_expression() || CannotFail(attribute.value().expression(), schema);
  });
}

// The columns that the operator reads for its own decisions.
ColumnSet OwnReads(const Declaration& declaration, const proto::Node& node, const Schema& input) {
  return declaration.reads(Attributes::Of(node), {input}, {})[0];
}

class Pusher {
 public:
  explicit Pusher(GraphEditor editor) : editor_(std::move(editor)) {}

  absl::StatusOr<proto::Graph> Run() && {
    // What has come further down may let others follow it: goes on until nothing moves.
    for (bool moved = true; moved;) {
      moved = false;
      for (int place = 0; place < editor_.size(); ++place) {
        for (int at = place; at >= 0 && PushOnce(at); at = editor_.OwnInput(at)) moved = true;
      }
    }
    return std::move(editor_).Finish();
  }

 private:
  // Moves the operator at the place below its input, where that changes nothing.
  bool PushOnce(int place) {
    const int below = editor_.gone(place) ? -1 : editor_.OwnInput(place);
    if (below < 0 || editor_.node(below).inputs_size() != 1) return false;
    const proto::Node& node = editor_.node(place);
    const Traits& traits = editor_.declaration(place).traits;
    if (node.op() == kProjectOp) return PushProject(place, below);
    if (node.op() == kRenameOp) return PushRename(place, below);
    if (traits.by_position && !traits.one_to_one) return PushByPosition(place, below);
    if (traits.selects) return PushSelection(place, below);
    return false;
  }

  bool IsMap(int place) const { return editor_.node(place).op() == kMapOp; }
  bool IsRowByRow(int place) const {
    const Declaration& declaration = editor_.declaration(place);
    return declaration.role == Role::kRow && declaration.traits.one_to_one;
  }
  bool Reorders(int place) const {
    const Traits& traits = editor_.declaration(place).traits;
    return traits.by_position && traits.one_to_one;
  }
  bool Trade(int place, int below) { return editor_.TradePlaces(place, editor_.node(below), editor_.node(place)); }

  bool PushByPosition(int place, int below) {
    if (!IsRowByRow(below)) return false;
    const auto source = static_cast<int>(editor_.node(below).inputs(0));
    // A project or rename does no work that would be worth a project in its place.
    if (editor_.over_indices(source) && editor_.declaration(below).traits.light) return false;
    if (!DropsOnlyTheEnd(place) && ActsBesides(editor_.node(below))) return false;
    return Trade(place, below);
  }

  // Of operators that drop rows by position: those that give no fewer rows where they are given more. A take has a most
  // of its own.
  bool DropsOnlyTheEnd(int place) const {
    const Declaration& declaration = editor_.declaration(place);
    if (declaration.most_rows == nullptr) return false;
    const std::optional<uint64_t> unknown;
    return declaration.most_rows(Attributes::Of(editor_.node(place)), {unknown}).has_value();
  }

  bool PushSelection(int place, int below) {
    const proto::Node& node = editor_.node(place);
    const Declaration& declaration = editor_.declaration(place);
    const Schema schema = editor_.schema(below);
    if (ActsBesides(node) || declaration.reads == nullptr || !NeverFails(node, schema)) return false;
    if (editor_.node(below).op() == kProjectOp) return Trade(place, below);
    if (!IsMap(below) || ActsBesides(editor_.node(below))) return false;
    const ColumnSet reads = OwnReads(declaration, node, schema);
    for (const proto::Step& step : editor_.node(below).steps()) {
      for (const std::string& output : step.outputs()) {
        if (reads.count(output) > 0) return false;
      }
    }
    return Trade(place, below);
  }

  bool PushProject(int place, int below) {
    if (editor_.node(below).op() == kProjectOp) {
      editor_.Remove(below);
      return true;
    }
    if (editor_.node(below).op() == kRenameOp) return PushProjectBelowRename(place, below);
    if (Reorders(below)) return Trade(place, below);
    return IsMap(below) && PushProjectBelowMap(place, below);
  }

  // The map must write in place alone: a column that it adds stands at the end, wherever the project puts it.
  bool PushProjectBelowMap(int place, int below) {
    const std::vector<std::string> kept = ProjectedColumns(editor_.node(place));
    const Schema source = editor_.InputSchemas(below)[0];
    for (const proto::Step& step : editor_.node(below).steps()) {
      for (const std::string& input : step.inputs()) {
        if (!Contains(kept, input)) return false;
      }
      for (const std::string& output : step.outputs()) {
        if (!Contains(kept, output) || source.Find(output) == nullptr) return false;
      }
    }
    return Trade(place, below);
  }

  bool PushProjectBelowRename(int place, int below) {
    proto::Node project = editor_.node(place);
    proto::Node rename = editor_.node(below);
    const NewNames names = RenamedColumns(rename);
    const std::vector<std::string> kept = ProjectedColumns(project);
    std::vector<std::string> old(kept.size());
    NewNames still;
    for (const std::string& name : editor_.InputSchemas(below)[0].Names()) {
      const std::string& renamed = NewName(names, name);
      const auto found = std::find(kept.begin(), kept.end(), renamed);
      if (found == kept.end()) continue;
      old[static_cast<size_t>(found - kept.begin())] = name;
      if (renamed != name) still[name] = renamed;
    }
    SetProjectedColumns(project, old);
    SetRenamedColumns(rename, still);
    return editor_.TradePlaces(place, std::move(rename), std::move(project));
  }

  bool PushRename(int place, int below) {
    if (editor_.node(below).op() == kRenameOp) return JoinRenames(place, below);
    if (Reorders(below)) return Trade(place, below);
    return IsMap(below) && PushRenameBelowMap(place, below);
  }

  bool JoinRenames(int place, int below) {
    const NewNames first = RenamedColumns(editor_.node(below));
    const NewNames second = RenamedColumns(editor_.node(place));
    NewNames both;
    for (const std::string& name : editor_.InputSchemas(below)[0].Names()) {
      const std::string& renamed = NewName(second, NewName(first, name));
      if (renamed != name) both[name] = renamed;
    }
    SetRenamedColumns(editor_.mutable_node(place), both);
    editor_.Remove(below);
    return true;
  }

  // Every column that the map has ever held is in its result, so each has a new name of its own.
  bool PushRenameBelowMap(int place, int below) {
    proto::Node rename = editor_.node(place);
    proto::Node map = editor_.node(below);
    const NewNames names = RenamedColumns(rename);
    NewNames of_source;
    for (const std::string& name : editor_.InputSchemas(below)[0].Names()) {
      if (NewName(names, name) != name) of_source[name] = NewName(names, name);
    }
    for (proto::Step& step : *map.mutable_steps()) {
      for (std::string& input : *step.mutable_inputs()) input = std::string(NewName(names, input));
      for (std::string& output : *step.mutable_outputs()) output = std::string(NewName(names, output));
    }
    SetRenamedColumns(rename, of_source);
    return editor_.TradePlaces(place, std::move(map), std::move(rename));
  }

  GraphEditor editor_;
};

}  // namespace

absl::StatusOr<proto::Graph> PushDown(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(GraphEditor editor, GraphEditor::Of(graph));
  return Pusher(std::move(editor)).Run();
}

}  // namespace headrace::ir

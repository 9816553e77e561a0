#include "ir/passes/push_down.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/expression.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/passes/column_ops.h"
#include "ir/passes/graph_editor.h"
#include "ir/passes/side_effects.h"

namespace headrace::ir {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the node's expression cannot fail for any row of the schema.
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
    // An operator that moved down may let others follow it: repeats until nothing moves.
    for (bool moved = true; moved;) {
      moved = false;
      for (int id = 0; id < editor_.size(); ++id) {
        for (int at = id; at >= 0 && PushOnce(at); at = editor_.OwnInput(at)) moved = true;
      }
    }
    return std::move(editor_).Finish();
  }

 private:
  // Moves the node below its input, if the result stays the same.
  bool PushOnce(int id) {
    const int below = editor_.gone(id) ? -1 : editor_.OwnInput(id);
    if (below < 0 || editor_.node(below).inputs_size() != 1) return false;
    const proto::Node& node = editor_.node(id);
    const Traits& traits = editor_.declaration(id).traits;
    if (node.op() == kProjectOp) return PushProject(id, below);
    if (node.op() == kRenameOp) return PushRename(id, below);
    if (traits.by_position && !traits.one_to_one) return PushByPosition(id, below);
    if (traits.selects) return PushSelection(id, below);
    return false;
  }

  bool IsMap(int id) const { return editor_.node(id).op() == kMapOp; }
  bool IsRowByRow(int id) const {
    const Declaration& declaration = editor_.declaration(id);
    return declaration.role == Role::kRow && declaration.traits.one_to_one;
  }
  bool Reorders(int id) const {
    const Traits& traits = editor_.declaration(id).traits;
    return traits.by_position && traits.one_to_one;
  }
  bool Swap(int id, int below) { return editor_.Swap(id, editor_.node(below), editor_.node(id)); }

  bool PushByPosition(int id, int below) {
    if (!IsRowByRow(below)) return false;
    const auto source = static_cast<int>(editor_.node(below).inputs(0));
    // A project or rename is so cheap that an added project would save nothing.
    if (editor_.over_indices(source) && editor_.declaration(below).traits.light) return false;
    if (!DropsOnlyTheEnd(id) && ActsBesides(editor_.node(below))) return false;
    return Swap(id, below);
  }

  // For operators that drop rows by position: whether more input rows never mean fewer output rows. A take has its own
  // maximum.
  bool DropsOnlyTheEnd(int id) const {
    const Declaration& declaration = editor_.declaration(id);
    if (declaration.most_rows == nullptr) return false;
    const std::optional<uint64_t> unknown;
    return declaration.most_rows(Attributes::Of(editor_.node(id)), {unknown}).has_value();
  }

  bool PushSelection(int id, int below) {
    const proto::Node& node = editor_.node(id);
    const Declaration& declaration = editor_.declaration(id);
    const Schema schema = editor_.schema(below);
    if (ActsBesides(node) || declaration.reads == nullptr || !NeverFails(node, schema)) return false;
    if (editor_.node(below).op() == kProjectOp) return Swap(id, below);
    // A step of a map may fail.
    if (!IsMap(below) || ActsBesides(editor_.node(below)) || editor_.skip_failed()) return false;
    const ColumnSet reads = OwnReads(declaration, node, schema);
    for (const proto::Step& step : editor_.node(below).steps()) {
      for (const std::string& output : step.outputs()) {
        if (reads.count(output) > 0) return false;
      }
    }
    return Swap(id, below);
  }

  bool PushProject(int id, int below) {
    if (editor_.node(below).op() == kProjectOp) {
      editor_.Remove(below);
      return true;
    }
    if (editor_.node(below).op() == kRenameOp) return PushProjectBelowRename(id, below);
    if (Reorders(below)) return Swap(id, below);
    return IsMap(below) && PushProjectBelowMap(id, below);
  }

  // The map must only replace columns: a column that it adds is the last one, wherever the project puts it.
  bool PushProjectBelowMap(int id, int below) {
    const std::vector<std::string> kept = ProjectedColumns(editor_.node(id));
    const Schema source = editor_.InputSchemas(below)[0];
    for (const proto::Step& step : editor_.node(below).steps()) {
      for (const std::string& input : step.inputs()) {
        if (!Contains(kept, input)) return false;
      }
      for (const std::string& output : step.outputs()) {
        if (!Contains(kept, output) || source.Find(output) == nullptr) return false;
      }
    }
    return Swap(id, below);
  }

  bool PushProjectBelowRename(int id, int below) {
    proto::Node project = editor_.node(id);
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
    return editor_.Swap(id, std::move(rename), std::move(project));
  }

  bool PushRename(int id, int below) {
    if (editor_.node(below).op() == kRenameOp) return JoinRenames(id, below);
    if (Reorders(below)) return Swap(id, below);
    return IsMap(below) && PushRenameBelowMap(id, below);
  }

  bool JoinRenames(int id, int below) {
    const NewNames first = RenamedColumns(editor_.node(below));
    const NewNames second = RenamedColumns(editor_.node(id));
    NewNames both;
    for (const std::string& name : editor_.InputSchemas(below)[0].Names()) {
      const std::string& renamed = NewName(second, NewName(first, name));
      if (renamed != name) both[name] = renamed;
    }
    SetRenamedColumns(editor_.mutable_node(id), both);
    editor_.Remove(below);
    return true;
  }

  // Every column that the map ever had is in its result, so each has its own new name.
  bool PushRenameBelowMap(int id, int below) {
    proto::Node rename = editor_.node(id);
    proto::Node map = editor_.node(below);
    const NewNames names = RenamedColumns(rename);
    NewNames of_source;
    for (const std::string& name : editor_.InputSchemas(below)[0].Names()) {
      if (NewName(names, name) != name) of_source[name] = NewName(names, name);
    }
    VisitSteps(map.mutable_steps(), [&](proto::Step& step) {
      for (std::string& input : *step.mutable_inputs()) input = std::string(NewName(names, input));
      for (std::string& output : *step.mutable_outputs()) output = std::string(NewName(names, output));
    });
    SetRenamedColumns(rename, of_source);
    return editor_.Swap(id, std::move(map), std::move(rename));
  }

  GraphEditor editor_;
};

}  // namespace

absl::StatusOr<proto::Graph> PushDown(const proto::Graph& graph) {
  HEADRACE_ASSIGN_OR_RETURN(GraphEditor editor, GraphEditor::Of(graph));
  return Pusher(std::move(editor)).Run();
}

}  // namespace headrace::ir

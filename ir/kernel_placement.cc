#include "ir/kernel_placement.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ir/clip_types.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/parameters.h"

namespace headrace::ir {
namespace {

constexpr int64_t kBoxCoordinates = 4;
constexpr int64_t kPointCoordinates = 2;

// Visits the steps of all maps with what is known before each.
class StepVisitor {
 public:
  // Steps named in `broken` (by node and step) are not visited, because their attributes cannot be trusted.
  StepVisitor(const proto::Graph& graph, const Inference& inference, absl::Span<const Mistake> broken)
      : graph_(graph), inference_(inference), histories_(graph.nodes_size()) {
    for (const Mistake& mistake : broken) broken_.emplace(mistake.node, mistake.step);
  }
  virtual ~StepVisitor() = default;

  std::vector<Mistake> Run() {
    for (node_ = 0; node_ < graph_.nodes_size(); ++node_) VisitNode(graph_.nodes(node_));
    return std::move(found_);
  }

 protected:
  virtual void Visit(const Declaration& kernel, const proto::Step& step, const Schema& schema,
                     const ColumnHistories& histories) = 0;

  // For the current step.
  void Add(std::string message) {
    const proto::Node& node = graph_.nodes(node_);
    const proto::Step& step = *path_.back();
    const bool own_line = !step.location().file().empty();
    const std::string op = OperatorName(node, step, path_.size() > 1 ? path_[path_.size() - 2] : nullptr);
    found_.push_back({LocationText(own_line ? step.location() : node.location()), op, std::move(message),
                      ErrorKind::kGraph, node_, step_});
  }

 private:
  void VisitNode(const proto::Node& node) {
    if (!inference_.schemas[node_].has_value()) return;
    std::vector<const ColumnHistories*> inputs;
    for (const uint32_t input : node.inputs()) {
      if (input >= static_cast<uint32_t>(node_) || !inference_.schemas[input].has_value()) return;
      inputs.push_back(&histories_[input]);
    }
    if (node.op() != kMapOp) {
      histories_[node_] = HistoriesAfter(node, inputs, *inference_.schemas[node_]);
      return;
    }
    if (inputs.size() == 1) VisitMap(node, *inputs[0], *inference_.schemas[node.inputs(0)]);
  }

  void VisitMap(const proto::Node& node, ColumnHistories histories, Schema schema) {
    for (step_ = 0; step_ < node.steps_size(); ++step_) {
      const proto::Step& step = node.steps(step_);
      const bool broken = broken_.count({node_, step_}) > 0;
      if (!broken) VisitStep(step, schema, histories);
      // A step that has a mistake gives columns of which nothing is known.
      if (broken || !FollowStep(step, schema, histories).ok()) {
        for (const std::string& output : step.outputs()) histories.erase(output);
      }
    }
    histories_[node_] = std::move(histories);
  }

  void VisitStep(const proto::Step& step, const Schema& schema, const ColumnHistories& histories) {
    const Declaration* const kernel = Registry::Global().Find(step.kernel());
    if (kernel == nullptr || kernel->role != Role::kKernel) return;
    path_.push_back(&step);
    if (kernel->branching != nullptr) {
      VisitBranches(*kernel, step, schema, histories);
    } else {
      Visit(*kernel, step, schema, histories);
    }
    path_.pop_back();
  }

  void VisitBranches(const Declaration& chooser, const proto::Step& step, Schema schema, ColumnHistories histories) {
    // Types that do not fit are mistakes of their own.
    if (!EnterBranches(chooser, step, schema, histories).ok()) return;
    for (const proto::Branch& branch : step.branches()) {
      Schema types = schema;
      ColumnHistories known = histories;
      for (const proto::Step& nested : branch.steps()) {
        VisitStep(nested, types, known);
        if (!FollowStep(nested, types, known).ok()) break;
      }
    }
  }

  const proto::Graph& graph_;
  const Inference& inference_;
  std::set<std::pair<int, int>> broken_;
  std::vector<ColumnHistories> histories_;
  int node_ = 0;
  int step_ = 0;
  std::vector<const proto::Step*> path_;  // the current step, after the choosers that enclose it
  std::vector<Mistake> found_;
};

class PlacementCheck : public StepVisitor {
 public:
  using StepVisitor::StepVisitor;

 private:
  void Visit(const Declaration& kernel, const proto::Step& step, const Schema& schema,
             const ColumnHistories& histories) override {
    if (kernel.OfClips() != Clips::kNone && TakesBatchForClip(step, schema, histories)) return;
    for (const std::string& name : step.inputs()) {
      const auto history = histories.find(name);
      if (history == histories.end()) return;
      if (kernel.traits.by_batch && history->second.batches == 0) {
        return Add(Cat("works on a whole batch, but the rows of column \"", name,
                       "\" are not joined yet; give it to a map after batch: ds.batch(…).map(", kernel.name,
                       "(…), …)"));
      }
    }
    for (const std::string& name : step.inputs()) CheckAxes(kernel, step, name, histories.find(name)->second);
  }

  // A batch of images has as many axes as a clip.
  bool TakesBatchForClip(const proto::Step& step, const Schema& schema, const ColumnHistories& histories) {
    const std::string name = step.inputs().empty() ? "" : step.inputs(0);
    const Column* const column = schema.Find(name);
    if (column == nullptr || !IsClipType(column->type) || !HoldsBatches(histories, name)) return false;
    Add(Cat("column \"", name,
            "\": needs an image of shape (H, W, C) or (H, W), or a clip (T, H, W, C), of one row; got ",
            TypeName(column->type), ", in which rows are joined; write its map before batch"));
    return true;
  }

  void CheckAxes(const Declaration& kernel, const proto::Step& step, const std::string& name,
                 const ColumnHistory& history) {
    std::string mistake = AxesMistake(kernel, Attributes::Of(step), history.axes,
                                      Cat(history.axes_by, " made column \"", name, "\""), history.axes_by);
    if (!mistake.empty()) Add(std::move(mistake));
  }
};

// The kind of target that a column of this type holds, unless it is images of so few columns; "": none.
std::string_view TargetIn(const ColumnType& type) {
  if (!type.shape.has_value() || type.shape->size() != 2) return "";
  const int64_t numbers = type.shape->back();
  if (numbers == kBoxCoordinates) return "boxes";
  const bool floats = type.dtype == DType::kFloat32 || type.dtype == DType::kFloat64;
  return floats && numbers == kPointCoordinates ? "keypoints" : "";
}

class DoubtSearch : public StepVisitor {
 public:
  using StepVisitor::StepVisitor;

 private:
  void Visit(const Declaration& kernel, const proto::Step& step, const Schema& schema,
             const ColumnHistories& histories) override {
    if (kernel.traits.by_batch) FindLeftBehind(step, schema);
    std::vector<KnownInput> inputs;
    for (const std::string& name : step.inputs()) {
      const Column* const column = schema.Find(name);
      const auto history = histories.find(name);
      if (column == nullptr || history == histories.end()) return;
      inputs.push_back({column->type, history->second.bytes_range, history->second.units_by});
      const std::string_view target = kernel.traits.geometric ? TargetIn(column->type) : "";
      if (target.empty()) continue;
      Add(Cat("moves pixels, but column \"", name, "\" is ", TypeName(column->type), ", as ", target, " are; write hr.",
              target, "(\"", name, target == "boxes" ? "\", format=…" : "\"", ") for it, and its ", target,
              " follow the images"));
    }
    if (kernel.doubt == nullptr || ReadsParameter(step)) return;
    std::string doubt = kernel.doubt(Attributes::Of(step), inputs);
    if (!doubt.empty()) Add(std::move(doubt));
  }

  // Columns of labels whose boxes change without them.
  void FindLeftBehind(const proto::Step& step, const Schema& schema) {
    const auto& outputs = step.outputs();
    const auto changes = [&](const std::string& name) {
      return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    };
    const auto is_splits = [&](const std::string& name) {
      const Column* const column = schema.Find(name);
      return column != nullptr && column->type.ragged;
    };
    const auto changed = std::find_if(outputs.begin(), outputs.end(), is_splits);
    if (changed == outputs.end()) return;
    for (const Column& column : schema.columns) {
      if (!column.type.ragged || changes(column.name)) continue;
      Add(Cat("gives new rows of \"", *changed, "\", and what belongs to \"", column.name,
              "\" stays as it was; if it has an element for each of them, name it and its splits after them"));
      return;
    }
  }
};

}  // namespace

std::string AxesMistake(const Declaration& kernel, const Attributes& attributes, ImageAxes axes, std::string_view made,
                        std::string_view maker) {
  const bool first = axes == ImageAxes::kChannelsFirst;
  if (axes == ImageAxes::kUnknown || kernel.TakesImage(attributes, first)) return "";
  std::string advice = first ? Cat("put it before ", maker) : std::string("move the channels to the front before it");
  if (attributes.Find("layout") != nullptr) advice = Cat("write layout='", first ? "CHW" : "HWC", "'");
  return Cat("needs an image of shape ", first ? "(H, W, C)" : "(C, H, W)", ", but ", made, " ",
             first ? "(C, H, W)" : "(H, W, C)", "; ", advice);
}

std::vector<Mistake> FindMisplacedKernels(const proto::Graph& graph, const Inference& inference,
                                          absl::Span<const Mistake> broken) {
  return PlacementCheck(graph, inference, broken).Run();
}

std::vector<Mistake> FindDoubts(const proto::Graph& graph) {
  const Inference inference = Infer(graph);
  if (!inference.mistakes.empty()) return {};
  return DoubtSearch(graph, inference, {}).Run();
}

}  // namespace headrace::ir

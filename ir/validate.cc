#include "ir/validate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/infer.h"
#include "ir/kernel_placement.h"
#include "ir/mark_padding.h"
#include "ir/node_traits.h"
#include "ir/orders.h"
#include "ir/parameters.h"
#include "ir/post_order.h"
#include "ir/suggestion.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

std::vector<std::string> NamesWhere(bool kernels) {
  std::vector<std::string> names;
  for (const Declaration* declaration : Registry::Global().All()) {
    if ((declaration->role == Role::kKernel) == kernels) names.push_back(declaration->name);
  }
  return names;
}

std::string Unknown(std::string_view op, bool kernel) {
  std::string missing = MissingPlugin(op);
  if (!missing.empty()) return missing;
  return Cat("there is no such ", kernel ? "kernel" : "operator", DidYouMean(op, NamesWhere(kernel)));
}

std::vector<std::string> AttributeNames(const Declaration& declaration) {
  std::vector<std::string> names;
  for (const Attribute& attribute : declaration.attributes) names.push_back(attribute.name);
  return names;
}

// "1", "at least 1", "1 to 3".
std::string CountText(int least, int most) {
  if (most < 0) return Cat("at least ", least);
  return least == most ? std::to_string(least) : Cat(least, " to ", most);
}

bool CountFits(int count, const Declaration& declaration) {
  return count >= declaration.min_inputs && (declaration.max_inputs < 0 || count <= declaration.max_inputs);
}

// The whole number that a value stands for alone, if it does.
std::optional<int64_t> LoneNumber(const proto::Value& value) {
  if (value.has_integer()) return value.integer();
  const auto& integers = value.integers().values();
  const bool equal = !integers.empty() && std::count(integers.begin(), integers.end(), integers[0]) == integers.size();
  if (equal) return integers[0];
  constexpr double kExact = 0x1p53;
  const double real = value.reals().values_size() == 1 ? value.reals().values(0) : 0.5;
  const bool whole = std::abs(real) < kExact && std::floor(real) == real;
  return whole ? std::make_optional(static_cast<int64_t>(real)) : std::nullopt;
}

// For a number that does not fit its attribute, after one that may be a pair: "Resize(224, 256)" may mean one size.
template <typename Operator>
std::string PairMeant(const Declaration& declaration, const Operator& op, const Attribute& wrong,
                      const proto::Value& value) {
  const auto at = static_cast<size_t>(&wrong - declaration.attributes.data());
  const std::optional<int64_t> second = LoneNumber(value);
  if (at == 0 || !second.has_value()) return "";
  const Attribute& before = declaration.attributes[at - 1];
  const bool pair = std::count(before.lengths.begin(), before.lengths.end(), 2) > 0;
  if (!pair || before.type != AttributeType::kInts) return "";
  for (const proto::Attribute& attribute : op.attributes()) {
    const std::optional<int64_t> first = attribute.name() == before.name ? LoneNumber(attribute.value()) : std::nullopt;
    if (!first.has_value()) continue;
    const std::string& name = declaration.python_name.empty() ? declaration.name : declaration.python_name;
    return Cat(" (for a ", before.name, " of two numbers write ", name, "((", *first, ", ", *second, ")))");
  }
  return "";
}

// The number of operators once the graph is a tree, capped just above the limit.
int64_t TreeSize(const proto::Graph& graph) {
  std::vector<int64_t> sizes(graph.nodes_size(), 1);
  for (int i = 0; i < graph.nodes_size(); ++i) {
    for (const uint32_t input : graph.nodes(i).inputs()) {
      if (input < static_cast<uint32_t>(i)) sizes[i] = std::min(sizes[i] + sizes[input], kMostOperators + 1);
    }
  }
  return sizes.back();
}

bool MarksPadding(const proto::Node& node) {
  const auto& attributes = node.attributes();
  return std::any_of(attributes.begin(), attributes.end(), [](const proto::Attribute& attribute) {
    return attribute.name() == "mark_padding" && attribute.value().boolean();
  });
}

constexpr size_t kMostMistakes = 1000;

class Validator {
 public:
  explicit Validator(const proto::Graph& graph) : graph_(graph) {}

  std::vector<Mistake> Run() && {
    // What follows takes time that grows with the number of operators and their depth.
    if (!CheckGraph()) return std::move(mistakes_);
    for (node_ = 0; node_ < graph_.nodes_size() && !full(); ++node_) CheckNode(graph_.nodes(node_));
    // Nobody reads so many, and what was not checked cannot be read.
    if (full()) return std::move(mistakes_);
    const Inference inference = Infer(graph_, mistakes_);
    std::vector<Mistake> misplaced = FindMisplacedKernels(graph_, inference, mistakes_);
    // That a kernel is misplaced explains why its types do not fit.
    std::set<std::pair<int, int>> places;
    for (const Mistake& mistake : misplaced) places.emplace(mistake.node, mistake.step);
    const auto explained = [&places](const Mistake& mistake) { return places.count({mistake.node, mistake.step}) > 0; };
    std::copy_if(inference.mistakes.begin(), inference.mistakes.end(), std::back_inserter(mistakes_),
                 [&explained](const Mistake& mistake) { return !explained(mistake); });
    Append(std::move(misplaced));
    AddReservedNames(inference);
    Append(FindChoicesWithoutNumbers(graph_));
    std::stable_sort(mistakes_.begin(), mistakes_.end(), [](const Mistake& a, const Mistake& b) {
      return std::pair(a.node, a.step) < std::pair(b.node, b.step);
    });
    return std::move(mistakes_);
  }

 private:
  void Append(std::vector<Mistake> mistakes) {
    std::move(mistakes.begin(), mistakes.end(), std::back_inserter(mistakes_));
  }

  // Whether the graph has a size that can be checked.
  bool CheckGraph() {
    node_ = -1;
    if (graph_.format() != kFormat)
      AddMistake("", "", Cat("the graph has format ", graph_.format(), ", not ", kFormat));
    if (graph_.nodes().empty()) {
      AddMistake("", "", "the graph has no operators");
      return false;
    }
    const bool large = graph_.nodes_size() > kMostOperators || TreeSize(graph_) > kMostOperators;
    if (large) AddMistake("", "", Cat("it runs as a tree of more than ", kMostOperators, " operators"));
    const int depth = DepthOf(graph_);
    const bool deep = depth > kDeepestGraph;
    if (deep) AddMistake("", "", Cat("it is ", depth, " operators deep; at most ", kDeepestGraph, " are allowed"));
    if (!large && !deep) CheckReachable();
    return !large && !deep;
  }

  // A user column of that name would be taken for the marks that even="pad" adds.
  void AddReservedNames(const Inference& inference) {
    const auto& nodes = graph_.nodes();
    if (std::any_of(nodes.begin(), nodes.end(), [](const proto::Node& node) { return MarksPadding(node); })) return;
    const auto has = [&](uint32_t node) {
      return node < inference.schemas.size() && inference.schemas[node].has_value() &&
             inference.schemas[node]->IndexOf(kPaddingColumn) >= 0;
    };
    for (node_ = 0; node_ < graph_.nodes_size(); ++node_) {
      const auto& inputs = graph_.nodes(node_).inputs();
      if (!has(static_cast<uint32_t>(node_)) || std::any_of(inputs.begin(), inputs.end(), has)) continue;
      AddNodeMistake(Cat("gives a column \"", kPaddingColumn,
                         "\", a name that is kept for the marks of even=\"pad\"; give it another name"));
    }
    node_ = -1;
  }

  void CheckReachable() {
    std::vector<bool> reached(graph_.nodes_size());
    for (const int position : PostOrder(graph_)) reached[position] = true;
    for (node_ = 0; node_ < graph_.nodes_size(); ++node_) {
      if (!reached[node_]) AddNodeMistake("its rows go nowhere: the result does not use it");
    }
    node_ = -1;
  }

  void CheckNode(const proto::Node& node) {
    step_ = -1;
    CheckInputPositions(node);
    if (node.op() != kMapOp && !node.steps().empty()) AddNodeMistake("has steps; only map may");
    const Declaration* declaration = Registry::Global().Find(node.op());
    if (declaration == nullptr || declaration->role == Role::kKernel) {
      AddNodeMistake(Unknown(node.op(), /*kernel=*/false));
    } else {
      CheckOperator(*declaration, node);
    }
    for (step_ = 0; step_ < node.steps_size() && !full(); ++step_) CheckStep(node.steps(step_));
    step_ = -1;
  }

  void CheckInputPositions(const proto::Node& node) {
    for (const uint32_t input : node.inputs()) {
      if (input < static_cast<uint32_t>(node_)) continue;
      AddNodeMistake(Cat("is node ", node_, " and has node ", input, " as input; inputs must come first"));
    }
  }

  void CheckStep(const proto::Step& step) {
    path_.push_back(&step);
    const size_t before = mistakes_.size();
    CheckOwn(step);
    const Declaration* const chooser = ChooserOf(step);
    if (chooser == nullptr) {
      if (!step.branches().empty()) Add("has branches, which only a kernel that chooses among others may have");
    } else {
      // Attributes that are wrong cannot be read.
      if (mistakes_.size() == before) CheckBranching(*chooser, step);
      for (const proto::Branch& branch : step.branches()) CheckBranch(step, branch);
    }
    path_.pop_back();
  }

  // The step without its branches.
  void CheckOwn(const proto::Step& step) {
    std::set<std::string_view> seen;
    for (const std::string& name : step.outputs()) {
      if (name.empty()) Add("an output column has no name");
      if (!seen.insert(name).second) return Add(Cat("gives two columns the name \"", name, "\""));
    }
    const Declaration* declaration = Registry::Global().Find(step.kernel());
    if (declaration == nullptr || declaration->role != Role::kKernel) {
      return Add(Unknown(step.kernel(), /*kernel=*/true));
    }
    CheckOperator(*declaration, step);
  }

  void CheckBranching(const Declaration& chooser, const proto::Step& step) {
    const absl::Status status = BranchingOfStep(chooser, step).status();
    if (!status.ok()) Add(std::string(status.message()));
  }

  void CheckBranch(const proto::Step& chooser, const proto::Branch& branch) {
    if (branch.steps().empty()) Add("one of its lists of kernels is empty");
    const std::set<std::string_view> columns(chooser.outputs().begin(), chooser.outputs().end());
    for (const proto::Step& step : branch.steps()) {
      if (full()) return;
      CheckStep(step);
      path_.push_back(&step);
      CheckInBranch(chooser, columns, step);
      path_.pop_back();
    }
  }

  void CheckInBranch(const proto::Step& chooser, const std::set<std::string_view>& columns, const proto::Step& step) {
    for (const auto* names : {&step.inputs(), &step.outputs()}) {
      for (const std::string& name : *names) {
        if (columns.count(name) > 0) continue;
        Add(Cat("uses column \"", name, "\", which is not a column of ", chooser.kernel()));
      }
    }
    if (!TraitsOf(step).python) return;
    Add(Cat("calls Python, and ", chooser.kernel(),
            " is part of the graph, which holds kernels alone; call the function in the map, before or after it"));
  }

  template <typename Operator>
  void CheckOperator(const Declaration& declaration, const Operator& op) {
    if (op.version() != static_cast<uint32_t>(declaration.version)) {
      Add(Cat("has version ", op.version(), ", not ", declaration.version));
    }
    if (!CountFits(op.inputs_size(), declaration)) {
      const std::string_view what = declaration.role == Role::kKernel ? " input columns" : " inputs";
      Add(Cat("has ", op.inputs_size(), what, "; it takes ",
              CountText(declaration.min_inputs, declaration.max_inputs)));
    }
    std::set<std::string> given;
    for (const proto::Attribute& attribute : op.attributes()) {
      if (!given.insert(attribute.name()).second) Add(Cat(attribute.name(), " is given twice"));
      CheckAttribute(declaration, op, attribute);
    }
    for (const Attribute& attribute : declaration.attributes) {
      if (given.count(attribute.name) == 0) Add(Cat(attribute.name, " is missing"));
    }
  }

  template <typename Operator>
  void CheckAttribute(const Declaration& declaration, const Operator& op, const proto::Attribute& attribute) {
    const Attribute* declared = declaration.FindAttribute(attribute.name());
    if (declared == nullptr) {
      const std::vector<std::string> names = AttributeNames(declaration);
      const std::string list = names.empty() ? " (it has none)" : Cat(" (it has ", absl::StrJoin(names, ", "), ")");
      return Add(Cat("no attribute \"", attribute.name(), "\"", DidYouMean(attribute.name(), names), list));
    }
    if (!path_.empty() && IsParameter(*declared, attribute.value())) {
      const std::string why = WhyNoParameter(declaration, *declared);
      if (!why.empty()) Add(Cat(declared->name, " ", why));
      return;
    }
    for (const std::string& wrong : CheckValue(*declared, attribute.value())) {
      Add(Cat(declared->name, " ", wrong, PairMeant(declaration, op, *declared, attribute.value())));
    }
  }

  // What more is wrong is left out: each unknown name is compared with all that are known.
  bool full() const { return mistakes_.size() >= kMostMistakes; }

  // For the current node or step.
  void Add(std::string message) {
    if (full()) return;
    if (path_.empty()) return AddNodeMistake(std::move(message));
    const proto::Node& node = graph_.nodes(node_);
    const proto::Step* const chooser = path_.size() > 1 ? path_[path_.size() - 2] : nullptr;
    AddMistake(LocationText(LocationOf(node)), OperatorName(node, *path_.back(), chooser), std::move(message));
  }

  // Of the innermost step that has one.
  const proto::Location& LocationOf(const proto::Node& node) const {
    const auto has = [](const proto::Step* step) { return !step->location().file().empty(); };
    const auto innermost = std::find_if(path_.rbegin(), path_.rend(), has);
    return innermost == path_.rend() ? node.location() : (*innermost)->location();
  }

  void AddNodeMistake(std::string message) {
    if (full()) return;
    const proto::Node& node = graph_.nodes(node_);
    AddMistake(LocationText(node.location()), OperatorName(node), std::move(message));
  }

  void AddMistake(std::string location, std::string op, std::string message) {
    mistakes_.push_back({std::move(location), std::move(op), std::move(message), ErrorKind::kGraph, node_, step_});
  }

  const proto::Graph& graph_;
  int node_ = -1;
  int step_ = -1;
  std::vector<const proto::Step*> path_;  // the step that is checked, after the choosers that enclose it
  std::vector<Mistake> mistakes_;
};

}  // namespace

std::vector<Mistake> FindMistakes(const proto::Graph& graph) { return Validator(graph).Run(); }

absl::Status Validate(const proto::Graph& graph) { return CombineMistakes(FindMistakes(graph)); }

}  // namespace headrace::ir

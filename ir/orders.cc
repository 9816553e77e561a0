#include "ir/orders.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/post_order.h"
#include "ir/validate.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<proto::Node>;

const Declaration* DeclarationOf(const proto::Node& node) { return Registry::Global().Find(node.op()); }

bool InputsComeFirst(const Nodes& nodes) {
  for (int id = 0; id < nodes.size(); ++id) {
    for (const uint32_t input : nodes[id].inputs()) {
      if (input >= static_cast<uint32_t>(id)) return false;
    }
  }
  return true;
}

proto::Value* ValueOf(proto::Node& node, std::string_view name) {
  for (proto::Attribute& attribute : *node.mutable_attributes()) {
    if (attribute.name() == name) return attribute.mutable_value();
  }
  return nullptr;
}

// The attribute that asks for an operator above, if the operator can be made of the node.
const Attribute* AsksForOrder(const Declaration* declaration, proto::Node& node) {
  if (declaration == nullptr || !TraitsOf(node).indexed) return nullptr;
  const Attribute* asks = nullptr;
  for (const Attribute& attribute : declaration->attributes) {
    const proto::Value* const value = ValueOf(node, attribute.name);
    const bool moves = attribute.name == "seed" || attribute.name == "name";
    if (value == nullptr || (moves && !CheckValue(attribute, *value).empty())) return nullptr;
    if (!attribute.puts_above.empty() && value->boolean()) asks = &attribute;
  }
  return asks;
}

// Takes seed, name and salt from the node.
proto::Node MakeOrder(Attribute asked, proto::Node& node, uint32_t input) {
  const Declaration& declaration = *Registry::Global().Find(asked.puts_above);
  proto::Node order;
  order.set_op(declaration.name);
  order.set_version(static_cast<uint32_t>(declaration.version));
  order.add_inputs(input);
  for (const std::string_view moved : {"name", "seed"}) {
    proto::Attribute* const attribute = order.add_attributes();
    attribute->set_name(std::string(moved));
    attribute->mutable_value()->Swap(ValueOf(node, moved));
    *ValueOf(node, moved) = NoneValue();
  }
  *order.mutable_location() = node.location();
  order.set_salt(node.salt());
  node.clear_salt();
  ValueOf(node, asked.name)->set_boolean(false);
  return order;
}

// What is known of each node about the numbers of its rows.
class Numbering {
 public:
  void Add(const Nodes& nodes, int id) {
    const proto::Node& node = nodes[id];
    const Traits traits = TraitsOf(node);
    bool over_indices = traits.indexed;
    bool draws = node.salt() != 0;
    std::optional<uint32_t> python;
    if (traits.python) python = static_cast<uint32_t>(id);
    for (const uint32_t input : node.inputs()) {
      over_indices = over_indices && over_indices_[input];
      draws = draws || draws_[input];
      if (!python.has_value()) python = python_[input];
    }
    python_.push_back(python);
    over_indices_.push_back(over_indices);
    draws_.push_back(draws);
  }
  // It only acts on indices, as do all nodes below it.
  bool over_indices(uint32_t id) const { return over_indices_[id]; }
  // It, or a node below it, draws.
  bool draws(uint32_t id) const { return draws_[id]; }
  // It, or a node below it, that calls the user's Python.
  std::optional<uint32_t> python(uint32_t id) const { return python_[id]; }

 private:
  std::vector<bool> over_indices_;
  std::vector<bool> draws_;
  std::vector<std::optional<uint32_t>> python_;
};

bool IsMap(const proto::Node& node) {
  const Declaration* const declaration = DeclarationOf(node);
  return declaration != nullptr && node.inputs_size() == 1 && declaration->role == Role::kRow &&
         declaration->traits.one_to_one;
}

bool NamesRows(const proto::Node& node) { return TraitsOf(node).by_number && !node.inputs().empty(); }

// It gives rows of indices again, in the order that they come in.
bool Repeats(const proto::Node& node) {
  const Traits traits = TraitsOf(node);
  return traits.indexed && traits.repeats && node.inputs_size() == 1;
}

// The nodes that a choice passes: maps, and orders, which it does not mean unless it repeats. The topmost first; sets
// `id`, its input, to the node below them.
std::vector<uint32_t> Passed(const Nodes& nodes, const proto::Node& choice, uint32_t& id) {
  const bool orders = !Repeats(choice);
  const auto lets_pass = [orders](const proto::Node& node) {
    return IsMap(node) || (orders && TraitsOf(node).reorders && node.inputs_size() == 1);
  };
  std::vector<uint32_t> passed;
  for (; lets_pass(nodes[static_cast<int>(id)]); id = nodes[static_cast<int>(id)].inputs(0)) passed.push_back(id);
  return passed;
}

// The node below the orders at `id`.
uint32_t BelowOrders(const Nodes& nodes, uint32_t id) {
  const auto reorders = [](const proto::Node& node) { return TraitsOf(node).reorders && node.inputs_size() == 1; };
  while (reorders(nodes[static_cast<int>(id)])) id = nodes[static_cast<int>(id)].inputs(0);
  return id;
}

// Of nodes that choices pass, which are copied for each: far more than those of graphs that people write.
constexpr size_t kMostCopiedBytes = size_t{256} << 20;

class ChoicePlacer {
 public:
  explicit ChoicePlacer(proto::Graph& graph) : graph_(graph) {}

  void Run() {
    for (const proto::Node& node : graph_.nodes()) {
      proto::Node moved = node;
      for (uint32_t& input : *moved.mutable_inputs()) input = new_ids_[input];
      if (NamesRows(node) || Repeats(node)) {
        new_ids_.push_back(Place(std::move(moved)));
      } else {
        new_ids_.push_back(Add(std::move(moved)));
      }
    }
    TakeOver();
  }

 private:
  uint32_t Add(proto::Node node) {
    sizes_.push_back(node.ByteSizeLong());
    *nodes_.Add() = std::move(node);
    numbering_.Add(nodes_, nodes_.size() - 1);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  uint32_t AddOver(uint32_t input, proto::Node node) {
    node.set_inputs(0, input);
    return Add(std::move(node));
  }

  uint32_t Place(proto::Node choice) {
    uint32_t base = choice.inputs(0);
    const std::vector<uint32_t> passed = Passed(nodes_, choice, base);
    size_t bytes = 0;
    for (const uint32_t id : passed) bytes += sizes_[id];
    const bool too_many = static_cast<int64_t>(nodes_.size()) + static_cast<int64_t>(passed.size()) > kMostOperators ||
                          bytes > kMostCopiedBytes - copied_bytes_;
    // A choice that draws is itself an order: others would not change what may come, or take its rows apart. Where the
    // rows below come in another order in each epoch, its numbers are their places in that order.
    const bool draws = choice.salt() != 0;
    if (too_many || !numbering_.over_indices(base)) return Add(std::move(choice));
    if (numbering_.draws(base) && !draws && !Repeats(choice)) return Add(std::move(choice));
    // Further inputs have values of the rows, by their numbers.
    for (int i = 1; i < choice.inputs_size(); ++i) choice.set_inputs(i, BelowOrders(nodes_, choice.inputs(i)));
    copied_bytes_ += bytes;
    uint32_t top = AddOver(base, std::move(choice));
    for (auto each = passed.rbegin(); each != passed.rend(); ++each) {
      const proto::Node& node = nodes_[static_cast<int>(*each)];
      if (!draws || !TraitsOf(node).reorders) top = AddOver(top, node);
    }
    return top;
  }

  // Leaves out nodes of which only copies are used.
  void TakeOver() {
    graph_.mutable_nodes()->Swap(&nodes_);
    std::vector<int> needed = PostOrder(graph_);
    std::sort(needed.begin(), needed.end());
    Nodes kept;
    std::vector<uint32_t> position(static_cast<size_t>(graph_.nodes_size()));
    for (const int id : needed) {
      position[static_cast<size_t>(id)] = static_cast<uint32_t>(kept.size());
      proto::Node& node = *kept.Add();
      node.Swap(graph_.mutable_nodes(id));
      for (uint32_t& input : *node.mutable_inputs()) input = position[input];
    }
    graph_.mutable_nodes()->Swap(&kept);
  }

  proto::Graph& graph_;
  Nodes nodes_;
  std::vector<size_t> sizes_;  // in bytes
  size_t copied_bytes_ = 0;
  Numbering numbering_;
  std::vector<uint32_t> new_ids_;
};

// Graphs that Validate refuses for their form stay as they are.
bool MayPlaceChoices(const proto::Graph& graph) {
  const auto placed = [](const proto::Node& node) { return TraitsOf(node).by_number || Repeats(node); };
  // Choices walk down the graph, and copy what they pass.
  if (graph.nodes_size() > kMostOperators || DepthOf(graph) > kDeepestGraph) return false;
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), placed) && InputsComeFirst(graph.nodes()) &&
         static_cast<int>(PostOrder(graph).size()) == graph.nodes_size();
}

std::string At(const proto::Node& node) {
  const std::string location = LocationText(node.location());
  return location.empty() ? node.op() : Cat(node.op(), " (", location, ")");
}

// Why the rows below the choice have no numbers to name them by; "": they have.
std::string WhyNoNumbers(const Nodes& nodes, const proto::Node& choice, const Numbering& numbering) {
  uint32_t id = choice.inputs(0);
  const bool placed = Passed(nodes, choice, id).empty();
  const proto::Node& culprit = nodes[static_cast<int>(id)];
  if (!numbering.over_indices(id)) {
    return Cat(
        "names rows by their numbers in a source with random access, and only map, project and rename may stand "
        "between the two; ",
        culprit.inputs().empty()
            ? Cat(At(culprit), " gives its rows one after the other", HowToIndex("; give it ", culprit))
            : Cat("put it below ", At(culprit), ", next to the source"));
  }
  if (numbering.draws(id) && choice.salt() == 0) {
    return Cat("names rows by their numbers before any shuffle, but ", At(culprit), " gives other rows in each epoch, ",
               culprit.salt() != 0 ? "which it draws" : "as a source below it is shuffled",
               ": parts would overlap; put it below ", culprit.op(), ", next to the source");
  }
  if (placed) return "";
  return Cat("has more operators below it than the ", kMostOperators, " that a graph may have, or longer ones");
}

// Why the values that the node takes for each row cannot be read by number; "": they can.
std::string WhyNoValues(const Nodes& nodes, const proto::Node& node, const Numbering& numbering) {
  for (int i = 1; i < node.inputs_size(); ++i) {
    const uint32_t id = node.inputs(i);
    const proto::Node& values = nodes[static_cast<int>(id)];
    constexpr std::string_view kAdvice = "; give them as a list or an array";
    if (!numbering.over_indices(id)) {
      return Cat("takes a value for each row from ", At(values), ", which does not give rows by their numbers",
                 kAdvice);
    }
    if (numbering.draws(id)) {
      return Cat("takes a value for each row from ", At(values), ", which gives other rows in each epoch", kAdvice);
    }
    if (const std::optional<uint32_t> python = numbering.python(id); python.has_value()) {
      return Cat("takes a value for each row from ", At(nodes[static_cast<int>(*python)]),
                 ", which would be called for every row before the first one comes", kAdvice);
    }
  }
  return "";
}

}  // namespace

void PutOrdersAbove(proto::Graph& graph) {
  if (!InputsComeFirst(graph.nodes())) return;
  Nodes nodes;
  std::vector<uint32_t> new_ids;
  for (proto::Node& node : *graph.mutable_nodes()) {
    for (uint32_t& input : *node.mutable_inputs()) input = new_ids[input];
    const Attribute* const asked = AsksForOrder(DeclarationOf(node), node);
    proto::Node& added = *nodes.Add();
    added.Swap(&node);
    if (asked != nullptr) {
      proto::Node order = MakeOrder(*asked, added, static_cast<uint32_t>(nodes.size() - 1));
      *nodes.Add() = std::move(order);
    }
    new_ids.push_back(static_cast<uint32_t>(nodes.size() - 1));
  }
  graph.mutable_nodes()->Swap(&nodes);
}

void PutChoicesBelow(proto::Graph& graph) {
  if (MayPlaceChoices(graph)) ChoicePlacer(graph).Run();
}

bool TakesValues(const proto::Node& node) {
  const Declaration* const declaration = DeclarationOf(node);
  return declaration != nullptr && declaration->traits.indexed && declaration->max_inputs == 2;
}

std::vector<Mistake> FindChoicesWithoutNumbers(const proto::Graph& graph) {
  std::vector<Mistake> mistakes;
  if (!InputsComeFirst(graph.nodes())) return mistakes;
  Numbering numbering;
  for (int id = 0; id < graph.nodes_size(); ++id) {
    numbering.Add(graph.nodes(), id);
    const proto::Node& node = graph.nodes(id);
    std::string why;
    if (NamesRows(node)) {
      why = WhyNoNumbers(graph.nodes(), node, numbering);
    }
    if (why.empty() && TakesValues(node)) why = WhyNoValues(graph.nodes(), node, numbering);
    if (why.empty()) continue;
    mistakes.push_back({LocationText(node.location()), OperatorName(node), std::move(why), ErrorKind::kGraph, id, -1});
  }
  return mistakes;
}

}  // namespace headrace::ir

#include "ir/salts.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/text.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/mistake.h"
#include "ir/node_traits.h"
#include "ir/post_order.h"

namespace headrace::ir {
namespace {

const std::string& OpOf(const proto::Node& node) { return node.op(); }
const std::string& OpOf(const proto::Step& step) { return step.kernel(); }

template <typename Operator>
const proto::Value* FindValue(const Operator& op, std::string_view name) {
  for (const proto::Attribute& attribute : op.attributes()) {
    if (attribute.name() == name) return &attribute.value();
  }
  return nullptr;
}

template <typename Operator>
bool DrawsRandom(const Operator& op) {
  if (Registry::Global().Find(OpOf(op)) == nullptr) return false;
  const proto::Value* const by_attribute = FindValue(op, "random");
  return TraitsOf(op).random || (by_attribute != nullptr && by_attribute->boolean());
}

// "": it has none.
template <typename Operator>
std::string NameOf(const Operator& op) {
  const Declaration* declaration = Registry::Global().Find(OpOf(op));
  if (declaration == nullptr || declaration->FindAttribute(kNameAttribute) == nullptr) return "";
  const proto::Value* const name = FindValue(op, kNameAttribute);
  return name == nullptr ? "" : name->text();
}

// The salt that the steps of each group have.
using SaltsOfGroups = std::map<uint32_t, uint64_t>;

// The numbers that the uses of functions have, by the functions' names.
class Occurrences {
 public:
  void Take(const proto::Step& step) {
    const proto::Value* const number = FindValue(step, kOccurrenceAttribute);
    if (number != nullptr && IsNumber(*number)) taken_[FunctionNameOf(step)].insert(number->integer());
  }

  void GiveTo(proto::Step& step) {
    for (proto::Attribute& attribute : *step.mutable_attributes()) {
      if (attribute.name() != kOccurrenceAttribute || IsNumber(attribute.value())) continue;
      const std::string name = FunctionNameOf(step);
      std::set<int64_t>& taken = taken_[name];
      int64_t& next = next_[name];
      while (!taken.insert(next).second) ++next;
      attribute.mutable_value()->set_integer(next++);
    }
  }

 private:
  static bool IsNumber(const proto::Value& value) { return value.kind_case() == proto::Value::kInteger; }

  std::map<std::string, std::set<int64_t>> taken_;
  std::map<std::string, int64_t> next_;  // none below it is free
};

uint64_t NotZero(uint64_t hash) { return hash == 0 ? 1 : hash; }

class SaltGiver {
 public:
  explicit SaltGiver(proto::Graph& graph) : graph_(graph) {
    for (const proto::Node& node : graph.nodes()) {
      taken_.insert(node.salt());
      VisitSteps(node.steps(), [&](const proto::Step& step) {
        taken_.insert(step.salt());
        functions_.Take(step);
      });
    }
  }

  absl::Status Give() {
    for (const int position : PostOrder(graph_)) {
      node_ = position;
      GiveTo(*graph_.mutable_nodes(position));
    }
    return CombineMistakes(mistakes_);
  }

 private:
  void GiveTo(proto::Node& node) {
    if (node.salt() == 0 && DrawsRandom(node)) node.set_salt(NewSalt(node));
    SaltsOfGroups salt_of_group;
    VisitSteps(node.steps(), [&](const proto::Step& step) {
      if (step.salt() != 0 && step.group() != 0) salt_of_group.emplace(step.group(), step.salt());
    });
    for (step_ = 0; step_ < node.steps_size(); ++step_) GiveToStep(*node.mutable_steps(step_), salt_of_group);
    step_ = -1;
  }

  void GiveToStep(proto::Step& step, SaltsOfGroups& salt_of_group) {
    path_.push_back(&step);
    if (step.salt() == 0 && DrawsRandom(step)) step.set_salt(SaltOfStep(step, salt_of_group));
    functions_.GiveTo(step);
    for (proto::Branch& branch : *step.mutable_branches()) {
      for (proto::Step& nested : *branch.mutable_steps()) GiveToStep(nested, salt_of_group);
    }
    path_.pop_back();
  }

  // Of the choosers around the current operator.
  std::string PathHere() const {
    std::string path;
    for (size_t i = 0; i + 1 < path_.size(); ++i) {
      const std::string name = NameOf(*path_[i]);
      Append(path, path.empty() ? "" : "/", path_[i]->kernel(), name.empty() ? "" : "=", name);
    }
    return path;
  }

  uint64_t SaltOfStep(const proto::Step& step, SaltsOfGroups& salt_of_group) {
    if (step.group() == 0) return NewSalt(step);
    const auto [salt, first] = salt_of_group.try_emplace(step.group(), 0);
    if (first) salt->second = NewSalt(step);
    return salt->second;
  }

  template <typename Operator>
  uint64_t NewSalt(const Operator& op) {
    const std::string name = NameOf(op);
    if (!name.empty()) return NewPinnedSalt(name);
    const std::string path = PathHere();
    uint64_t& occurrence = occurrences_[{path, OpOf(op)}];
    while (true) {
      const uint64_t salt = SaltOf(OpOf(op), path, occurrence++);
      if (taken_.insert(salt).second) return salt;
    }
  }

  uint64_t NewPinnedSalt(const std::string& name) {
    const uint64_t salt = PinnedSalt(name);
    if (taken_.insert(salt).second) {
      named_.emplace(name, Cat(OpHere(), " (", LocationHere(), ")"));
      return salt;
    }
    const auto other = named_.find(name);
    const std::string_view of_other = other == named_.end() ? "an operator below" : std::string_view(other->second);
    mistakes_.push_back({LocationHere(), OpHere(),
                         Cat("has the name \"", name, "\", which ", of_other,
                             " has, too: both would draw the same; give it another name, or none"),
                         ErrorKind::kGraph, node_, step_});
    return salt;
  }

  // The operator that a salt is given to.
  std::string OpHere() const {
    const proto::Node& node = graph_.nodes(node_);
    if (path_.empty()) return OperatorName(node);
    return OperatorName(node, *path_.back(), path_.size() > 1 ? path_[path_.size() - 2] : nullptr);
  }
  std::string LocationHere() const {
    const proto::Node& node = graph_.nodes(node_);
    const bool own_line = !path_.empty() && !path_.back()->location().file().empty();
    return LocationText(own_line ? path_.back()->location() : node.location());
  }

  proto::Graph& graph_;
  std::set<uint64_t> taken_;
  std::map<std::pair<std::string, std::string>, uint64_t> occurrences_;  // so far, by path and operator
  std::map<std::string, std::string> named_;                             // the operator that has a name
  Occurrences functions_;
  int node_ = -1;
  int step_ = -1;
  std::vector<const proto::Step*> path_;  // the current step, after the choosers that enclose it; empty: a node
  std::vector<Mistake> mistakes_;
};

}  // namespace

uint64_t SaltOf(std::string_view op, std::string_view path, uint64_t occurrence) {
  return NotZero(HashBytes(path, HashBytes(op, occurrence)));
}

uint64_t PinnedSalt(std::string_view name) { return NotZero(HashBytes(name, HashBytes("name"))); }

std::string FunctionNameOf(const proto::Step& step) {
  const proto::Value* const function = FindValue(step, "function");
  if (function == nullptr || !function->has_reference()) return "";
  const std::string& name = function->reference().name();
  return name.substr(0, name.rfind('#'));
}

absl::Status GiveSalts(proto::Graph& graph) { return SaltGiver(graph).Give(); }

}  // namespace headrace::ir

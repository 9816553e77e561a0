#include "python/binding/module/graph_binding.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "core/path_text.h"
#include "core/version.h"
#include "engine/plan/graph_writes.h"
#include "engine/plan/plan_node.h"
#include "ir/branches.h"
#include "ir/canonical.h"
#include "ir/classes/column_classes.h"
#include "ir/declaration.h"
#include "ir/dump.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ir/graph_hash.h"
#include "ir/infer.h"
#include "ir/kernel_placement.h"
#include "ir/list_columns.h"
#include "ir/node_traits.h"
#include "ir/parameters.h"
#include "ir/validate.h"
#include "ir/value.h"
#include "python/binding/values/forkable_work.h"
#include "python/binding/values/python_text.h"
#include "python/binding/values/status_error.h"
#include "python/binding/values/unlocked.h"
#include "python/binding/values/value_conversion.h"

namespace headrace::python {
namespace {

namespace py = pybind11;

// An operator of a graph under construction; only Python knows its inputs.
struct __attribute__((visibility("hidden"))) BoundNode {
  ir::proto::Node node;
  StageLimits limits = {};
};

using ScriptLine = std::tuple<std::string, int>;
// kernel, attributes, inputs, outputs, group, line, branches: lists of such steps
using GivenStep = std::tuple<std::string, py::dict, std::vector<std::string>, std::vector<std::string>, uint32_t,
                             ScriptLine, std::vector<py::list>>;

template <typename Operator>
void AddAttributes(const std::string& op_name, const py::dict& attributes, Operator& op) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(op_name);
  for (const auto& [name, value] : attributes) {
    ir::proto::Attribute* attribute = op.add_attributes();
    attribute->set_name(py::str(name));
    const ir::Attribute* const declared =
        declaration == nullptr ? nullptr : declaration->FindAttribute(attribute->name());
    *attribute->mutable_value() = RaisingGraphErrors(Cat(op_name, ": ", attribute->name()),
                                                     [&value = value, declared] { return ValueOf(value, declared); });
  }
}

void SetLocation(const ScriptLine& line, ir::proto::Location* location) {
  location->set_file(std::get<0>(line));
  location->set_line(std::get<1>(line));
}

// `depth`: how many choosers enclose the steps.
void AddSteps(const py::list& given, int depth, ir::Steps& steps) {
  for (const py::handle each : given) {
    const auto [kernel, attributes, inputs, outputs, group, line, branches] = each.cast<GivenStep>();
    ir::proto::Step* step = steps.Add();
    step->set_kernel(kernel);
    AddAttributes(kernel, attributes, *step);
    step->mutable_inputs()->Add(inputs.begin(), inputs.end());
    step->mutable_outputs()->Add(outputs.begin(), outputs.end());
    step->set_group(group);
    SetLocation(line, step->mutable_location());
    if (!branches.empty() && depth == ir::kDeepestChoosers) Raise(ir::TooDeepChoosers(kernel));
    for (const py::list& branch : branches) AddSteps(branch, depth + 1, *step->add_branches()->mutable_steps());
  }
}

BoundNode MakeNode(const std::string& op, const py::dict& attributes, const py::list& steps, const ScriptLine& line,
                   int workers, int window, bool on_device) {
  BoundNode bound;
  bound.node.set_op(op);
  bound.limits = {.workers = workers, .window = window, .on_device = on_device};
  AddAttributes(op, attributes, bound.node);
  SetLocation(line, bound.node.mutable_location());
  AddSteps(steps, 0, *bound.node.mutable_steps());
  return bound;
}

// A node in the form of a graph of its own, and its limits: what is pickled.
py::tuple NodeState(const BoundNode& bound) {
  ir::proto::Graph graph;
  graph.set_format(ir::kFormat);
  *graph.add_nodes() = bound.node;
  graph.mutable_nodes(0)->clear_inputs();
  return py::make_tuple(py::bytes(ir::SerializeGraph(graph)), bound.limits.workers, bound.limits.window,
                        bound.limits.on_device);
}

BoundNode NodeOfState(const py::tuple& state) {
  const auto [bytes, workers, window, on_device] = state.cast<std::tuple<std::string, int, int, bool>>();
  ir::proto::Graph graph = ValueOrRaise(ir::ParseGraph(bytes));
  if (graph.nodes_size() != 1)
    Raise(GraphError("this is not a pickled operator: it has ", graph.nodes_size(), " nodes"));
  BoundNode bound;
  bound.node = std::move(*graph.mutable_nodes(0));
  bound.limits = {.workers = workers, .window = window, .on_device = on_device};
  return bound;
}

template <typename Operator, typename Visit>
void VisitOwnReferences(Operator& op, Visit visit) {
  for (ir::proto::Attribute& attribute : *op.mutable_attributes()) {
    if (attribute.value().has_reference()) visit(*attribute.mutable_value()->mutable_reference());
  }
}

template <typename Visit>
void VisitReferences(ir::proto::Node& node, Visit visit) {
  VisitOwnReferences(node, visit);
  ir::VisitSteps(node.mutable_steps(), [&](ir::proto::Step& step) { VisitOwnReferences(step, visit); });
}

// "train.py:augment#3" -> "train.py:augment".
std::string WithoutNumber(const std::string& name) {
  const size_t hash = name.rfind('#');
  if (hash == std::string::npos || hash + 1 == name.size()) return name;
  for (size_t i = hash + 1; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) return name;
  }
  return name.substr(0, hash);
}

// Numbers the objects of a name in the order of the graph, so that the same script gives the same names in every
// process. `objects`: what tells the objects of the references apart, in their order.
void NameReferences(BoundGraph& bound, const std::vector<std::string>& objects) {
  std::map<std::string, std::map<std::string, size_t>> numbers;
  for (ir::proto::Node& node : *bound.graph.mutable_nodes()) {
    VisitReferences(node, [&](ir::proto::Reference& reference) {
      const std::string base = WithoutNumber(reference.name());
      auto& of_base = numbers[base];
      const size_t number = of_base.emplace(objects.at(bound.references.size()), of_base.size()).first->second;
      reference.set_name(Cat(base, "#", number));
      bound.references.push_back(reference.name());
    });
  }
}

// Runs what may call plugins, whose code may take its time or wait for other threads of Python's. As RunForkable, but
// in every forked process: it takes no lock of a pipeline.
template <typename F>
auto WithoutGil(const F& work) {
  const Unlocked unlocked;
  const std::shared_lock<std::shared_mutex> working(ForkLock());
  return work();
}

// The limits by the names that operators have in the canonical graph, whose nodes are marked by `user_node` with their
// place among `nodes`, counted from 1; takes the marks away.
OperatorLimits TakeLimits(const std::vector<std::pair<BoundNode, std::vector<uint32_t>>>& nodes,
                          ir::proto::Graph& graph) {
  OperatorLimits limits;
  ir::proto::Graph named = graph;
  NumberOperators(named);
  for (int i = 0; i < graph.nodes_size(); ++i) {
    const uint32_t mark = graph.nodes(i).user_node();
    graph.mutable_nodes(i)->clear_user_node();
    if (mark == 0) continue;
    const StageLimits& given = nodes[mark - 1].first.limits;
    if (given.any() || given.on_device) limits[NodeName(named, i)] = given;
  }
  return limits;
}

BoundGraph MakeGraph(const std::vector<std::pair<BoundNode, std::vector<uint32_t>>>& nodes,
                     const std::vector<std::string>& objects, std::optional<uint64_t> seed, const std::string& producer,
                     std::optional<uint64_t> max_errors) {
  BoundGraph bound;
  bound.graph.set_format(ir::kFormat);
  bound.graph.set_producer(producer);
  if (seed.has_value()) bound.graph.set_seed(*seed);
  if (max_errors.has_value()) bound.graph.mutable_skip_failed()->set_max_errors(*max_errors);
  for (const auto& [node, inputs] : nodes) {
    ir::proto::Node* added = bound.graph.add_nodes();
    *added = node.node;
    added->set_user_node(static_cast<uint32_t>(bound.graph.nodes_size()));
    added->mutable_inputs()->Clear();
    added->mutable_inputs()->Add(inputs.begin(), inputs.end());
  }
  NameReferences(bound, objects);
  RaiseIfError(WithoutGil([&] { return ir::Canonicalize(bound.graph); }));
  bound.limits = TakeLimits(nodes, bound.graph);
  return bound;
}

BoundGraph OfParsed(absl::StatusOr<ir::proto::Graph> parsed) {
  BoundGraph bound;
  bound.graph = ValueOrRaise(std::move(parsed));
  // JSON and text that were written by hand may have none, and without one its bytes are cut off (ir::ParseSavedGraph).
  if (bound.graph.producer().empty()) bound.graph.set_producer(Cat("headrace ", kVersion));
  RaiseIfError(WithoutGil([&] { return ir::Canonicalize(bound.graph); }));
  for (ir::proto::Node& node : *bound.graph.mutable_nodes()) {
    VisitReferences(node, [&](ir::proto::Reference& reference) { bound.references.push_back(reference.name()); });
  }
  return bound;
}

// [(node, inputs)], in the form that MakeGraph takes.
py::list NodesOf(const BoundGraph& bound) {
  py::list nodes;
  for (const ir::proto::Node& node : bound.graph.nodes()) {
    const std::vector<uint32_t> inputs(node.inputs().begin(), node.inputs().end());
    nodes.append(py::make_tuple(BoundNode{node}, inputs));
  }
  return nodes;
}

std::vector<std::string> ReferencesOf(const BoundNode& bound) {
  std::vector<std::string> names;
  ir::proto::Node node = bound.node;
  VisitReferences(node, [&](ir::proto::Reference& reference) { names.push_back(reference.name()); });
  return names;
}

const char* ReferencedName(ir::Referenced referenced) {
  switch (referenced) {
    case ir::Referenced::kFunction:
      return "function";
    case ir::Referenced::kPredicate:
      return "predicate";
    case ir::Referenced::kGenerator:
      return "generator";
    case ir::Referenced::kDataset:
      return "dataset";
    case ir::Referenced::kArrays:
      return "arrays";
    case ir::Referenced::kArrow:
      return "arrow";
    case ir::Referenced::kSamplerSize:
      return "sampler size";
    case ir::Referenced::kSamplerIndices:
      return "sampler indices";
    case ir::Referenced::kBatchSize:
      return "batch size";
    case ir::Referenced::kBatchFunction:
      return "batch function";
  }
  return "";
}

// What the reference of that name stands for. Those of steps are functions of a row.
std::string ReferencedBy(const BoundNode& bound, const std::string& reference) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(bound.node.op());
  for (const ir::proto::Attribute& attribute : bound.node.attributes()) {
    if (!attribute.value().has_reference() || attribute.value().reference().name() != reference) continue;
    const ir::Attribute* const declared =
        declaration == nullptr ? nullptr : declaration->FindAttribute(attribute.name());
    if (declared != nullptr) return ReferencedName(declared->referenced);
  }
  bool parameter = false;
  ir::VisitSteps(bound.node.steps(), [&](const ir::proto::Step& step) {
    const ir::Declaration* const kernel = ir::Registry::Global().Find(step.kernel());
    for (const ir::proto::Attribute& attribute : step.attributes()) {
      if (!attribute.value().has_reference() || attribute.value().reference().name() != reference) continue;
      const ir::Attribute* const declared = kernel == nullptr ? nullptr : kernel->FindAttribute(attribute.name());
      parameter |= declared != nullptr && ir::IsParameter(*declared, attribute.value());
    }
  });
  return parameter ? "parameter" : ReferencedName(ir::Referenced::kFunction);
}

// One number of a list, as it is declared.
ir::Attribute NumberOf(const ir::Attribute& list) {
  ir::Attribute number = list;
  number.nullable = false;
  number.type = list.type == ir::AttributeType::kInts ? ir::AttributeType::kInt : ir::AttributeType::kFloat;
  return number;
}

// What is wrong with a value of a kernel's attribute: "degrees is 400; it must be at most 180"; empty: nothing.
// `number`: it is one of those in a list.
py::str WrongValue(const std::string& kernel, const std::string& attribute, const py::object& given, bool number) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(kernel);
  const ir::Attribute* const found = declaration == nullptr ? nullptr : declaration->FindAttribute(attribute);
  if (found == nullptr) return "";
  const std::string what = Cat(number ? "a number in " : "", attribute);
  const ir::Attribute declared = number ? NumberOf(*found) : *found;
  ir::proto::Value value;
  try {
    value = ValueOf(given);
  } catch (py::value_error& error) {
    return MessageLine(Cat(what, ": ", error.what()));
  }
  ir::FitValue(declared, value);
  const std::vector<std::string> wrong = ir::CheckValue(declared, value);
  return wrong.empty() ? py::str("") : MessageLine(Cat(what, " ", wrong[0]));
}

// Why a graph cannot hold a value; empty: it can.
py::str UnfitValue(const py::object& given) {
  try {
    ValueOf(given);
  } catch (py::value_error& error) {
    return MessageLine(error.what());
  }
  return py::str("");
}

py::object ShapeTuple(const std::optional<Shape>& shape) {
  if (!shape.has_value()) return py::none();
  py::tuple dimensions(shape->size());
  for (size_t i = 0; i < shape->size(); ++i) {
    const int64_t dimension = (*shape)[i];
    dimensions[i] = dimension == ir::kUnknownDim ? py::object(py::none()) : py::object(py::int_(dimension));
  }
  return dimensions;
}

// A value as Python has it; null: it stands for an object of the user, an expression or columns. `any_bytes`: texts,
// and keys of pairs, stand for names of files.
py::object PlainValue(const ir::proto::Value& value, bool any_bytes) {
  const auto name = [any_bytes](const std::string& text) { return NameText(any_bytes ? PathOfText(text) : text); };
  const auto tuple_of = [](const auto& values, const auto& made) {
    py::tuple listed(static_cast<size_t>(values.size()));
    for (int i = 0; i < values.size(); ++i) listed[static_cast<size_t>(i)] = made(values.Get(i));
    return listed;
  };
  switch (value.kind_case()) {
    case ir::proto::Value::kNone:
      return py::none();
    case ir::proto::Value::kBoolean:
      return py::bool_(value.boolean());
    case ir::proto::Value::kInteger:
      return py::int_(value.integer());
    case ir::proto::Value::kReal:
      return py::float_(value.real());
    case ir::proto::Value::kText:
      return name(value.text());
    case ir::proto::Value::kIntegers:
      return tuple_of(value.integers().values(), [](int64_t each) { return py::int_(each); });
    case ir::proto::Value::kReals:
      return tuple_of(value.reals().values(), [](double each) { return py::float_(each); });
    case ir::proto::Value::kTexts:
      return tuple_of(value.texts().values(), name);
    case ir::proto::Value::kPairs: {
      py::dict pairs;
      const ir::proto::Pairs& given = value.pairs();
      for (int i = 0; i < std::min(given.keys_size(), given.values_size()); ++i) {
        pairs[name(given.keys(i))] = NameText(given.values(i));
      }
      return pairs;
    }
    default:
      return {};
  }
}

py::dict PlainAttributes(const BoundNode& bound) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(bound.node.op());
  py::dict found;
  for (const ir::proto::Attribute& attribute : bound.node.attributes()) {
    const ir::Attribute* const declared =
        declaration == nullptr ? nullptr : declaration->FindAttribute(attribute.name());
    const bool any_bytes = declared != nullptr && (declared->path || declared->any_bytes);
    if (py::object value = PlainValue(attribute.value(), any_bytes)) {
      found[NameText(attribute.name())] = std::move(value);
    }
  }
  return found;
}

// [(kernel, inputs, outputs)], without those in branches.
py::list ColumnsOfSteps(const BoundNode& bound) {
  py::list steps;
  for (const ir::proto::Step& step : bound.node.steps()) {
    const std::vector<std::string> inputs(step.inputs().begin(), step.inputs().end());
    const std::vector<std::string> outputs(step.outputs().begin(), step.outputs().end());
    steps.append(py::make_tuple(NameText(step.kernel()), NameTexts(inputs), NameTexts(outputs)));
  }
  return steps;
}

// {column: a number that columns of the same classes have, or the kernel that changed its labels}, as it is after the
// steps. `before`: the number with the greatest label.
py::dict ClassesAfter(const BoundNode& bound, const py::dict& before) {
  ir::ClassesByColumn classes;
  for (const auto& [column, given] : before) {
    const auto [names, greatest] = given.cast<std::pair<int64_t, int64_t>>();
    classes[MessageBytes(column)] = {.names = names, .greatest = greatest};
  }
  for (const ir::proto::Step& step : bound.node.steps()) ir::FollowClasses(step, classes);
  py::dict after;
  for (const auto& [column, each] : classes) {
    if (each.names < 0) {
      after[NameText(column)] = NameText(each.changed_by);
    } else {
      after[NameText(column)] = each.names;
    }
  }
  return after;
}

bool HasSalt(const ir::proto::Step& step) { return step.salt() != 0; }

// The kernels of the steps that draw, themselves or in their branches.
py::list DrawingSteps(const BoundGraph& bound) {
  std::vector<std::string> kernels;
  for (const ir::proto::Node& node : bound.graph.nodes()) {
    for (const ir::proto::Step& step : node.steps()) {
      if (ir::AnyStepOf(step, &HasSalt)) kernels.push_back(step.kernel());
    }
  }
  return MessageLines(kernels);
}

// Whether it shuffles or draws, so that its epochs differ.
bool Draws(const BoundGraph& bound) {
  const auto kept_in_order = [](const ir::proto::Attribute& attribute) {
    return attribute.name() == "shuffle" && attribute.value().has_boolean() && !attribute.value().boolean();
  };
  const auto& nodes = bound.graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](const ir::proto::Node& node) {
    const auto& attributes = node.attributes();
    const bool shuffles = node.salt() != 0 && std::none_of(attributes.begin(), attributes.end(), kept_in_order);
    return shuffles || std::any_of(node.steps().begin(), node.steps().end(),
                                   [](const auto& step) { return ir::AnyStepOf(step, &HasSalt); });
  });
}

// The columns that a source written by the user declares.
std::vector<std::string> DeclaredColumns(const BoundNode& bound) {
  std::vector<std::string> names;
  for (const ir::proto::Attribute& attribute : bound.node.attributes()) {
    for (const ir::proto::Column& column : attribute.value().columns().columns()) names.push_back(column.name());
  }
  return names;
}

// Whether it asks for another order of the rows in each epoch.
bool Shuffles(const BoundNode& bound) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(bound.node.op());
  if (declaration == nullptr) return false;
  if (declaration->traits.random && declaration->traits.by_position) return true;
  const auto asks = [&](const ir::proto::Attribute& attribute) {
    const ir::Attribute* const declared = declaration->FindAttribute(attribute.name());
    return declared != nullptr && !declared->puts_above.empty() && attribute.value().boolean();
  };
  return declaration->traits.reorders ||
         std::any_of(bound.node.attributes().begin(), bound.node.attributes().end(), asks);
}

// The same, in the order of the rows' numbers.
BoundNode Unshuffled(BoundNode bound) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(bound.node.op());
  if (declaration == nullptr) return bound;
  const auto puts_above = [&](const ir::proto::Attribute& attribute) {
    const ir::Attribute* const declared = declaration->FindAttribute(attribute.name());
    return declared != nullptr && !declared->puts_above.empty();
  };
  auto* const attributes = bound.node.mutable_attributes();
  if (std::none_of(attributes->begin(), attributes->end(), puts_above)) return bound;
  const auto of_order = [&](const ir::proto::Attribute& attribute) {
    return puts_above(attribute) || attribute.name() == "seed" || attribute.name() == "name";
  };
  attributes->erase(std::remove_if(attributes->begin(), attributes->end(), of_order), attributes->end());
  bound.node.clear_salt();
  return bound;
}

bool RowByRow(const BoundNode& bound) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(bound.node.op());
  return declaration != nullptr && declaration->role == ir::Role::kRow && declaration->traits.one_to_one;
}

template <bool ir::Traits::* kTrait>
bool Has(const BoundNode& bound) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(bound.node.op());
  return declaration != nullptr && declaration->traits.*kTrait;
}

}  // namespace

py::list SchemaList(const ir::Schema& schema) {
  py::list columns;
  for (const ir::DeliveredColumn& delivered : ir::DeliveredColumns(schema)) {
    const ir::Column& column = schema.columns[delivered.column];
    columns.append(py::make_tuple(column.name, std::string(DTypeName(column.type.dtype)),
                                  ShapeTuple(ir::DeliveredShape(schema, delivered))));
  }
  return columns;
}

void BindGraph(py::module_& module) {
  py::class_<BoundNode>(module, "Node")
      .def(py::init(&MakeNode), py::arg("op"), py::arg("attributes"), py::arg("steps"), py::arg("location"),
           py::arg("workers") = 0, py::arg("window") = 0, py::arg("on_device") = false)
      .def(py::pickle(&NodeState, &NodeOfState))
      .def_property_readonly("op", [](const BoundNode& self) { return MessageLine(self.node.op()); })
      .def_property_readonly("references", &ReferencesOf)
      .def("referenced_by", &ReferencedBy)
      .def_property_readonly("steps",
                             [](const BoundNode& self) {
                               std::vector<std::string> steps;
                               for (const ir::proto::Step& step : self.node.steps())
                                 steps.push_back(ir::StepText(step));
                               return MessageLines(steps);
                             })
      .def_property_readonly("attributes", &PlainAttributes)
      .def_property_readonly("columns_of_steps", &ColumnsOfSteps)
      .def("classes_after", &ClassesAfter, py::arg("before"))
      .def_property_readonly("columns", &DeclaredColumns)
      .def_property_readonly("shuffles", &Shuffles)
      .def("unshuffled", &Unshuffled)
      .def_property_readonly("row_by_row", &RowByRow)
      .def_property_readonly("draws", [](const BoundNode& self) { return ir::TraitsOf(self.node).random; })
      .def_property_readonly("by_number", &Has<&ir::Traits::by_number>)
      .def_property_readonly("side_by_side", &Has<&ir::Traits::side_by_side>)
      .def_property_readonly("indexed", [](const BoundNode& self) { return ir::TraitsOf(self.node).indexed; })
      .def_property_readonly("joins_rows", &Has<&ir::Traits::joins_rows>)
      .def_property_readonly("splits_rows", &Has<&ir::Traits::one_to_many>)
      .def_property_readonly("stands_for_attribute", &Has<&ir::Traits::stands_for_attribute>)
      .def("text", [](const BoundNode& self) { return MessageLine(ir::NodeText(self.node)); });

  module.def("unfit_value", &UnfitValue, py::arg("value"));
  module.def("wrong_value", &WrongValue, py::arg("kernel"), py::arg("attribute"), py::arg("value"), py::arg("number"));

  py::class_<BoundGraph>(module, "Graph")
      .def(py::init(&MakeGraph), py::arg("nodes"), py::arg("objects"), py::arg("seed"), py::arg("producer"),
           py::arg("max_errors"))
      .def_static("parse", [](const py::bytes& data) { return OfParsed(ir::ParseSavedGraph(std::string(data))); })
      .def_static("parse_text", [](const std::string& text) { return OfParsed(ir::ParseGraphText(text)); })
      .def_static("parse_json", [](const std::string& json) { return OfParsed(ir::ParseGraphJson(json)); })
      .def_property_readonly("nodes", &NodesOf)
      .def_property_readonly("seed",
                             [](const BoundGraph& self) {
                               return self.graph.has_seed() ? std::optional<uint64_t>(self.graph.seed()) : std::nullopt;
                             })
      .def_property_readonly("max_errors",
                             [](const BoundGraph& self) {
                               const bool skips = self.graph.has_skip_failed();
                               return skips ? std::optional<uint64_t>(self.graph.skip_failed().max_errors())
                                            : std::nullopt;
                             })
      .def_property_readonly("draws", &Draws)
      .def_property_readonly("drawing_steps", &DrawingSteps)
      .def_property_readonly("references", [](const BoundGraph& self) { return self.references; })
      .def_property_readonly("hash", [](const BoundGraph& self) { return ir::HashText(ir::UserGraphHash(self.graph)); })
      .def("serialize", [](const BoundGraph& self) { return py::bytes(ir::SerializeGraph(self.graph)); })
      .def("text", [](const BoundGraph& self) { return MessageText(ir::GraphToText(self.graph)); })
      .def("json", [](const BoundGraph& self) { return MessageText(ir::GraphToJson(self.graph)); })
      .def("dot", [](const BoundGraph& self) { return MessageText(ir::ToDot(self.graph)); })
      .def("dump", [](const BoundGraph& self) { return MessageText(ir::GraphDump(self.graph)); })
      .def("doubts",
           [](const BoundGraph& self) {
             const std::vector<ir::Mistake> found = WithoutGil([&] {
               // Only attributes that were checked can be read.
               return ir::FindMistakes(self.graph).empty() ? ir::FindDoubts(self.graph) : std::vector<ir::Mistake>();
             });
             py::list doubts;
             for (const ir::Mistake& doubt : found) {
               doubts.append(
                   py::make_tuple(MessageLine(doubt.location), MessageLine(Cat(doubt.op, ": ", doubt.message))));
             }
             return doubts;
           })
      .def("validate",
           [](const BoundGraph& self) { RaiseIfError(WithoutGil([&] { return ir::Validate(self.graph); })); })
      .def("writes",
           [](const BoundGraph& self) {
             py::list writes;
             for (const GraphWrite& each : ValueOrRaise(WithoutGil([&] { return WritesOf(self.graph); }))) {
               writes.append(py::make_tuple(MessageLine(each.op), MessageLine(each.what)));
             }
             return writes;
           })
      .def("schema", [](const BoundGraph& self) {
        return SchemaList(ValueOrRaise(WithoutGil([&]() -> absl::StatusOr<ir::Schema> {
          HEADRACE_RETURN_IF_ERROR(ir::Validate(self.graph));
          return ir::ResultSchema(self.graph);
        })));
      });
}

}  // namespace headrace::python

#include "engine/plan/plan_node.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/printable.h"
#include "core/row_id.h"
#include "core/text.h"
#include "engine/operator/listed_rows.h"
#include "engine/plan/named_source.h"
#include "ir/branches.h"
#include "ir/column_history.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/node_traits.h"
#include "ir/salts.h"

namespace headrace {
namespace {

// Whether the canonical form made it of an attribute of its input.
bool OfAttribute(const ir::proto::Node& node) {
  const ir::Declaration* const declaration = ir::Registry::Global().Find(node.op());
  return declaration != nullptr && declaration->traits.stands_for_attribute && node.inputs_size() == 1;
}

// The node by which messages name `node`: itself, or the one with its attribute.
int NamingNode(const ir::proto::Graph& graph, int node) {
  while (OfAttribute(graph.nodes(node))) node = static_cast<int>(graph.nodes(node).inputs(0));
  return node;
}

class PlanNodeMaker {
 public:
  PlanNodeMaker(const ir::proto::Graph& graph, std::vector<ir::Schema> schemas, const RunOptions& run)
      : graph_(graph), schemas_(std::move(schemas)), histories_(ir::HistoriesOf(graph, schemas_)), run_(run) {}

  absl::StatusOr<std::unique_ptr<PlanNode>> Make(int id) { return Make(id, run_.first_epoch, 0, true); }

 private:
  // `may_list`: what stands above takes checkpoints of any width.
  absl::StatusOr<std::unique_ptr<PlanNode>> Make(int id, uint64_t first_epoch, uint64_t epoch_cycle, bool may_list) {
    auto node = std::make_unique<PlanNode>();
    FillArguments(id, node->arguments);
    node->arguments.epoch_cycle = epoch_cycle;
    node->arguments.first_epoch = RowEpochOf(first_epoch, epoch_cycle);
    const OpArguments& arguments = node->arguments;
    const std::string& op = arguments.node->op();
    const OpFactories* factories = FindOp(op);
    const ir::Declaration* declaration = ir::Registry::Global().Find(op);
    if (factories == nullptr || declaration == nullptr) return InternalError("no operator ", op);
    OperatorProperties& properties = node->properties;
    properties.traits = ir::TraitsOf(*arguments.node);
    // A stream source counts its rows.
    properties.checkpoint_counters = factories->stream_source ? 1 : 0;
    if (factories->properties) factories->properties(arguments, properties);
    const uint64_t cycle = properties.input_cycle.value_or(epoch_cycle);
    // What joins checkpoints, or keeps them with its rows, must know their width.
    const bool inputs_may_list = may_list && declaration->max_inputs == 1 && !properties.keeps.has_value();
    for (uint32_t input : arguments.node->inputs()) {
      const uint64_t first = properties.epochs.FirstInput(first_epoch);
      HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<PlanNode> child,
                                Make(static_cast<int>(input), first, cycle, inputs_may_list));
      node->arguments.run_length = std::max(node->arguments.run_length, child->properties.run_length);
      node->inputs.push_back(std::move(child));
    }
    if (may_list && properties.counters_if_listing.has_value() && ReadsByNumber(*node)) {
      properties.lists_rows = node->arguments.lists_rows = true;
      properties.checkpoint_counters = *properties.counters_if_listing;
    }
    std::unique_ptr<PlanNode> maps;
    if (factories->indexed && arguments.run_length > 1) maps = TakeMapsOff(*node);
    absl::Status made = MakeOperator(*factories, *node);
    if (!made.ok()) {
      AddErrorField(made, ErrorField::kOperator, arguments.name);
      AddErrorField(made, ErrorField::kLocation, arguments.location);
      return made;
    }
    Measure(*factories, *node);
    return maps == nullptr ? std::move(node) : PutOn(std::move(maps), std::move(node));
  }

  // Whether an operator on indices may as well act below it.
  static bool IsMap(const PlanNode& node) {
    return node.row && node.properties.traits.one_to_one && node.inputs.size() == 1;
  }

  // Takes off the maps above the input of an operator on indices, over runs of rows: ranks get whole runs, so it must
  // act before these are dealt. Null, with nothing changed: there are none, it is one of them, or they stand above
  // something else.
  static std::unique_ptr<PlanNode> TakeMapsOff(PlanNode& node) {
    const ir::Traits& traits = node.properties.traits;
    if (traits.random || traits.one_to_one || node.inputs.size() != 1) return nullptr;
    std::unique_ptr<PlanNode>* below = &node.inputs[0];
    while (IsMap(**below)) below = &(*below)->inputs[0];
    if (below == &node.inputs[0] || (*below)->indexed == nullptr) return nullptr;
    std::unique_ptr<PlanNode> source = std::move(*below);
    std::unique_ptr<PlanNode> maps = std::move(node.inputs[0]);
    const OpArguments& first = source->arguments;
    node.arguments.inputs[0] = node.arguments.output = first.output;
    // Below a cache the epochs of rows are others.
    node.arguments.epoch_cycle = first.epoch_cycle;
    node.arguments.first_epoch = first.first_epoch;
    node.inputs[0] = std::move(source);
    return maps;
  }

  // `maps`: as TakeMapsOff returns them.
  static std::unique_ptr<PlanNode> PutOn(std::unique_ptr<PlanNode> maps, std::unique_ptr<PlanNode> node) {
    std::unique_ptr<PlanNode>& input = maps->inputs[0];
    input = input == nullptr ? std::move(node) : PutOn(std::move(input), std::move(node));
    maps->arguments.run_length = input->properties.run_length;
    Measure(*FindOp(maps->arguments.node->op()), *maps);
    return maps;
  }

  // Whether each row of its input has a position of the source of its own, in order.
  static bool ReadsByNumber(const PlanNode& node) {
    if (node.inputs.size() != 1 || !IsKeyed(*node.inputs[0])) return false;
    return !SourceOfRows(*node.inputs[0])->properties.uneven_runs;
  }

  void FillArguments(int id, OpArguments& arguments) const {
    const ir::proto::Node& proto = graph_.nodes(id);
    arguments.name = NodeName(graph_, id);
    const ir::proto::Node& naming = graph_.nodes(NamingNode(graph_, id));
    if (naming.has_location())
      arguments.location = Cat(Printable(naming.location().file()), ":", naming.location().line());
    arguments.node = &proto;
    arguments.attributes = ir::Attributes::Of(proto);
    for (uint32_t input : proto.inputs()) arguments.inputs.push_back(schemas_[input]);
    if (proto.op() == ir::kMapOp) arguments.histories = histories_[proto.inputs(0)];
    arguments.output = schemas_[id];
    arguments.salt = proto.salt();
    arguments.seed = run_.seed.has_value() ? *run_.seed : graph_.has_seed() ? graph_.seed() : 0;
    const bool own = arguments.attributes.Find("seed") != nullptr && !arguments.attributes.IsNone("seed");
    if (own) arguments.seed = static_cast<uint64_t>(arguments.attributes.Int("seed"));
    arguments.run = &run_;
  }

  static bool AllIndexed(const PlanNode& node) {
    for (const auto& input : node.inputs) {
      if (!input->indexed) return false;
    }
    return !node.inputs.empty();
  }

  // An operator on indices reads its rows as its inputs do.
  static void TakeWayOfReading(const OperatorProperties& input, OperatorProperties& properties) {
    properties.processes = ProcessesOfBoth(properties, input);
    properties.traits.file_io |= input.traits.file_io;
    properties.traits.python |= input.traits.python;
    properties.run_rows = std::max(properties.run_rows, input.run_rows);
  }

  // None if either calls this process, which then makes all calls, one at a time and in order.
  static int ProcessesOfBoth(const OperatorProperties& a, const OperatorProperties& b) {
    const auto here = [](const OperatorProperties& each) { return each.traits.python && each.processes == 0; };
    return here(a) || here(b) ? 0 : std::max(a.processes, b.processes);
  }

  static absl::Status MakeOperator(const OpFactories& factories, PlanNode& node) {
    const OpArguments& arguments = node.arguments;
    if (factories.indexed && AllIndexed(node)) {
      IndexedSources inputs;
      for (auto& input : node.inputs) inputs.push_back(std::move(input->indexed));
      HEADRACE_ASSIGN_OR_RETURN(node.indexed, factories.indexed(arguments, std::move(inputs)));
      for (const auto& input : node.inputs) TakeWayOfReading(input->properties, node.properties);
    } else if (factories.keyed && IsKeyed(*node.inputs[0])) {
      HEADRACE_ASSIGN_OR_RETURN(node.row, factories.keyed(arguments));
    } else if (factories.indexed_source && (!factories.stream_source || node.properties.traits.indexed)) {
      HEADRACE_ASSIGN_OR_RETURN(node.indexed, factories.indexed_source(arguments));
      node.indexed = NamedSource(std::move(node.indexed), arguments);
      node.warnings = node.indexed->warnings();
    } else if (factories.stream_source) {
      HEADRACE_ASSIGN_OR_RETURN(node.stream_source, factories.stream_source(arguments));
      node.warnings = node.stream_source->warnings();
    } else if (factories.row) {
      HEADRACE_ASSIGN_OR_RETURN(node.row, factories.row(arguments));
    } else if (factories.stream) {
      HEADRACE_ASSIGN_OR_RETURN(node.stream, factories.stream(arguments));
    } else {
      return GraphError("acts on the numbers of rows, so it must stand next to a source with random access");
    }
    return absl::OkStatus();
  }

  // Whether a rank gets whole runs of it. What acts on indices, where it can, elsewhere gives the rank's rows of each
  // input in turn, which are whole runs of that input, and refuses to leave out a part of one.
  static bool KeepsRuns(const OpFactories& factories, const PlanNode& node) {
    const ir::Traits& traits = node.properties.traits;
    if (node.properties.keeps.has_value() || (node.row && traits.one_to_one)) return true;
    const auto in_runs = [&](const auto& input) { return input->properties.run_length == node.arguments.run_length; };
    return factories.indexed && !traits.random && !traits.side_by_side &&
           std::all_of(node.inputs.begin(), node.inputs.end(), in_runs);
  }

  static void Measure(const OpFactories& factories, PlanNode& node) {
    OperatorProperties& properties = node.properties;
    if (node.indexed) {
      // Acts on indices alone: what its properties say about streamed rows does not apply.
      const OperatorProperties declared = std::exchange(properties, {});
      properties.traits = declared.traits;
      properties.epochs = declared.epochs;
      properties.new_order_each_epoch = declared.new_order_each_epoch;
      properties.run_rows = declared.run_rows;
      properties.processes = declared.processes;
      for (const auto& input : node.inputs) {
        properties.new_order_each_epoch |= input->properties.new_order_each_epoch;
      }
      const IndexedProperties indexed = node.indexed->properties();
      properties.rows_differ = indexed.begins;
      properties.asks_for_order = indexed.asks_user;
      properties.run_length = indexed.run_length;
      properties.uneven_runs = indexed.uneven_runs;
      properties.cardinality = Cardinality::Of(node.indexed->size());
      // Rows given out, and a hash of the order that the user's code chose.
      properties.checkpoint_counters = indexed.asks_user ? 2 : 1;
      node.counters = properties.checkpoint_counters;
      node.position_exact = true;
      return;
    }
    node.counters = 0;
    std::vector<Cardinality> rows;
    for (const auto& input : node.inputs) {
      rows.push_back(input->properties.cardinality);
      node.counters += input->counters;
      node.batched |= input->batched;
      properties.rows_differ |= input->properties.rows_differ;
    }
    node.counters += properties.checkpoint_counters;
    if (factories.cardinality) {
      properties.cardinality = factories.cardinality(node.arguments, rows);
    } else if (!rows.empty()) {
      properties.cardinality = rows[0];
    }
    const bool one_epoch = properties.epochs.stride == 1 && properties.epochs.runs == 1;
    if (properties.rows_differ && !one_epoch) properties.cardinality = Cardinality::Unknown();
    if (KeepsRuns(factories, node)) properties.run_length = node.arguments.run_length;
    const bool batches = properties.traits.joins_rows;
    if (node.stream_source) {
      node.position_exact = !properties.shards_itself;
    } else if (node.inputs.size() == 1 && node.inputs[0]->position_exact) {
      const bool of_one_size = properties.batch_rows > 0 && !node.batched;
      node.position_exact = batches ? of_one_size : node.row && properties.traits.one_to_one;
    }
    node.batched |= batches;
  }

  const ir::proto::Graph& graph_;
  const std::vector<ir::Schema> schemas_;
  const std::vector<ir::ColumnHistories> histories_;
  const RunOptions& run_;
};

void CollectFingerprints(const PlanNode& node, std::vector<Fingerprint>& fingerprints) {
  if (node.indexed) {
    node.indexed->AddFingerprints(fingerprints);
    return;
  }
  if (node.stream_source) node.stream_source->AddFingerprints(fingerprints);
  for (const auto& input : node.inputs) CollectFingerprints(*input, fingerprints);
}

// Mixed into the layout where counters list rows.
constexpr uint64_t kListed = 0x6c69737465640a01ULL;

// Continues from the layout of the operators before.
uint64_t LayoutFrom(const PlanNode& node, uint64_t layout) {
  // Operators on indices share one counter, which counts positions.
  if (!node.indexed) {
    for (const auto& input : node.inputs) layout = LayoutFrom(*input, layout);
  }
  const int own = node.properties.checkpoint_counters;
  if (own == 0) return layout;
  layout = MixKey(layout, static_cast<uint64_t>(own));
  if (node.properties.lists_rows) layout = MixKey(layout, kListed);
  const std::string_view op = node.indexed ? "indexed" : std::string_view(node.arguments.node->op());
  for (const char letter : op) layout = MixKey(layout, static_cast<uint8_t>(letter));
  return layout;
}

}  // namespace

bool IsKeyed(const PlanNode& node) {
  if (node.indexed) return true;
  return node.row && node.properties.traits.one_to_one && IsKeyed(*node.inputs[0]);
}

const PlanNode* SourceOfRows(const PlanNode& node) {
  if (node.indexed) return &node;
  const bool applies = node.row && node.properties.traits.one_to_one;
  return applies || ir::PassesRows(node.properties.traits) ? SourceOfRows(*node.inputs[0]) : nullptr;
}

const PlanNode* FirstInexact(const PlanNode& root) {
  if (root.position_exact) return nullptr;
  for (const auto& input : root.inputs) {
    if (const PlanNode* found = FirstInexact(*input)) return found;
  }
  return &root;
}

NodeCounters CutCounters(const PlanNode& node, absl::Span<const uint64_t> counters) {
  const OperatorProperties& properties = node.properties;
  const size_t listed = properties.lists_rows ? *CountListed(counters) : 0;
  const size_t own = static_cast<size_t>(properties.checkpoint_counters) + listed;
  NodeCounters cut;
  cut.own = counters.last(own);
  cut.below = counters.first(counters.size() - own);
  if (node.indexed) return cut;
  size_t width = 0;
  for (const auto& input : node.inputs) width += static_cast<size_t>(input->counters);
  // Of its input alone, as what stands below lists none.
  if (properties.lists_rows) cut.below = cut.below.first(width);
  size_t at = 0;
  for (const auto& input : node.inputs) {
    const bool only = node.inputs.size() == 1;
    cut.inputs.push_back(only ? cut.below : cut.below.subspan(at, static_cast<size_t>(input->counters)));
    at += cut.inputs.back().size();
  }
  return cut;
}

bool FitsCounters(const PlanNode& node, absl::Span<const uint64_t> counters) {
  const bool lists = node.properties.lists_rows;
  const std::optional<size_t> listed = lists ? CountListed(counters) : 0;
  const size_t own = static_cast<size_t>(node.properties.checkpoint_counters) + listed.value_or(0);
  if (!listed.has_value() || own > counters.size()) return false;
  const absl::Span<const uint64_t> below = counters.first(counters.size() - own);
  const auto width = static_cast<size_t>(node.counters - node.properties.checkpoint_counters);
  if (!node.indexed && node.inputs.size() == 1 && !lists) return FitsCounters(*node.inputs[0], below);
  const auto zero = [](uint64_t counter) { return counter == 0; };
  return below.size() == width ||
         (lists && below.size() > width && std::all_of(counters.begin(), counters.end(), zero));
}

uint32_t CheckpointLayout(const PlanNode& root) { return static_cast<uint32_t>(LayoutFrom(root, 0)); }

std::string NodeName(const ir::proto::Graph& graph, int node) {
  node = NamingNode(graph, node);
  const ir::proto::Node& named = graph.nodes(node);
  if (named.user_node() > 0) return Cat(named.op(), "[", named.user_node() - 1, "]");
  const auto& nodes = graph.nodes();
  const auto before =
      std::count_if(nodes.begin(), nodes.begin() + node, [](const auto& each) { return !OfAttribute(each); });
  return Cat(named.op(), "[", before, "]");
}

void NumberOperators(ir::proto::Graph& graph) {
  uint32_t number = 0;
  for (ir::proto::Node& node : *graph.mutable_nodes()) {
    node.set_user_node(OfAttribute(node) ? graph.nodes(static_cast<int>(node.inputs(0))).user_node() : ++number);
    ir::VisitSteps(node.mutable_steps(), [&](ir::proto::Step& step) { step.set_user_node(node.user_node()); });
  }
}

absl::StatusOr<std::unique_ptr<PlanNode>> MakePlanNodes(const ir::proto::Graph& graph, const RunOptions& run) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ir::Schema> schemas, ir::InferSchemas(graph));
  return PlanNodeMaker(graph, std::move(schemas), run).Make(graph.nodes_size() - 1);
}

void CollectWarnings(const PlanNode& root, std::vector<std::shared_ptr<const RowWarnings>>& warnings) {
  for (const auto& input : root.inputs) CollectWarnings(*input, warnings);
  if (root.warnings != nullptr) warnings.push_back(root.warnings);
}

std::vector<Fingerprint> FingerprintsOf(const PlanNode& root) {
  std::vector<Fingerprint> fingerprints;
  CollectFingerprints(root, fingerprints);
  return fingerprints;
}

}  // namespace headrace

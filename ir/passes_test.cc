#include "ir/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/testing/rounds.h"
#include "core/text.h"
#include "ir/canonical.h"
#include "ir/declaration.h"
#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/passes/merge_maps.h"
#include "ir/passes/split_maps.h"
#include "ir/testing/fake_ops.h"
#include "ir/validate.h"

namespace headrace::ir {
namespace {

// Those that have a file of tests of their own.
const std::vector<std::string> kTestedApart = {"fold_constants",  "remove_identities", "push_down",
                                               "commute_shuffle", "insert_caches",     "group_rows"};

std::string DumpOptimized(const GraphBuilder& builder, std::vector<std::string> off = {}) {
  off.insert(off.end(), kTestedApart.begin(), kTestedApart.end());
  const proto::Graph graph = builder.Canonical();
  EXPECT_TRUE(Validate(graph).ok()) << Validate(graph);
  absl::StatusOr<Optimized> optimized = Optimize(graph, off);
  EXPECT_TRUE(optimized.ok()) << optimized.status();
  for (const PassTrace& trace : optimized->trace) EXPECT_EQ(trace.problem, "") << trace.name;
  EXPECT_TRUE(Validate(optimized->graph).ok()) << Validate(optimized->graph);
  return GraphDump(optimized->graph);
}

GraphBuilder::Given ColumnsPasses(std::vector<std::string> names) { return {{"columns", StringsValue(names)}}; }
GraphBuilder::Given SizePasses(int64_t size) { return {{"size", IntValue(size)}}; }

TEST(DropUnreadColumns, TellsTheSource) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("batch", {0}, SizePasses(2));
  builder.Add("project", {1}, ColumnsPasses({"label"}));
  EXPECT_EQ(DumpOptimized(builder),
            "#0  pictures(columns=('label',))\n"
            "#1  batch(#0, drop_remainder=False, size=2)\n"
            "#2  project(#1, columns=('label',))\n");
}

TEST(DropUnreadColumns, RemovesStepsAndWholeMaps) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPasses({"image", "label", "path", "big"}));
  builder.Add("map", {0});
  builder.Step("Resize", {"image"}, {"small"}, {{"size", IntValue(8)}}).Step("Flip", {"small"}, {"flipped"});
  builder.Step("Negate", {"label"}, {"label"}).Step("Join", {"image", "big"}, {"joined"});
  builder.Add("map", {1});
  builder.Step("Negate", {"flipped"}, {"negated"});
  builder.Add("batch", {2}, SizePasses(2));
  builder.Add("project", {3}, ColumnsPasses({"flipped", "label"}));
  EXPECT_EQ(DumpOptimized(builder),
            "#0  pictures(columns=('image', 'label'))\n"
            "#1  map(#0, workers=None)\n"
            "      small = Resize(image; interpolation='bilinear', size=(8, 8))\n"
            "      flipped = Flip(small; name=None, probability=0.5, seed=None)  salt 8055669739214727032\n"
            "      label = Negate(label)\n"
            "#2  project(#1, columns=('label', 'flipped'))\n"
            "#3  batch(#2, drop_remainder=False, size=2)\n"
            "#4  project(#3, columns=('flipped', 'label'))\n");
}

TEST(DropUnreadColumns, KeepsWhatTheUsersPythonMayDoBesides) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPasses({"label", "path"}));
  builder.Add("map", {0});
  builder.Step("Call", {"path"}, {"path"}, {{"function", ReferenceValue("f")}});
  builder.Add("project", {1}, ColumnsPasses({"label"}));
  EXPECT_NE(DumpOptimized(builder).find("path = Call(path"), std::string::npos);
}

TEST(DropUnreadColumns, KeepsWhatAFilterReadsUntilItHasReadIt) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPasses({"image", "label", "path"}));
  builder.Add(
      "filter", {0},
      {{"predicate", ExpressionValue(CallExpression("<", ColumnExpression("label"), LiteralExpression(IntValue(3))))}});
  builder.Add("batch", {1}, SizePasses(2));
  builder.Add("project", {2}, ColumnsPasses({"image"}));
  EXPECT_EQ(DumpOptimized(builder),
            "#0  pictures(columns=('image', 'label'))\n"
            "#1  filter(#0, predicate=col(\"label\") < 3)\n"
            "#2  project(#1, columns=('image',))\n"
            "#3  batch(#2, drop_remainder=False, size=2)\n"
            "#4  project(#3, columns=('image',))\n");
}

TEST(DropUnreadColumns, ProjectsWhatASourceCannotLeaveOut) {
  GraphBuilder builder;
  builder.Add("numbers");
  builder.Add("shuffle", {0}, {{"window", IntValue(5)}});
  builder.Add("project", {1}, ColumnsPasses({"value"}));
  EXPECT_EQ(DumpOptimized(builder),
            "#0  numbers(stop=10)\n"
            "#1  project(#0, columns=('value',))\n"
            "#2  shuffle(#1, name=None, seed=None, window=5)  salt 12448176966133054717\n"
            "#3  project(#2, columns=('value',))\n");
}

// Rows are sharded among ranks above the operators that act on indices: a take over a source comes before that point, a
// take over a map after it, and ranks would get other rows if a pass made one of the other.
TEST(DropUnreadColumns, LeavesThePointWhereRowsAreSharded) {
  GraphBuilder over_source;
  over_source.Add("numbers");
  over_source.Add("take", {0}, {{"count", IntValue(5)}});
  over_source.Add("batch", {1}, SizePasses(2));
  over_source.Add("project", {2}, ColumnsPasses({"value"}));
  EXPECT_EQ(DumpOptimized(over_source),
            "#0  numbers(stop=10)\n"
            "#1  take(#0, count=5)\n"
            "#2  project(#1, columns=('value',))\n"
            "#3  batch(#2, drop_remainder=False, size=2)\n"
            "#4  project(#3, columns=('value',))\n");
  GraphBuilder over_map;
  over_map.Add("pictures");
  over_map.Add("map", {0});
  over_map.Step("Negate", {"image"}, {"image"}).Step("Negate", {"image"}, {"image"});
  over_map.Add("take", {1}, {{"count", IntValue(5)}});
  over_map.Add("project", {2}, ColumnsPasses({"label"}));
  EXPECT_EQ(DumpOptimized(over_map),
            "#0  pictures(columns=('label',))\n"
            "#1  project(#0, columns=('label',))\n"
            "#2  take(#1, count=5)\n"
            "#3  project(#2, columns=('label',))\n");
}

TEST(DropUnreadColumns, KeepsTheOrderOfColumnsThatStepsReplace) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPasses({"image", "label", "path"}));
  builder.Add("map", {0});
  builder.Step("Negate", {"label"}, {"image"});  // reads no image, but replaces it
  builder.Add("project", {1}, ColumnsPasses({"image", "label"}));
  builder.Add("batch", {2}, SizePasses(2));
  EXPECT_NE(DumpOptimized(builder).find("pictures(columns=('image', 'label'))"), std::string::npos);
}

TEST(DropUnreadColumns, KeepsTheCheapestColumnOfRowsThatOnlyCount) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("shuffle", {0}, {{"window", IntValue(5)}});
  builder.Add("numbers");
  builder.Add("zip", {1, 2});
  builder.Add("project", {3}, ColumnsPasses({"value"}));
  const std::string dump = DumpOptimized(builder);
  EXPECT_NE(dump.find("pictures(columns=('label',))"), std::string::npos) << dump;
}

TEST(DropUnreadColumns, ServesEveryUserOfANode) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPasses({"image", "label", "path", "big"}));
  builder.Add("project", {0}, ColumnsPasses({"image"}));
  builder.Add("project", {0}, ColumnsPasses({"path"}));
  builder.Add("zip", {1, 2});
  EXPECT_NE(DumpOptimized(builder).find("pictures(columns=('image', 'path'))"), std::string::npos);
}

// The second input cannot leave out the same columns as the first: then both keep what they have.
TEST(DropUnreadColumns, GivesUpWhereInputsMustAgree) {
  GraphBuilder builder;
  builder.Add("pictures", {}, ColumnsPasses({"image", "label"}));
  builder.Add("fixed");
  builder.Add("take", {1}, {{"count", IntValue(3)}});
  builder.Add("same", {0, 2});
  builder.Add("project", {3}, ColumnsPasses({"image"}));
  const std::string dump = DumpOptimized(builder);
  EXPECT_NE(dump.find("#0  pictures(columns=('image', 'label'))"), std::string::npos) << dump;
}

TEST(DropUnreadColumns, DropsReadsOfFilesButNoCallsOfPython) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Fetch", {"image"}, {"fetched"});
  builder.Step("Call", {"image"}, {"called"}, {{"function", ReferenceValue("f")}});
  builder.Add("project", {1}, ColumnsPasses({"label"}));
  const std::string dump = DumpOptimized(builder);
  EXPECT_EQ(dump.find("Fetch"), std::string::npos) << dump;
  EXPECT_NE(dump.find("Call"), std::string::npos) << dump;
}

TEST(SplitMaps, PutsPythonInMapsOfItsOwn) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0}, {{"workers", IntValue(2)}});
  const GraphBuilder::Given function = {{"function", ReferenceValue("f")}};
  builder.Step("Flip", {"image"}, {"image"}).Step("Negate", {"label"}, {"label"});
  builder.Step("Call", {"image"}, {"image"}, function).Step("Call", {"label"}, {"label"}, function);
  builder.Step("Flip", {"image"}, {"flipped"});
  builder.Add("batch", {1}, SizePasses(2));
  proto::Graph graph = builder.Canonical();
  for (proto::Step& step : *graph.mutable_nodes(1)->mutable_steps()) step.set_user_node(2);
  graph.mutable_nodes(1)->set_user_node(2);
  const absl::StatusOr<proto::Graph> split = SplitMaps(graph);
  ASSERT_TRUE(split.ok());
  EXPECT_TRUE(Validate(*split).ok()) << Validate(*split);
  EXPECT_EQ(*ResultSchema(*split), *ResultSchema(graph));
  ASSERT_EQ(split->nodes_size(), 5);
  std::vector<proto::Step> steps;
  for (const int part : {1, 2, 3}) {
    const proto::Node& map = split->nodes(part);
    EXPECT_EQ(map.inputs(0), static_cast<uint32_t>(part - 1));
    EXPECT_EQ(map.user_node(), 2u);
    EXPECT_EQ(LocationText(map.location()), LocationText(graph.nodes(1).location()));
    EXPECT_EQ(map.attributes_size(), graph.nodes(1).attributes_size());
    steps.insert(steps.end(), map.steps().begin(), map.steps().end());
  }
  EXPECT_EQ(split->nodes(2).steps_size(), 2);
  EXPECT_EQ(split->nodes(4).inputs(0), 3u);
  // The steps are the same, with the same salts.
  ASSERT_EQ(steps.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(steps[i].SerializeAsString(), graph.nodes(1).steps(i).SerializeAsString());
  }
}

TEST(SplitMaps, PutsReadsInMapsOfTheirOwnAndMergeMapsLeavesThemThere) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Fetch", {"image"}, {"image"}).Step("Fetch", {"label"}, {"label"}).Step("Negate", {"image"}, {"image"});
  const proto::Graph graph = builder.Canonical();
  const absl::StatusOr<proto::Graph> split = SplitMaps(graph);
  ASSERT_TRUE(split.ok());
  ASSERT_EQ(split->nodes_size(), 3);
  EXPECT_EQ(split->nodes(1).steps_size(), 2);
  EXPECT_EQ(split->nodes(2).steps(0).kernel(), "Negate");
  EXPECT_EQ(SerializeGraph(*MergeMaps(*split)), SerializeGraph(*split));
}

TEST(SplitMaps, LeavesMapsOfOneKindAlone) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"}).Step("Negate", {"label"}, {"label"});
  builder.Add("map", {1});
  builder.Step("Call", {"image"}, {"image"}, {{"function", ReferenceValue("f")}});
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(SerializeGraph(*SplitMaps(graph)), SerializeGraph(graph));
}

TEST(MergeMaps, JoinsNeighboursAndKeepsSalts) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Add("map", {1});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Add("map", {2});
  builder.Step("Negate", {"label"}, {"label"});
  EXPECT_EQ(DumpOptimized(builder),
            "#0  pictures(columns=None)\n"
            "#1  map(#0, workers=None)\n"
            "      image = Flip(image; name=None, probability=0.5, seed=None)  salt 8055669739214727032\n"
            "      image = Flip(image; name=None, probability=0.5, seed=None)  salt 11366933456005071355\n"
            "      label = Negate(label)\n");
}

TEST(MergeMaps, JoinsFunctionsThatMayBeCalledInAnyOrder) {
  const auto joined = [](bool first_ordered, bool second_ordered) {
    GraphBuilder builder;
    builder.Add("pictures");
    for (const bool ordered : {first_ordered, second_ordered}) {
      builder.Add("map", {static_cast<uint32_t>(builder.graph().nodes_size() - 1)});
      builder.Step("Call", {"image"}, {"image"}, {{"function", ReferenceValue("f")}, {"ordered", BoolValue(ordered)}});
    }
    return DumpOptimized(builder).find("#2") == std::string::npos;
  };
  EXPECT_TRUE(joined(false, false));
  EXPECT_FALSE(joined(true, false));
  EXPECT_FALSE(joined(false, true));
  EXPECT_FALSE(joined(true, true));
}

// Errors name the line of the map that the user wrote.
TEST(MergeMaps, KeepsTheLinesOfSteps) {
  GraphBuilder builder;
  builder.Add("pictures");
  for (const uint32_t below : {0, 1}) {
    builder.Add("map", {below});
    builder.Step("Negate", {"label"}, {"label"});
    builder.graph().mutable_nodes(below + 1)->mutable_steps(0)->clear_location();
  }
  const absl::StatusOr<Optimized> optimized = Optimize(builder.Canonical(), kTestedApart);
  ASSERT_EQ(optimized->graph.nodes_size(), 2);
  EXPECT_EQ(LocationText(optimized->graph.nodes(1).steps(0).location()), "train.py:2");
  EXPECT_EQ(LocationText(optimized->graph.nodes(1).steps(1).location()), "train.py:4");
}

TEST(MergeMaps, LeavesPythonAndCapsAndSharedMapsApart) {
  const auto maps = [](const GraphBuilder& builder) {
    const std::string dump = DumpOptimized(builder);
    int count = 0;
    for (size_t at = dump.find("map("); at != std::string::npos; at = dump.find("map(", at + 1)) ++count;
    return count;
  };
  GraphBuilder python;
  python.Add("pictures");
  python.Add("map", {0});
  python.Step("Negate", {"image"}, {"image"});
  python.Add("map", {1});
  python.Step("Call", {"image"}, {"image"}, {{"function", ReferenceValue("f")}});
  EXPECT_EQ(maps(python), 2);
  GraphBuilder capped;
  capped.Add("pictures");
  capped.Add("map", {0}, {{"workers", IntValue(1)}});
  capped.Step("Negate", {"image"}, {"image"});
  capped.Add("map", {1});
  capped.Step("Negate", {"image"}, {"image"});
  EXPECT_EQ(maps(capped), 2);
  GraphBuilder shared;
  shared.Add("pictures");
  shared.Add("map", {0});
  shared.Step("Negate", {"image"}, {"image"});
  shared.Add("map", {1});
  shared.Step("Negate", {"image"}, {"a"});
  shared.Add("project", {2}, ColumnsPasses({"a"}));
  shared.Add("zip", {1, 3});
  EXPECT_EQ(maps(shared), 2);
}

TEST(Passes, CanBeSwitchedOffByName) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Negate", {"image"}, {"image"});
  builder.Add("map", {1});
  builder.Step("Negate", {"label"}, {"label"});
  builder.Add("project", {2}, ColumnsPasses({"label"}));
  const proto::Graph graph = builder.Canonical();
  EXPECT_EQ(DumpOptimized(builder, {"drop_unread_columns", "merge_maps"}), GraphDump(graph));
  EXPECT_NE(DumpOptimized(builder, {"merge_maps"}), DumpOptimized(builder, {"drop_unread_columns"}));
  std::string listed;
  for (const Pass& pass : AllPasses()) Append(listed, listed.empty() ? "" : ", ", pass.name);
  const std::vector<std::string> wrong = {"merge_map"};
  EXPECT_EQ(Optimize(graph, wrong).status().message(),
            Cat("no pass \"merge_map\"; did you mean \"merge_maps\"? (passes: ", listed, ")"));
}

TEST(Passes, ShowTheGraphBeforeAndAfterEach) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("project", {0}, ColumnsPasses({"label"}));
  const proto::Graph graph = builder.Canonical();
  const std::vector<std::string> off = {"merge_maps", "group_rows"};
  absl::StatusOr<Optimized> optimized = Optimize(graph, off);
  ASSERT_TRUE(optimized.ok());
  ASSERT_EQ(optimized->trace.size(), AllPasses().size());
  std::string text = GraphDump(graph);
  for (size_t i = 0; i < optimized->trace.size(); ++i) {
    const PassTrace& trace = optimized->trace[i];
    EXPECT_EQ(trace.name, AllPasses()[i].name);
    EXPECT_EQ(trace.before_text, text);
    text = trace.after_text;
    EXPECT_EQ(trace.changed, trace.name == "drop_unread_columns");
    EXPECT_EQ(trace.before_text != trace.after_text, trace.changed);
    EXPECT_EQ(trace.off, trace.name == "merge_maps" || trace.name == "group_rows");
  }
  for (const Pass& pass : AllPasses()) EXPECT_FALSE(pass.doc.empty());
}

// Describes what each column of the result is computed from, and what decides which rows there are: graphs with equal
// descriptions compute the same.
class Meaning {
 public:
  explicit Meaning(const proto::Graph& graph) : graph_(graph), of_node_(graph.nodes_size()) {}

  std::string OfResult() {
    for (int i = 0; i < graph_.nodes_size(); ++i) of_node_[i] = Of(graph_.nodes(i));
    std::string text = Cat("rows: ", of_node_.back().rows, "\n");
    for (const auto& [name, term] : of_node_.back().columns) Append(text, name, " = ", term, "\n");
    std::sort(calls_.begin(), calls_.end());
    for (const std::string& call : calls_) Append(text, "calls ", call, "\n");
    return text;
  }

 private:
  using Terms = std::vector<std::pair<std::string, std::string>>;
  struct Stream {
    std::string rows;
    Terms columns;
    bool over_indices = false;
  };

  static std::string& At(Terms& terms, const std::string& name) {
    for (auto& [known, term] : terms) {
      if (known == name) return term;
    }
    return terms.emplace_back(name, "").second;
  }

  static std::string Salted(std::string text, uint64_t salt) { return salt == 0 ? text : Cat(text, "#", salt); }

  Stream Of(const proto::Node& node) {
    if (node.inputs().empty()) return OfSource(node);
    Stream stream = of_node_[node.inputs(0)];
    const bool indexed = Registry::Global().Find(node.op())->traits.indexed;
    stream.over_indices = indexed;
    for (const uint32_t input : node.inputs()) stream.over_indices &= of_node_[input].over_indices;
    if (node.op() == "map") {
      for (const proto::Step& step : node.steps()) Apply(step, stream.columns);
    } else if (node.op() == "project") {
      stream.columns = Chosen(node, stream.columns);
    } else if (node.op() == "filter") {
      Append(stream.rows, " | ", FilterText(node, stream.columns));
    } else if (node.op() == "zip") {
      Zip(node, stream);
    } else {
      const std::string term = Cat(" | ", Salted(NodeText(node), node.salt()), stream.over_indices ? " by index" : "");
      // The same take twice is that take.
      if (node.op() != "take" || !stream.rows.ends_with(term)) stream.rows += term;
    }
    if (node.op() == "batch") {
      for (auto& column : stream.columns) column.second = Cat("batch(", column.second, ")");
    }
    return stream;
  }

  void Zip(const proto::Node& node, Stream& stream) {
    for (int i = 1; i < node.inputs_size(); ++i) {
      const Stream& other = of_node_[node.inputs(i)];
      stream.rows = Cat("zip(", stream.rows, "; ", other.rows, ")", stream.over_indices ? " by index" : "");
      stream.columns.insert(stream.columns.end(), other.columns.begin(), other.columns.end());
    }
  }

  Stream OfSource(const proto::Node& node) {
    Stream stream;
    stream.over_indices = true;
    stream.rows = node.op();
    for (const std::string& name : InferNode(node, {})->Names()) At(stream.columns, name) = Cat(node.op(), ".", name);
    return stream;
  }

  void Apply(const proto::Step& step, Terms& columns) {
    std::string term = Salted(StepText(step), step.salt()) + "[";
    for (const std::string& input : step.inputs()) Append(term, At(columns, input), " ");
    term += "]";
    if (step.kernel() == "Call") calls_.push_back(term);
    for (int i = 0; i < step.outputs_size(); ++i) At(columns, step.outputs(i)) = Cat(term, ".", i);
  }

  static Terms Chosen(const proto::Node& node, Terms& columns) {
    Terms chosen;
    for (const Column& column : SchemaOf(node, columns).columns)
      chosen.emplace_back(column.name, At(columns, column.name));
    return chosen;
  }

  static Schema SchemaOf(const proto::Node& node, const Terms& columns) {
    Schema schema;
    for (const auto& [name, term] : columns) schema.columns.push_back({name, ColumnType::Unknown()});
    return *InferNode(node, {schema});
  }

  static std::string FilterText(const proto::Node& node, Terms& columns) {
    std::string text = NodeText(node);
    for (const std::string& name : ExpressionColumns(node.attributes(0).value().expression())) {
      Append(text, " where ", name, " is ", At(columns, name));
    }
    return text;
  }

  const proto::Graph& graph_;
  std::vector<Stream> of_node_;
  std::vector<std::string> calls_;
};

// A random graph whose result is a choice of columns, so that there is something to drop.
proto::Graph RandomChoice(uint64_t seed) {
  proto::Graph graph = RandomGraph(seed);
  const std::vector<std::string> names = ResultSchema(graph)->Names();
  std::vector<std::string> chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (((seed >> i) & 1) != 0) chosen.push_back(names[i]);
  }
  if (chosen.empty()) return graph;
  proto::Node* project = graph.add_nodes();
  project->set_op("project");
  project->add_inputs(static_cast<uint32_t>(graph.nodes_size() - 2));
  project->add_attributes()->set_name("columns");
  *project->mutable_attributes(0)->mutable_value() = StringsValue(chosen);
  EXPECT_TRUE(Canonicalize(graph).ok());
  return graph;
}

// None, each, and all but each.
std::vector<std::vector<std::string>> OffInTurn() {
  std::vector<std::vector<std::string>> offs = {{}};
  for (const Pass& pass : AllPasses()) {
    offs.push_back({pass.name});
    offs.emplace_back();
    for (const Pass& other : AllPasses()) {
      if (other.name != pass.name) offs.back().push_back(other.name);
    }
  }
  return offs;
}

TEST(Passes, OfRandomGraphsKeepTheMeaning) {
  const int graphs = Rounds(800, {.quick = 100, .sanitized = 100});
  int changed = 0;
  for (int seed = 0; seed < graphs; ++seed) {
    const proto::Graph graph = RandomChoice(seed);
    ASSERT_TRUE(Validate(graph).ok()) << Validate(graph) << GraphDump(graph);
    const std::string bytes = SerializeGraph(graph);
    for (const std::vector<std::string>& off : OffInTurn()) {
      absl::StatusOr<Optimized> optimized = Optimize(graph, off);
      ASSERT_TRUE(optimized.ok()) << optimized.status();
      for (const PassTrace& trace : optimized->trace) {
        ASSERT_EQ(trace.problem, "") << trace.name << "\n" << trace.before_text;
        changed += trace.changed ? 1 : 0;
      }
      ASSERT_TRUE(Validate(optimized->graph).ok()) << Validate(optimized->graph) << GraphDump(optimized->graph);
      ASSERT_EQ(Meaning(optimized->graph).OfResult(), Meaning(graph).OfResult()) << GraphDump(graph) << "\nbecame\n"
                                                                                 << GraphDump(optimized->graph);
    }
    ASSERT_EQ(SerializeGraph(graph), bytes);
  }
  EXPECT_GT(changed, graphs);
}

}  // namespace
}  // namespace headrace::ir

#include "ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/printable.h"
#include "core/varint.h"
#include "ir/canonical.h"
#include "ir/dump.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ir/testing/fake_ops.h"
#include "ir/validate.h"

namespace headrace::ir {
namespace {

proto::Graph Example() {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Resize", {"image"}, {"image"}, {{"size", IntValue(256)}});
  builder.Step("Flip", {"image"}, {"image"});
  builder.Step("Call", {"label"}, {"label"}, {{"function", ReferenceValue("train.py:f#0")}});
  builder.Add(
      "filter", {1},
      {{"predicate", ExpressionValue(CallExpression("<", ColumnExpression("label"), LiteralExpression(IntValue(3))))}});
  builder.Add("batch", {2}, {{"size", IntValue(32)}});
  return builder.Canonical();
}

using ::testing::HasSubstr;

std::string Message(const absl::StatusOr<proto::Graph>& graph) { return std::string(graph.status().message()); }

TEST(Graph, SurvivesEachOfItsForms) {
  const proto::Graph graph = Example();
  const std::string bytes = SerializeGraph(graph);
  for (const absl::StatusOr<proto::Graph>& back :
       {ParseGraph(bytes), ParseGraphText(GraphToText(graph)), ParseGraphJson(GraphToJson(graph))}) {
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(SerializeGraph(*back), bytes);
  }
}

// Both are printed, and read again.
TEST(Graph, IsPrintableAsTextAndAsJson) {
  proto::Graph graph = Example();
  for (const char* text :
       {"a\x1B[31m\n\r\t\x7F\\\"'", "\u0085\u009B\u00AD", "\u202Ea\u2066\u2028", "\U0010FFE9\U000E0001"}) {
    *graph.mutable_nodes(0)->add_attributes()->mutable_value() = StringValue(text);
  }
  const std::string printed = GraphToText(graph);
  EXPECT_EQ(PrintableLines(printed), printed);
  const std::string json = GraphToJson(graph);
  EXPECT_EQ(PrintableLines(json), json);
  for (const absl::StatusOr<proto::Graph>& back : {ParseGraphText(printed), ParseGraphJson(json)}) {
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(SerializeGraph(*back), SerializeGraph(graph));
  }
}

TEST(Graph, NamesPrintableLinesOfScripts) {
  proto::Location location;
  location.set_file("a\x1B[31m\n\u202E.py");
  EXPECT_EQ(LocationText(location), "a\\x1b[31m\\n\\u202e.py");
  location.set_line(3);
  EXPECT_EQ(LocationText(location), "a\\x1b[31m\\n\\u202e.py:3");
}

// What explain() and the passes print, one line a node and a step.
TEST(Graph, IsDumpedInPrintableLines) {
  const std::string odd = "a\x1B[31m\n\u202E\U0010FFE9";
  proto::Graph graph = Example();
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const auto before = lines(GraphDump(graph));
  proto::Node& map = *graph.mutable_nodes(1);
  proto::Attribute& attribute = *map.add_attributes();
  attribute.set_name(odd);
  *attribute.mutable_value() = StringsValue({odd});
  map.mutable_steps(0)->set_outputs(0, odd);
  map.mutable_steps(2)->mutable_attributes(0)->mutable_value()->mutable_reference()->set_name(odd);
  graph.mutable_nodes(2)->mutable_attributes(0)->mutable_value()->mutable_expression()->mutable_call()->set_function(
      odd);
  const std::string dump = GraphDump(graph);
  EXPECT_EQ(PrintableLines(dump), dump);
  EXPECT_EQ(lines(dump), before);
  EXPECT_THAT(dump, HasSubstr("a\\x1b[31m\\n\\u202e\\xe9 = Resize(image"));
  const std::string dot = ToDot(graph);
  EXPECT_EQ(PrintableLines(dot), dot);
  for (const std::string& text : {NodeText(map), StepText(map.steps(0)), StepText(map.steps(2))}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Graph, ThatIsDamagedIsRefused) {
  EXPECT_EQ(Message(ParseGraph("")), "the graph is empty: 0 bytes");
  EXPECT_EQ(Message(ParseGraph("\xff\xff\xff")),
            "this is no Headrace graph, or it is damaged: its 3 bytes cannot be decoded");
  const std::string bytes = SerializeGraph(Example());
  EXPECT_FALSE(ParseGraph(bytes.substr(0, bytes.size() - 3)).ok());
  EXPECT_EQ(Message(ParseGraphJson("{]")).substr(0, 46), "this is not the JSON of a Headrace graph: pars");
  EXPECT_EQ(Message(ParseGraphText("format: 2\nnodes { op: 3 }")),
            "this is not the text of a Headrace graph: line 2, column 13: Expected string, got: 3");
  // What cannot be saved as bytes is no graph: protobuf's strings are UTF-8.
  EXPECT_FALSE(ParseGraphText("format: 2\nproducer: \"\\377\"").ok());
}

// What is left of a graph that is cut off between two operators is a graph, too.
TEST(Graph, ThatWasSavedIsReadWholeOrNotAtAll) {
  proto::Graph graph = Example();
  graph.set_producer("headrace 0.1.0");
  graph.mutable_skip_failed()->set_max_errors(3);
  const std::string bytes = SerializeGraph(graph);
  const absl::StatusOr<proto::Graph> whole = ParseSavedGraph(bytes);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->skip_failed().max_errors(), 3U);
  EXPECT_EQ(whole->producer(), "headrace 0.1.0");
  int cut_off = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    const absl::StatusOr<proto::Graph> cut = ParseSavedGraph(bytes.substr(0, length));
    ASSERT_FALSE(cut.ok()) << length;
    EXPECT_EQ(KindOf(cut.status()), ErrorKind::kGraph);
    cut_off += ParseGraph(bytes.substr(0, length)).ok() ? 1 : 0;
  }
  EXPECT_GE(cut_off, graph.nodes_size());
  EXPECT_THAT(Message(ParseSavedGraph(SerializeGraph(Example()))), HasSubstr("the graph is cut off after its "));
}

TEST(Graph, OfANewerFormatSaysToUpgrade) {
  proto::Graph graph = Example();
  graph.set_format(3);
  graph.set_producer("headrace 9.1");
  EXPECT_EQ(Message(ParseGraph(SerializeGraph(graph))),
            "the graph has format 3; this Headrace reads format 2: upgrade Headrace (the graph was made by "
            "headrace 9.1)");
  graph.set_format(1);
  EXPECT_THAT(Message(ParseGraph(SerializeGraph(graph))),
              HasSubstr("format 1, whose operators drew other random numbers"));
  graph.clear_format();
  EXPECT_FALSE(ParseGraph(SerializeGraph(graph)).ok());
}

TEST(Graph, WithANewerOperatorSaysToUpgrade) {
  proto::Graph graph = Example();
  graph.mutable_nodes(1)->mutable_steps(0)->set_version(3);
  EXPECT_EQ(Message(ParseGraph(SerializeGraph(graph))),
            "the graph holds version 3 of Resize; this Headrace knows versions up to 2: upgrade Headrace");
}

template <typename Message>
void AddUnknownField(uint32_t number, Message& message) {
  std::string bytes = message.SerializeAsString();
  PutVarint(bytes, number << 3);
  PutVarint(bytes, 1);
  ASSERT_TRUE(message.ParseFromString(bytes));
}

TEST(Graph, WithAnUnknownFieldAnywhereIsRefused) {
  proto::Graph graph = Example();
  AddUnknownField(99, graph);
  EXPECT_EQ(Message(ParseGraph(SerializeGraph(graph))),
            "field 99 of Graph is not known to this Headrace: the graph is newer (then upgrade Headrace) or damaged");
  graph = Example();
  proto::Value* value = graph.mutable_nodes(1)->mutable_steps(0)->mutable_attributes(0)->mutable_value();
  AddUnknownField(77, *value);
  EXPECT_EQ(Message(ParseGraph(SerializeGraph(graph))).substr(0, 20), "field 77 of Value is");
  EXPECT_NE(Message(ParseGraphJson(R"({"format": 2, "colour": 3})")).find("colour"), std::string::npos);
}

TEST(Graph, WithAFieldOfAnotherTypeIsRefused) {
  // "format: 2", and an op that is a number.
  EXPECT_THAT(Message(ParseGraph(std::string_view("\x08\x02\x12\x02\x08\x07", 6))),
              HasSubstr("field 1 of Node is not known"));
  // A group, which protobuf reads and keeps.
  EXPECT_THAT(Message(ParseGraph("\x08\x02\x9b\x06\x08\x01\x9c\x06")), HasSubstr("field 99 of Graph is not known"));
}

TEST(Graph, MayHoldAnUnknownFieldInWhatALaterFieldReplaces) {
  proto::Graph graph = Example();
  proto::Value value;
  AddUnknownField(77, *value.mutable_reference());
  std::string bytes = value.SerializeAsString();
  value.set_text("replaces it");
  bytes += value.SerializeAsString();
  const auto with_value = [&](const std::string& value_bytes) {
    // "nodes { attributes { value { … } } }"
    std::string whole = value_bytes;
    for (const char tag : {'\x12', '\x22', '\x12'}) {
      std::string outer(1, tag);
      PutVarint(outer, whole.size());
      whole = outer + whole;
    }
    return SerializeGraph(graph) + whole;
  };
  EXPECT_TRUE(ParseGraph(with_value(bytes)).ok());
  value.mutable_reference();
  EXPECT_THAT(Message(ParseGraph(with_value(bytes + std::string("\x52\x03\xe8\x04\x01", 5)))),
              HasSubstr("field 77 of Reference is not known"));
}

TEST(Graph, OfDeepExpressionsIsReadAndOfHostileOnesRefused) {
  const auto nested = [](int depth) {
    proto::Expression expression = ColumnExpression("label");
    for (int i = 0; i < depth; ++i) expression = CallExpression("abs", std::move(expression));
    GraphBuilder builder;
    builder.Add("pictures");
    builder.Add("filter", {0}, {{"predicate", ExpressionValue(std::move(expression))}});
    return SerializeGraph(builder.graph());
  };
  EXPECT_TRUE(ParseGraph(nested(250)).ok());
  EXPECT_FALSE(ParseGraph(nested(5000)).ok());
  // Every form reads what it wrote.
  const proto::Graph graph = *ParseGraph(nested(249));
  for (const absl::StatusOr<proto::Graph>& back :
       {ParseGraphText(GraphToText(graph)), ParseGraphJson(GraphToJson(graph))}) {
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(SerializeGraph(*back), nested(249));
  }
  std::string hostile;
  for (int i = 0; i < 100'000; ++i) hostile += "{\"nodes\": [";
  EXPECT_FALSE(ParseGraphJson(hostile).ok());
  EXPECT_FALSE(ParseGraphJson(std::string(1'000'000, '[')).ok());
  // Each name is not compared with all before it.
  std::string names = R"({"format": 2)";
  for (int i = 0; i < 300'000; ++i) Append(names, ", \"", i, "\": 1");
  EXPECT_THAT(Message(ParseGraphJson(names + "}")), HasSubstr("no field of this name in Graph"));
  std::string open, closed;
  for (int i = 0; i < 2000; ++i) open += R"({"call": {"arguments": [)", closed += "]}}";
  EXPECT_THAT(
      Message(ParseGraphJson(R"({"nodes": [{"attributes": [{"value": {"expression": )" + open + closed + "}}]}]}")),
      HasSubstr("nested too deeply"));
}

TEST(GraphText, IsProtobufsTextFormat) {
  proto::Graph graph;
  graph.set_format(kFormat);
  graph.set_seed(0);
  proto::Node* node = graph.add_nodes();
  node->set_op("grün\x01\n'\\\x7f");
  node->set_salt(std::numeric_limits<uint64_t>::max());
  node->set_grouped(true);
  node->add_inputs(3);
  node->add_inputs(0);
  const auto add = [&](proto::Value value) { *node->add_attributes()->mutable_value() = std::move(value); };
  add(IntsValue({std::numeric_limits<int64_t>::min(), 0}));
  add(FloatsValue({0.1, -0.0, 1e300, 1.0 / 3, 5e-324, 100, INFINITY, -INFINITY, NAN}));
  add(NoneValue());
  EXPECT_EQ(GraphToText(graph),
            "format: 2\nnodes {\n  op: \"grün\\001\\n\\'\\\\\\177\"\n  inputs: 3\n  inputs: 0\n"
            "  attributes {\n    value {\n      integers {\n        values: -9223372036854775808\n        values: 0\n"
            "      }\n    }\n  }\n"
            "  attributes {\n    value {\n      reals {\n        values: 0.1\n        values: -0\n"
            "        values: 1e+300\n        values: 0.33333333333333331\n        values: 4.94065645841247e-324\n"
            "        values: 100\n        values: inf\n        values: -inf\n        values: nan\n"
            "      }\n    }\n  }\n"
            "  attributes {\n    value {\n      none {\n      }\n    }\n  }\n"
            "  salt: 18446744073709551615\n  grouped: true\n}\nseed: 0\n");
}

TEST(GraphText, ReadsOtherSpellings) {
  const absl::StatusOr<proto::Graph> graph = ParseGraphText(
      "# a comment\nformat: 0x2; seed: 07, producer: 'a\\x41\\101' \"\\u00fc\" # and so on\n '\\ud83d\\ude00'\n"
      "nodes: < op : \"map\" grouped: t inputs: [] inputs: [1, 2] inputs: 3\n"
      "  attributes: [{ value { reals { values: [-inf, 1.5f, .5, 3, 1e999] } } }, < value: { none <> } >, {}] >");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->seed(), 7u);
  EXPECT_EQ(graph->producer(), "aAA\u00fc\U0001F600");
  ASSERT_EQ(graph->nodes_size(), 1);
  EXPECT_EQ(graph->nodes(0).inputs_size(), 3);
  EXPECT_TRUE(graph->nodes(0).grouped());
  ASSERT_EQ(graph->nodes(0).attributes_size(), 3);
  const proto::Reals& reals = graph->nodes(0).attributes(0).value().reals();
  EXPECT_EQ(std::vector<double>(reals.values().begin(), reals.values().end()),
            (std::vector<double>{-INFINITY, 1.5, 0.5, 3, INFINITY}));
  EXPECT_TRUE(graph->nodes(0).attributes(1).value().has_none());
}

TEST(GraphText, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](std::string_view text) {
    const std::string message = Message(ParseGraphText(text));
    const std::string_view begin = "this is not the text of a Headrace graph: line ";
    EXPECT_EQ(message.substr(0, begin.size()), begin);
    return message.substr(std::min(message.size(), begin.size()));
  };
  EXPECT_EQ(wrong("format: -1"), "1, column 9: Expected integer, got: -");
  EXPECT_EQ(wrong("format: 4294967296"), "1, column 9: Integer out of range (4294967296)");
  EXPECT_EQ(wrong("format: 2\n\tnodes { colour: 1 }"),
            "2, column 23: Message type \"headrace.ir.proto.Node\" has no field named \"colour\".");
  EXPECT_EQ(wrong("format: 2 format: 2"), "1, column 17: Non-repeated field \"format\" is specified multiple times.");
  EXPECT_EQ(
      wrong("nodes { attributes { value { integer: 1 text: \"\" } } }"),
      "1, column 45: Field \"text\" is specified along with field \"integer\", another member of oneof \"kind\".");
  EXPECT_EQ(wrong("nodes { grouped: 2 }"), "1, column 18: Integer out of range (2)");
  EXPECT_EQ(wrong("nodes { op: \"a\" >"), "1, column 17: Expected \"}\", found \">\".");
  EXPECT_EQ(wrong("nodes { op: \"a\""), "1, column 16: Expected identifier, got: ");
  EXPECT_EQ(wrong("nodes { inputs: [1, ] }"), "1, column 21: Expected integer, got: ]");
  EXPECT_EQ(wrong("producer: \"a"), "1, column 13: the string does not end");
  EXPECT_EQ(wrong("producer: \"\\q\""), "1, column 13: an unknown escape");
  EXPECT_EQ(wrong("producer: '\\ud83d'"), "1, column 11: an escape is half of a surrogate pair");
  EXPECT_EQ(wrong("format: 08"), "1, column 10: a number that begins with 0 is octal");
  EXPECT_EQ(wrong("format: 2\x01"), "1, column 10: a control character outside of a string");
  std::string hostile;
  for (int i = 0; i < 100'000; ++i) hostile += "expression { call { arguments { literal { ";
  EXPECT_THAT(wrong("nodes { attributes { value { " + hostile), HasSubstr("nested too deeply"));
}

TEST(GraphJson, IsProtobufsMapping) {
  proto::Graph graph;
  graph.set_format(kFormat);
  graph.set_seed(0);
  proto::Node* node = graph.add_nodes();
  node->set_op("grün");
  node->set_salt(std::numeric_limits<uint64_t>::max());
  const auto add = [&](proto::Value value) { *node->add_attributes()->mutable_value() = std::move(value); };
  add(IntsValue({std::numeric_limits<int64_t>::min(), 0, (int64_t{1} << 53) + 1}));
  add(FloatsValue({0.1, -0.0, 1e300, 5e-324, INFINITY, -INFINITY}));
  add(NoneValue());
  add(BoolValue(false));
  add(StringsValue({"", "\"\n\u2028"}));
  const std::string json = GraphToJson(graph);
  EXPECT_THAT(json, HasSubstr("\"salt\": \"18446744073709551615\""));
  EXPECT_THAT(json, HasSubstr("\"9007199254740993\""));
  EXPECT_THAT(json, HasSubstr("\"-Infinity\""));
  EXPECT_THAT(json, HasSubstr("\"seed\": \"0\""));
  EXPECT_EQ(SerializeGraph(*ParseGraphJson(json)), SerializeGraph(graph));
}

TEST(GraphJson, ReadsOtherSpellings) {
  const absl::StatusOr<proto::Graph> graph = ParseGraphJson(
      R"({"format": "2", "seed": 7, "producer": null, "nodes": [{"op": "map", "cachePoints": 2.0, "grouped": true,)"
      R"("attributes": [{"value": {"reals": {"values": [1, "0.5", "NaN"]}}}]}]})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->seed(), 7u);
  EXPECT_EQ(graph->nodes(0).cache_points(), 2u);
  EXPECT_EQ(graph->nodes(0).attributes(0).value().reals().values(1), 0.5);
}

TEST(GraphJson, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](std::string_view json) {
    const std::string message = Message(ParseGraphJson(json));
    const std::string_view begin = "this is not the JSON of a Headrace graph: ";
    EXPECT_EQ(message.substr(0, begin.size()), begin);
    return message.substr(std::min(message.size(), begin.size()));
  };
  EXPECT_EQ(wrong("[]"), "expected an object, got array");
  EXPECT_EQ(wrong(R"({"format": -1})"), "format: expected a whole number that fits, got -1");
  EXPECT_EQ(wrong(R"({"format": 4294967296})"), "format: expected a whole number that fits, got 4294967296");
  EXPECT_EQ(wrong(R"({"seed": 1.5})"), "seed: expected a whole number that fits, got 1.5");
  EXPECT_EQ(wrong(R"({"seed": "1x"})"), "seed: expected a whole number that fits, got \"1x\"");
  EXPECT_EQ(wrong(R"({"nodes": {}})"), "nodes: expected a list, got object");
  EXPECT_EQ(wrong(R"({"nodes": [{"colour": 1}]})"), "nodes.colour: no field of this name in Node");
  EXPECT_EQ(wrong(R"({"nodes": [{"grouped": 1}]})"), "nodes.grouped: expected true or false, got 1");
  EXPECT_EQ(wrong(R"({"nodes": [{"attributes": [{"value": {"integer": 1, "text": ""}}]}]})"),
            "nodes.attributes.value.text: a Value is one thing only");
  EXPECT_THAT(wrong("{\"producer\": \"\xff\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(wrong(R"({"format": 2} x)"), HasSubstr("line 1, column 15"));
  EXPECT_EQ(wrong(R"({"seed": 1e999})"), "number overflow parsing '1e999'");
}

TEST(Graph, NamesTheFunctionsItNeeds) {
  EXPECT_EQ(References(Example()), std::vector<std::string>{"train.py:f#0"});
  GraphBuilder builder;
  builder.Add("pictures");
  EXPECT_TRUE(References(builder.graph()).empty());
}

TEST(Graph, IsDumpedForPeople) {
  EXPECT_EQ(GraphDump(Example()),
            "#0  pictures(columns=None)\n"
            "#1  map(#0, workers=None)\n"
            "      image = Resize(image; interpolation='bilinear', size=(256, 256))\n"
            "      image = Flip(image; name=None, probability=0.5, seed=None)  salt 8055669739214727032\n"
            "      label = Call(label; function=<function train.py:f#0>, occurrence=0, ordered=True, random=False)\n"
            "#2  filter(#1, predicate=col(\"label\") < 3)\n"
            "#3  batch(#2, drop_remainder=False, size=32)\n");
  const std::string dot = ToDot(Example());
  EXPECT_NE(dot.find("n0 -> n1;"), std::string::npos);
  EXPECT_NE(dot.find("predicate = col(\\\"label\\\") < 3\\l"), std::string::npos);
}

TEST(GraphHash, IsOfWhatTheGraphComputes) {
  const proto::Graph graph = Example();
  const GraphHash hash = UserGraphHash(graph);
  EXPECT_EQ(HashText(hash).size(), 32u);
  proto::Graph same = graph;
  same.set_producer("headrace 3");
  same.set_seed(7);
  same.mutable_nodes(1)->mutable_location()->set_line(99);
  same.mutable_nodes(1)->mutable_steps(1)->clear_location();
  *same.mutable_nodes(1)->mutable_attributes(0)->mutable_value() = IntValue(4);  // workers
  EXPECT_EQ(UserGraphHash(same), hash);

  proto::Graph other = graph;
  *other.mutable_nodes(3)->mutable_attributes(1)->mutable_value() = IntValue(33);  // batch size
  EXPECT_NE(UserGraphHash(other), hash);
  other = graph;
  other.mutable_nodes(1)->mutable_steps(1)->set_salt(2);
  EXPECT_NE(UserGraphHash(other), hash);
  other = graph;
  other.mutable_nodes(3)->set_inputs(0, 1);
  EXPECT_NE(UserGraphHash(other), hash);
}

TEST(GraphHash, IsTheSameForChoicesOfTheSameResults) {
  RequireRegistered(Registry::Global().Register({.name = "decode with a choice",
                                                 .role = Role::kSource,
                                                 .attributes = {{.name = "decoder",
                                                                 .type = AttributeType::kString,
                                                                 .choices = {"any", "slow", "other"},
                                                                 .hashed_as = {{"slow", "any"}}}}}));
  const auto decoded = [](std::string_view decoder, std::string_view other) {
    proto::Graph graph;
    proto::Node& node = *graph.add_nodes();
    node.set_op("decode with a choice");
    for (const auto& [name, value] : {std::pair("decoder", decoder), std::pair("other", other)}) {
      proto::Attribute& attribute = *node.add_attributes();
      attribute.set_name(name);
      *attribute.mutable_value() = StringValue(value);
    }
    return graph;
  };
  EXPECT_EQ(UserGraphHash(decoded("slow", "x")), UserGraphHash(decoded("any", "x")));
  EXPECT_EQ(NodeHashes(decoded("slow", "x")), NodeHashes(decoded("any", "x")));
  EXPECT_NE(UserGraphHash(decoded("other", "x")), UserGraphHash(decoded("any", "x")));
  proto::Step step;
  step.set_kernel("decode with a choice");
  *step.mutable_attributes() = decoded("slow", "x").nodes(0).attributes();
  step.set_user_node(3);
  EXPECT_EQ(BareStep(step).attributes(0).value().text(), "any");
  EXPECT_EQ(BareStep(step).attributes(1).value().text(), "x");
  EXPECT_EQ(BareStep(step).user_node(), 0);
  // The attribute's own choices alone.
  EXPECT_NE(UserGraphHash(decoded("any", "slow")), UserGraphHash(decoded("any", "any")));
}

// States that users keep name their graph by this: it may not change from version to version.
TEST(GraphHash, IsTheSameInEveryVersion) {
  GraphBuilder builder;
  builder.Add("numbers", {}, {{"stop", IntValue(100)}});
  builder.Add("shuffle", {0}, {{"window", IntValue(10)}});
  EXPECT_EQ(HashText(UserGraphHash(builder.Canonical())), "12964135d11857aaf2bf4c755d6255dc");
}

TEST(Canonical, WritesOutDefaultsSortedAndTyped) {
  const proto::Graph graph = Example();
  const proto::Step& resize = graph.nodes(1).steps(0);
  EXPECT_EQ(StepText(resize), "Resize(interpolation='bilinear', size=(256, 256))");
  EXPECT_EQ(resize.version(), 2u);
  EXPECT_EQ(graph.nodes(0).version(), 1u);
}

TEST(Canonical, UpgradesOlderVersions) {
  GraphBuilder builder;
  builder.Add("pictures");
  builder.Add("map", {0});
  builder.Step("Resize", {"image"}, {"image"}, {{"size", IntValue(8)}, {"mode", StringValue("nearest")}});
  builder.graph().mutable_nodes(1)->mutable_steps(0)->set_version(1);
  EXPECT_EQ(StepText(builder.Canonical().nodes(1).steps(0)), "Resize(interpolation='nearest', size=(8, 8))");
  EXPECT_TRUE(Validate(builder.Canonical()).ok());
}

TEST(Canonical, OfRandomGraphsIsStableThroughEveryForm) {
  constexpr int kGraphs = 300;
  for (int seed = 0; seed < kGraphs; ++seed) {
    const proto::Graph graph = RandomGraph(seed);
    ASSERT_TRUE(Validate(graph).ok()) << Validate(graph) << GraphDump(graph);
    const std::string bytes = SerializeGraph(graph);
    absl::StatusOr<proto::Graph> back = ParseGraph(bytes);
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_TRUE(Canonicalize(*back).ok());
    ASSERT_EQ(SerializeGraph(*back), bytes) << GraphDump(graph);
    ASSERT_EQ(UserGraphHash(*back), UserGraphHash(graph));
    absl::StatusOr<proto::Graph> json = ParseGraphJson(GraphToJson(graph));
    ASSERT_TRUE(json.ok()) << json.status();
    ASSERT_EQ(SerializeGraph(*json), bytes);
  }
}

}  // namespace
}  // namespace headrace::ir

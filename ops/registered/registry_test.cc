// Holds for every operator that is declared: it is documented, has an example, and survives the ways a graph is
// written. A new one fails here until it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/operator/operator.h"
#include "ir/canonical.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_hash.h"
#include "ops/testing/graph_builder.h"

namespace headrace {
namespace {

using ::testing::MatchesRegex;

bool ForTestsAlone(const ir::Declaration& declaration) { return declaration.python_module == "test"; }

std::vector<const ir::Declaration*> Operators() {
  std::vector<const ir::Declaration*> operators;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    const bool kernel = declaration->role == ir::Role::kKernel;
    if (!kernel && !ForTestsAlone(*declaration)) operators.push_back(declaration);
  }
  return operators;
}

bool IsSentence(const std::string& text) { return text.size() > 5 && (text.back() == '.' || text.back() == ')'); }

// Some value of the type, to have one where there is no default.
ir::proto::Value SomeValue(const ir::Attribute& attribute) {
  switch (attribute.type) {
    case ir::AttributeType::kBool:
      return ir::BoolValue(true);
    case ir::AttributeType::kInt:
      return ir::IntValue(3);
    case ir::AttributeType::kFloat:
      return ir::FloatValue(0.1);
    case ir::AttributeType::kString:
      return ir::StringValue("gr\u00fcn \"quoted\"\n");
    case ir::AttributeType::kInts:
      return ir::IntsValue({-1, int64_t{1} << 60});
    case ir::AttributeType::kFloats:
      return ir::FloatsValue({0.1, 1e300, -1.0 / 3});
    case ir::AttributeType::kStrings:
      return ir::StringsValue({"", "b"});
    case ir::AttributeType::kDType:
      return ir::StringValue("bfloat16");
    case ir::AttributeType::kPairs:
      return ir::PairsValue({{"b", "1"}, {"a", "2"}});
    case ir::AttributeType::kExpression: {
      ir::proto::Expression column;
      column.set_column("label");
      return ir::ExpressionValue(column);
    }
    case ir::AttributeType::kColumns:
      return ir::ColumnsValue({{{"x", ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim, 3})}}});
    case ir::AttributeType::kReference:
      return ir::ReferenceValue("train.py:f#0");
  }
  return ir::NoneValue();
}

// A canonical graph that holds the operator with every attribute set, defaults aside.
ir::proto::Graph GraphWith(const ir::Declaration& declaration) {
  GraphBuilder::Given attributes;
  for (const ir::Attribute& attribute : declaration.attributes) {
    if (!attribute.default_value.has_value()) attributes.push_back({attribute.name, SomeValue(attribute)});
  }
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", ir::IntValue(3)}});
  if (declaration.role == ir::Role::kKernel) {
    builder.Add("map", {0});
    builder.Step(declaration.name, {"value"}, {"value"}, attributes);
  } else {
    builder.Add(declaration.name, std::vector<uint32_t>(declaration.min_inputs, 0), attributes);
  }
  ir::proto::Graph graph = builder.raw();
  const absl::Status status = ir::Canonicalize(graph);
  EXPECT_TRUE(status.ok()) << declaration.name << ": " << status;
  return graph;
}

void ExpectSame(const ir::proto::Graph& graph, absl::StatusOr<ir::proto::Graph> other, const std::string& how) {
  ASSERT_TRUE(other.ok()) << how << ": " << other.status();
  ASSERT_TRUE(ir::Canonicalize(*other).ok()) << how;
  EXPECT_EQ(ir::SerializeGraph(*other), ir::SerializeGraph(graph)) << how;
  EXPECT_EQ(ir::HashText(ir::UserGraphHash(*other)), ir::HashText(ir::UserGraphHash(graph))) << how;
}

TEST(Registry, HasTheOperators) { EXPECT_GE(Operators().size(), 18u) << "are they linked in?"; }

TEST(Registry, EveryOperatorIsDocumented) {
  for (const ir::Declaration* declaration : Operators()) {
    EXPECT_TRUE(IsSentence(declaration->summary)) << declaration->name << ": " << declaration->summary;
    EXPECT_TRUE(IsSentence(declaration->doc)) << declaration->name << ": " << declaration->doc;
    for (const ir::Attribute& attribute : declaration->attributes) {
      EXPECT_TRUE(IsSentence(attribute.doc)) << declaration->name << ", " << attribute.name << ": " << attribute.doc;
    }
  }
}

bool IsList(ir::AttributeType type) {
  return type == ir::AttributeType::kInts || type == ir::AttributeType::kFloats || type == ir::AttributeType::kStrings;
}

TEST(Registry, EveryListSaysHowManyElementsItMayHave) {
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    for (const ir::Attribute& attribute : declaration->attributes) {
      if (!IsList(attribute.type)) continue;
      EXPECT_TRUE(attribute.length.has_value() != !attribute.lengths.empty())
          << declaration->name << ", " << attribute.name << " needs `lengths` or `length`";
    }
  }
}

TEST(Registry, EveryOperatorHasAnExample) {
  for (const ir::Declaration* declaration : Operators()) {
    // Users do not call these.
    if (declaration->python_module == "internal") continue;
    const bool source = declaration->role == ir::Role::kSource;
    const bool sampler = declaration->python_module == "samplers";
    const bool function = declaration->python_module == "functions";
    const std::string_view module = source ? "" : sampler ? "samplers" : function ? "functions" : "dataset";
    EXPECT_EQ(declaration->python_module, module) << declaration->name;
    const std::string_view before = source || function ? "hr\\." : sampler ? "ds\\.sample\\(hr\\." : "ds\\.";
    const std::string call = Cat(before, declaration->name, "\\(.*\\)");
    EXPECT_THAT(declaration->example, MatchesRegex(Cat(call, ".*"))) << declaration->name;
  }
}

TEST(Registry, EveryOperatorCanBeMade) {
  for (const ir::Declaration* declaration : Operators()) {
    const OpFactories* factories = FindOp(declaration->name);
    ASSERT_NE(factories, nullptr) << declaration->name;
    const int ways = (factories->indexed_source ? 1 : 0) + (factories->stream_source ? 1 : 0) +
                     (factories->row ? 1 : 0) + (factories->stream ? 1 : 0);
    const auto indexes = [](const ir::Attribute& attribute) { return attribute.indexes; };
    const bool either = std::any_of(declaration->attributes.begin(), declaration->attributes.end(), indexes);
    EXPECT_EQ(either, factories->indexed_source && factories->stream_source) << declaration->name;
    // Orders act on indices alone.
    const bool order = factories->indexed && ways == 0;
    EXPECT_EQ(ways, order ? 0 : either ? 2 : 1) << declaration->name;
    EXPECT_EQ(declaration->traits.indexed || either, factories->indexed_source || factories->indexed)
        << declaration->name;
    EXPECT_EQ(declaration->role == ir::Role::kSource, factories->indexed_source || factories->stream_source)
        << declaration->name;
    EXPECT_EQ(declaration->role == ir::Role::kRow, static_cast<bool>(factories->row)) << declaration->name;
  }
}

TEST(Registry, EveryOperatorAndKernelSurvivesWriting) {
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    SCOPED_TRACE(declaration->name);
    const ir::proto::Graph graph = GraphWith(*declaration);
    ExpectSame(graph, ir::ParseGraph(ir::SerializeGraph(graph)), "bytes");
    ExpectSame(graph, ir::ParseGraphText(ir::GraphToText(graph)), "text");
    ExpectSame(graph, ir::ParseGraphJson(ir::GraphToJson(graph)), "JSON");
    const auto attributes = graph.nodes(1).op() == ir::kMapOp && declaration->role == ir::Role::kKernel
                                ? graph.nodes(1).steps(0).attributes_size()
                                : graph.nodes(1).attributes_size();
    EXPECT_EQ(static_cast<size_t>(attributes), declaration->attributes.size()) << "defaults are written out";
  }
}

}  // namespace
}  // namespace headrace

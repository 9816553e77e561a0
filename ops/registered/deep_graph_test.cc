// The deepest graph that validation lets through fits on a small stack, whatever walks it.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>

#include "engine/report/explain.h"
#include "ir/expression.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/graph_depth.h"
#include "ops/testing/graph_builder.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::IntValue;

#ifdef HEADRACE_SANITIZER
constexpr size_t kStack = size_t{8} << 20;
#else
constexpr size_t kStack = size_t{1} << 20;
#endif

void RunOnSmallStack(std::function<void()> body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  pthread_t thread;
  const auto run = [](void* given) -> void* {
    (*static_cast<std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

GraphBuilder Chain(std::string_view op, const GraphBuilder::Given& attributes) {
  GraphBuilder builder;
  uint32_t top = builder.Add("Range", {}, {{"stop", IntValue(5)}});
  top = builder.Add("shuffle", {top}, {{"window", IntValue(2)}});
  for (int i = 2; i < ir::kDeepestGraph; ++i) top = builder.Add(op, {top}, attributes);
  return builder;
}

void LoadAndRun(const GraphBuilder& builder, const std::string& even = "pad") {
  const std::string bytes = ir::SerializeGraph(*builder.Build());
  RunOnSmallStack([&] {
    const absl::StatusOr<ir::proto::Graph> graph = ir::ParseGraph(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const bool pull : {false, true}) {
      IterateOptions options;
      options.pull = pull;
      options.even = even;
      EXPECT_EQ(ReadAll(Iteration::Start(*graph, std::move(options)), 100), absl::OkStatus());
    }
    EXPECT_TRUE(ExplainGraph(*graph, {}, /*passes=*/true).ok());
  });
}

TEST(DeepGraph, OfStreamOperatorsRunsOnASmallStack) { LoadAndRun(Chain("take", {{"count", IntValue(9)}})); }
TEST(DeepGraph, OfRowOperatorsRunsOnASmallStack) {
  LoadAndRun(Chain("project", {{"columns", ir::StringsValue({"value"})}}));
}
TEST(DeepGraph, OfRepeatsRunsOnASmallStack) { LoadAndRun(Chain("repeat", {{"count", IntValue(1)}})); }
TEST(DeepGraph, OfMapsRunsOnASmallStack) { LoadAndRun(Chain("map", {})); }

TEST(DeepGraph, OfADeepExpressionRunsOnASmallStack) {
  ir::proto::Expression expression = ir::ColumnExpression("value");
  for (int i = 2; i < ir::kDeepestExpression; ++i) expression = ir::CallExpression("abs", std::move(expression));
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(5)}});
  builder.Add("filter", {0},
              {{"predicate", ir::ExpressionValue(
                                 ir::CallExpression("<", std::move(expression), ir::LiteralExpression(IntValue(3))))}});
  LoadAndRun(builder, "off");
}

}  // namespace
}  // namespace headrace

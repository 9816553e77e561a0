// Fuzzes states: any numbers with the right names, hashes and checksum, for a few pipelines; and any bytes as a state.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/testing/require.h"
#include "engine/exec/sealed_state.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/graph_builder.h"
#include "ops/testing/state_run.h"

namespace headrace {
namespace {

using ir::IntValue;

constexpr int kRowsBefore = 2;
constexpr int kMostRows = 100;
// Counters such as "a million rows were used of this message" cause long work, which ends when it is asked to.
constexpr auto kPatience = std::chrono::milliseconds(50);

struct Case {
  ir::proto::Graph graph;
  proto::State state;
};

class Cases {
 public:
  Cases() {
    const uint32_t range = Range(false);
    uint32_t top = builder_.Add("take", {builder_.Add("unbatch", {Batch(range)})}, {{"count", IntValue(9)}});
    End(builder_.Add("batch", {top}, {{"size", IntValue(2)}}));
    top = builder_.Add("skip", {builder_.Add("shuffle", {Range(true)}, {{"window", IntValue(4)}})},
                       {{"count", IntValue(3)}});
    End(builder_.Add("repeat", {top}, {{"count", IntValue(2)}}));
    top = builder_.Add("take", {builder_.Add("repeat", {Range(true)})}, {{"count", IntValue(3)}});
    End(builder_.Add("take", {builder_.Add("repeat", {top})}, {{"count", IntValue(50)}}));
    const uint32_t other =
        builder_.Add("rename", {Even(Range(false))}, {{"mapping", ir::PairsValue({{"value", "b"}})}});
    End(Batch(builder_.Add("zip", {Even(Range(true)), other})));
    End(builder_.Add("cache", {builder_.Add("concat", {Even(Range(false)), builder_.Add("shuffle", {Range(false)},
                                                                                        {{"window", IntValue(5)}})})}));
    End(Batch(Range(true)));
    top = builder_.Add("test_fail", {Range(true)}, {{"values", ir::IntsValue({3, 4, 12})}});
    top = builder_.Add("unbatch", {Batch(builder_.Add("shuffle", {top}, {{"window", IntValue(4)}}))});
    builder_.SkipFailed(9);
    End(builder_.Add("repeat", {builder_.Add("test_fail", {top}, {{"values", ir::IntsValue({7})}})},
                     {{"count", IntValue(3)}}));
    top = builder_.Add("select", {Range(true)}, {{"indices", ir::IntsValue({3, 3, 19, 0, 7, 3})}});
    End(Batch(builder_.Add("take", {top}, {{"count", IntValue(5)}})));
    const uint32_t window = builder_.Add("shuffle", {Range(false)}, {{"window", IntValue(5)}});
    for (const char* const stop : {"first", "all", "repeat"}) {
      const bool indexed = stop == std::string_view("repeat");
      End(Batch(builder_.Add("mix", {indexed ? Range(true) : Even(Range(false)), indexed ? Range(false) : window},
                             {{"weights", ir::FloatsValue({2, 1})}, {"stop", ir::StringValue(stop)}})));
    }
    folder_.Write("a", "one\ntwo\n\nfour\n");
    folder_.Write("b", "five");
    End(builder_.Add("Text", {}, {{"patterns", ir::StringsValue({folder_ / "a", folder_ / "b"})}}));
  }

  const Case& operator[](size_t number) const { return cases_[number % cases_.size()]; }

 private:
  uint32_t Range(bool shuffle) {
    return builder_.Add("Range", {}, {{"stop", IntValue(20)}, {"shuffle", ir::BoolValue(shuffle)}});
  }
  uint32_t Batch(uint32_t input) { return builder_.Add("batch", {input}, {{"size", IntValue(3)}}); }
  uint32_t Even(uint32_t input) {
    const auto rest = ir::CallExpression("%", ir::ColumnExpression("value"), ir::LiteralExpression(IntValue(2)));
    return builder_.Add(
        "filter", {input},
        {{"predicate", ir::ExpressionValue(ir::CallExpression("==", rest, ir::LiteralExpression(IntValue(0))))}});
  }
  void End(uint32_t /*top*/) {
    const absl::StatusOr<ir::proto::Graph> graph = builder_.Build();
    Require(graph.ok(), "the graphs are valid");
    cases_.push_back({*graph, StateAfter(*graph, kRowsBefore)});
    builder_ = GraphBuilder();
  }

  TemporaryFolder folder_;
  GraphBuilder builder_;
  std::vector<Case> cases_;
};

// The case with the counters of the input.
proto::State Changed(const proto::State& state, const proto::State& input) {
  proto::State changed = input;
  changed.set_graph_high(state.graph_high());
  changed.set_graph_low(state.graph_low());
  *changed.mutable_nodes() = state.nodes();
  *changed.mutable_sources() = state.sources();
  changed.set_layout(state.layout());
  changed.set_even(state.even());
  while (changed.checkpoint_size() > state.checkpoint_size()) changed.mutable_checkpoint()->RemoveLast();
  while (changed.checkpoint_size() < state.checkpoint_size()) changed.add_checkpoint(0);
  return changed;
}

void Run(std::string_view input) {
  static const Cases cases;
  OpenState(input).IgnoreError();
  proto::State numbers;
  if (input.size() < 2 || !numbers.ParseFromString(std::string(input.substr(2)))) return;
  const Case& chosen = cases[static_cast<uint8_t>(input[0])];
  IterateOptions options = FromState(Changed(chosen.state, numbers));
  options.world = 1 + static_cast<uint8_t>(input[1]) % 3;
  options.rank = static_cast<uint8_t>(input[1]) / 3 % options.world;
  ReadAll(Iteration::Start(chosen.graph, std::move(options)), kMostRows, kPatience).IgnoreError();
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headrace::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}

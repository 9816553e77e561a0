// Measures one hop through a Connector: one item at a time and in runs, on one thread and between two. "Time" is wall
// time for one item.
#include <array>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "engine/exec/connector.h"

namespace headrace {
namespace {

struct Number {
  int64_t value = 0;
};

// About as large as a message's own struct, so that moving it counts.
struct Message {
  int64_t value = 0;
  std::array<int64_t, 31> rest = {};
};

template <typename Item>
using Run = std::vector<std::pair<Item, int64_t>>;

template <typename Item>
void OneThread(benchmark::State& state) {
  Connector<Item> connector(static_cast<int>(state.range(0)));
  int64_t sum = 0;
  for (auto _ : state) {
    const uint64_t number = *connector.Take();
    connector.Push(number, Item{static_cast<int64_t>(number)}, 8);
    sum += connector.Pop()->value;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_TEMPLATE(OneThread, Number)->ArgName("window")->Arg(1)->Arg(16);
BENCHMARK_TEMPLATE(OneThread, Message)->ArgName("window")->Arg(16);

template <typename Item>
void OneThreadInRuns(benchmark::State& state) {
  const int length = static_cast<int>(state.range(0));
  Connector<Item> connector(2 * length);
  Run<Item> run;
  std::vector<Item> popped;
  int64_t sum = 0;
  while (state.KeepRunningBatch(length)) {
    int taken = 0;
    const uint64_t first = *connector.TryTake(length, taken);
    run.clear();
    for (int i = 0; i < taken; ++i) run.emplace_back(Item{static_cast<int64_t>(first) + i}, 8);
    connector.PushRun(first, run);
    popped.clear();
    bool was_full = false;
    connector.TryPopRun(length, popped, was_full);
    sum += popped.back().value;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_TEMPLATE(OneThreadInRuns, Number)->ArgName("run")->Arg(8)->Arg(64);
BENCHMARK_TEMPLATE(OneThreadInRuns, Message)->ArgName("run")->Arg(64);

// Producers take the next number whenever there is a slot; this thread pops. Ends by closing.
template <typename Item>
void Throughput(benchmark::State& state) {
  Connector<Item> connector(static_cast<int>(state.range(0)));
  std::vector<std::thread> producers;
  for (int64_t i = 0; i < state.range(1); ++i) {
    producers.emplace_back([&connector] {
      while (const std::optional<uint64_t> number = connector.Take()) {
        connector.Push(*number, Item{static_cast<int64_t>(*number)}, 8);
      }
    });
  }
  int64_t expected = 0;
  for (auto _ : state) {
    const std::optional<Item> item = connector.Pop();
    if (item->value != expected++) state.SkipWithError("out of order");
  }
  connector.Close();
  for (std::thread& producer : producers) producer.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_TEMPLATE(Throughput, Number)
    ->ArgNames({"window", "producers"})
    ->Args({2, 1})
    ->Args({16, 1})
    ->Args({256, 1})
    ->Args({256, 2})
    ->UseRealTime();
BENCHMARK_TEMPLATE(Throughput, Message)->ArgNames({"window", "producers"})->Args({256, 1})->UseRealTime();

// There and back: two connectors with one slot each, so that every item waits for the other thread.
void PingPong(benchmark::State& state) {
  Connector<Number> there(1);
  Connector<Number> back(1);
  std::thread other([&there, &back] {
    while (std::optional<Number> item = there.Pop()) {
      const std::optional<uint64_t> number = back.Take();
      if (!number) return;
      back.Push(*number, *item);
    }
  });
  for (auto _ : state) {
    const uint64_t number = *there.Take();
    there.Push(number, Number{static_cast<int64_t>(number)});
    benchmark::DoNotOptimize(back.Pop()->value);
  }
  there.Close();
  back.Close();
  other.join();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PingPong)->UseRealTime();

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();

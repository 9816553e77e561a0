// The fake operators are small operators for the engine's own tests; functions here make graphs of them, and `Probe`
// records what they did. Every row has the column `value` (int64), and `data` (uint8, filled with the value's low byte)
// if the source was given `bytes`.
//
//   fake_count(rows, bytes, io, grows, run)
//                                          indexed source: the value is the position; its epochs begin and have `grows`
//                                          more rows each, if that is not 0; rows stay together in runs of `run`
//   fake_stream(rows, python, fail_start, fail, goes_on)
//                                          the same as a stream source; its start fails, or the value `fail`, and a
//                                          read after that aborts the process, unless it goes on after the value
//   fake_work(cost, steady, fail, python, copy, lent, light, probe, hold)
//                                          row operator: takes up to `cost` µs (all of it if `steady`), fails the
//                                          values in `fail`, makes its data anew if `copy` (in memory that is not the
//                                          engine's if `lent`), waits at the value `hold` until the probe is released
//   fake_drop(modulus)                     drops multiples of `modulus`; leaves empty blocks
//   fake_split()                           value v becomes v·8 + i for i < v mod 4, each a part
//   fake_window(rows, growth)              holds this many rows (and `growth` more in each epoch), gives them in order
//   fake_take(count)                       the first rows of an epoch; then calls FinishEpoch
//   fake_repeat(count)                     `count` passes over its input in an epoch
//   fake_pair()                            two inputs, a·1000 + b; ends with the shorter one
//   fake_group(rows)                       several rows a message
//   fake_mixed()                           says that it passes rows on one to one, in another order
//   fake_joined(rows)                      as fake_group, and says that it joins them
//   fake_tap(probe)                        passes all on and records end-of-epoch markers
//
// Threads: probes from any thread; the rest by the test's.
#ifndef HEADRACE_ENGINE_TESTING_FAKE_OPS_H_
#define HEADRACE_ENGINE_TESTING_FAKE_OPS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace {

class Probe {
 public:
  // Made on first use, kept for the process.
  static Probe& At(int64_t number);
  void Reset();

  // `run` is called in every task that enters from now on. Call this while nothing runs.
  void OnEnter(std::function<void()> run) { on_enter_ = std::move(run); }
  void Enter(uint64_t epoch);
  void Leave() { running_.fetch_sub(1); }
  int running() const { return running_.load(); }
  int widest() const { return widest_.load(); }
  int64_t rows() const { return rows_.load(); }
  // The latest epoch of which a row was seen; -1: none.
  int64_t latest_epoch() const { return latest_epoch_.load(); }

  void WaitForRelease();
  bool held() const { return held_.load(); }
  void Release();

  void CountMark(uint64_t epoch);
  std::vector<uint64_t> marks();

 private:
  std::atomic<int> running_{0};
  std::atomic<int> widest_{0};
  std::atomic<int64_t> rows_{0};
  std::atomic<int64_t> latest_epoch_{-1};
  std::atomic<bool> held_{false};
  std::function<void()> on_enter_;
  std::mutex mutex_;
  std::condition_variable released_;
  bool open_ = false;
  std::vector<uint64_t> marks_;
};

// The most bytes that fake_work had lent at once since the last call.
int64_t TakeMostLent();

class FakeGraph {
 public:
  using Given = std::vector<std::pair<std::string, ir::proto::Value>>;
  // Adds a node and returns its number; its line in "test.py" is that number plus one. Without inputs, it is on top of
  // the node before, unless it is a source.
  uint32_t Add(std::string_view op, const Given& attributes = {}, std::vector<uint32_t> inputs = {});
  // The canonical graph; aborts if it is not valid.
  ir::proto::Graph Build() const;
  // For failure messages.
  std::string Text() const { return ir::GraphToText(graph_); }

 private:
  ir::proto::Graph graph_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_FAKE_OPS_H_

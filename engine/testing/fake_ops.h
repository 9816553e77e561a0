// Small operators for the engine's own tests, graphs of them, and probes that say what they did. Every row has the
// column `value` (int64); `data` (uint8, filled with the value's low byte) is there where the source was asked for it.
//
//   fake_count(rows, bytes, io)            indexed source: the value is the position
//   fake_stream(rows, python, fail_start, fail)
//                                          the same as a stream source; its start fails, or the value `fail`, and the
//                                          process dies where it is read from after that
//   fake_work(cost, steady, fail, python, copy, lent, light, probe, hold)
//                                          row operator: takes up to `cost` µs (all of it where `steady`), fails the
//                                          values in `fail`, makes its data anew where `copy` is set (in memory that
//                                          is not the engine's where `lent`), waits at the value `hold` until the
//                                          probe lets go
//   fake_drop(modulus)                     drops values that it divides; leaves empty blocks behind
//   fake_split()                           value v becomes v·8 + i for i < v mod 4, each a part
//   fake_window(rows, growth)              holds this many rows (and `growth` more in each epoch), gives them in order
//   fake_take(count)                       the first rows of an epoch; asks for its end
//   fake_repeat(count)                     passes
//   fake_pair()                            two inputs, a·1000 + b; ends with the shorter one
//   fake_group(rows)                       several rows a message
//   fake_tap(probe)                        passes all on and counts the marks
//
// Thread contract: probes from any thread; the rest by the test's.
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

#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace {

class Probe {
 public:
  // Made on first use, kept for the process.
  static Probe& At(int64_t number);
  void Reset();

  // Runs inside every task that enters from now on. Not while anything runs.
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
  // The number of the node; its line in "test.py" is that number plus one. Without inputs: on top of the node before,
  // if it is no source.
  uint32_t Add(std::string_view op, const Given& attributes = {}, std::vector<uint32_t> inputs = {});
  // Canonical; dies where it is not valid.
  ir::proto::Graph Build() const;
  // For messages.
  std::string Text() const { return graph_.ShortDebugString(); }

 private:
  ir::proto::Graph graph_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_TESTING_FAKE_OPS_H_

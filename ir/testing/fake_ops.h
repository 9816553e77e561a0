// `DeclareFakeOps` declares small operators for the tests of this room, and `GraphBuilder` makes graphs of them.
// Threads: one.
#ifndef HEADRACE_IR_TESTING_FAKE_OPS_H_
#define HEADRACE_IR_TESTING_FAKE_OPS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/branches.h"
#include "ir/graph.pb.h"
#include "ir/value.h"

namespace headrace::ir {

// Declares, once per process: pictures(columns=), which gives image, label, path, big; fixed, which gives image, label,
// at most 3 rows; numbers(stop), which gives value, square; encoded, which gives image (bytes), label; map,
// batch(size), shuffle(window), take(count), skip(count), project(columns), rename(mapping), filter(predicate), zip,
// split (one to many), same (two inputs of the same columns). Kernels: Decode, Resize(size, interpolation),
// Flip(probability), Negate, Join, Beside and Pile (of any number), which keep classes, Call(ordered) (Python).
// Choosers: Perhaps(p) of one branch, Either and AnyOrder.
void DeclareFakeOps();

// Builds graphs node by node; lines of "train.py" count from 1.
class GraphBuilder {
 public:
  using Given = std::vector<std::pair<std::string, proto::Value>>;

  GraphBuilder();
  // Returns the node's id.
  uint32_t Add(std::string_view op, std::vector<uint32_t> inputs = {}, const Given& attributes = {});
  // Adds a step to the last node, which should be a map.
  GraphBuilder& Step(std::string_view kernel, std::vector<std::string> inputs, std::vector<std::string> outputs,
                     const Given& attributes = {}, uint32_t group = 0);
  // Begins a branch of the last step, which further steps are added to until End.
  GraphBuilder& Branch();
  GraphBuilder& End();
  proto::Graph& graph() { return graph_; }
  // The canonical graph; aborts if there is none.
  proto::Graph Canonical() const;

 private:
  Steps& LastSteps();

  proto::Graph graph_;
  std::vector<proto::Branch*> open_;
  int line_ = 0;
};

// Any valid canonical graph of the fake ops, a function of `seed`.
proto::Graph RandomGraph(uint64_t seed);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_TESTING_FAKE_OPS_H_

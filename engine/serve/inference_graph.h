// `InferenceGraph` is the preprocessing of one request, as a graph says it: a source `Input`, whose columns are given
// with each call, then maps and operators that choose or name columns. It draws nothing, reads no files, calls no user
// function and starts no thread, so the same inputs give the same bits in every process.
// Threads: immutable once made; any thread calls it, any number of threads at once, without a lock.
#ifndef HEADRACE_ENGINE_SERVE_INFERENCE_GRAPH_H_
#define HEADRACE_ENGINE_SERVE_INFERENCE_GRAPH_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "engine/serve/kernel_chain.h"
#include "ir/messages.h"
#include "ir/type.h"

namespace headrace {

// What one step made of an input.
struct StepResult {
  std::string step;    // "map[1] Resize"
  std::string column;  // that it wrote, under the name that it has there
  Tensor value;
};

class InferenceGraph {
 public:
  // kGraph, with the step and its line: an operator that takes rows together or changes their number, a step that
  // draws, calls Python, reads files or parameters, or works on whole batches; and all that Validate finds.
  static absl::StatusOr<std::shared_ptr<const InferenceGraph>> Make(const ir::proto::Graph& graph);
  // The same of bytes as `ds.save()` writes them.
  static absl::StatusOr<std::shared_ptr<const InferenceGraph>> Parse(std::string_view bytes);

  // As `Input` declares them: a dtype that is not known takes any, and so do dimensions of ir::kUnknownDim.
  const std::vector<ir::Column>& inputs() const { return inputs_; }
  // What is not known before a call is kUnknown, kUnknownDim, or no shape at all.
  const std::vector<ir::Column>& outputs() const { return outputs_; }
  // Names the graph: ir::UserGraphHash as text.
  const std::string& hash() const { return hash_; }

  // One request. `inputs`: one value an input, in the order of inputs(), whose memory is viewed until the call ends, or
  // longer by a result that is a view of it. `slots`: none, or for each output a tensor over memory of the caller's,
  // which no input shares: the output is written there, and is returned as a view of it.
  // Errors: kGraph for another number of inputs or slots, and a slot that is not row-major; kData for an input that is
  // damaged, of another type, or not what a kernel takes, and for a slot of another dtype or shape than its output;
  // kResource if there is no memory. An error of one input or output, not of a step, names it
  // (engine/serve/column_error.h). An error leaves slots with any contents.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs,
                                          absl::Span<const std::optional<Tensor>> slots = {}) const;
  // What each step writes, run alone and in order. The last values of the outputs have the bits of Run.
  absl::StatusOr<std::vector<StepResult>> Trace(absl::Span<const Tensor> inputs) const;

 private:
  InferenceGraph() = default;
  static absl::StatusOr<std::shared_ptr<const InferenceGraph>> MadeOf(const ir::proto::Graph& graph);

  absl::Status CheckInputs(absl::Span<const Tensor> inputs) const;
  absl::StatusOr<std::vector<Tensor>> RunRequest(absl::Span<const Tensor> inputs,
                                                 absl::Span<const std::optional<Tensor>> slots) const;
  absl::StatusOr<std::vector<StepResult>> TraceRequest(absl::Span<const Tensor> inputs) const;

  std::vector<ir::Column> inputs_;
  std::vector<ir::Column> outputs_;
  std::string hash_;
  std::shared_ptr<const ir::proto::Graph> graph_;  // canonical, as written
  KernelChain chain_;                              // with the optimizer's passes
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_SERVE_INFERENCE_GRAPH_H_

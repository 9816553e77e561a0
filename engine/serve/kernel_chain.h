// `KernelChain` runs kernels on the values of one row, on the caller's thread and without a graph around them: the
// steps of maps, with the branches of choosers, salts and seeds as a graph has them, fused as in a map. Use it for
// single rows: calls of kernels in Python, and requests to an inference graph. A step that names columns reads and
// writes those; its last writer puts a column into the caller's slot. A step that names none works on all values at
// once: on each alone if it takes one, else on all of them together, which it replaces. What runs at once is planned
// and run as in a map (kernels/step_actions.h). Threads: one thread adds steps; Run, Trace and VisitDrawn from any
// thread afterwards, without a lock.
#ifndef HEADRACE_ENGINE_SERVE_KERNEL_CHAIN_H_
#define HEADRACE_ENGINE_SERVE_KERNEL_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "ir/messages.h"
#include "kernels/chooser.h"
#include "kernels/kernel.h"
#include "kernels/step_actions.h"

namespace headrace {

class KernelChain {
 public:
  // For steps that name no columns.
  KernelChain() = default;
  // For steps that name columns, these and those that earlier steps write.
  explicit KernelChain(absl::Span<const std::string> columns);
  KernelChain(KernelChain&&) = default;
  KernelChain& operator=(KernelChain&&) = default;

  // Adds a step at the end. A step without a kernel does nothing, and only counts. Errors: those of a kernel that
  // cannot be made, with its name and line; kGraph: a column that is not there, or choosers that are nested too deeply.
  absl::Status Add(const ir::proto::Step& step);
  // Leaves these of the columns, in this order.
  absl::Status Keep(absl::Span<const std::string> columns);
  // Gives columns other names: from each old name to the new. Two may swap.
  absl::Status Rename(const std::map<std::string, std::string>& names);
  // Decides before the first row what runs as one pass, where no step is drawn. Runs are then made with this seed
  // alone.
  void Fix(uint64_t seed);

  // The columns after the last step.
  std::vector<std::string> columns() const;
  // A step works on whole batches, so that no value is a clip.
  bool of_batches() const { return of_batches_; }

  // The values of one row, before the first step: one a column.
  using Row = absl::InlinedVector<Tensor, 4>;
  // Replaces the values by those after the last step. A step draws from its own seed, or else from `seed`, with its
  // salt and the row. `slots`: one a column of columns(), or none; a column's last writer puts its result there if it
  // has the slot's dtype and shape. An invalid tensor: no slot. Errors: those of kernels, with the step's name and
  // line.
  absl::Status Run(uint64_t seed, const RowId& id, Row& row, absl::Span<const Tensor> slots = {}) const;

  // What a step wrote. `step`: "map[1] Resize".
  using Wrote = absl::FunctionRef<void(const std::string& step, const std::string& column, const Tensor& value)>;
  // The same with every step run alone. For steps that name columns.
  absl::Status Trace(uint64_t seed, const RowId& id, Row& row, Wrote wrote) const;

  // The numbers of the steps that such a run goes through, in its order. Steps are numbered in the order in which they
  // were added, from 0; a chooser has its number before the steps of its branches.
  void VisitDrawn(uint64_t seed, const RowId& id, absl::FunctionRef<void(size_t step)> visit) const;

 private:
  struct Step {
    size_t number = 0;
    std::unique_ptr<Kernel> kernel = nullptr;  // null: the step only counts
    const Chooser* chooser = nullptr;          // the kernel, if it is one
    std::vector<std::vector<Step>> branches = {};
    std::optional<uint64_t> seed = {};
    uint64_t salt = 0;
    uint32_t fused = 0;  // as in the graph
    bool named = false;  // it names columns
    bool unary = true;
    bool by_frame = false;  // it is given a clip frame by frame, unless a step works on whole batches
    // Places of its columns, and the names of its outputs.
    absl::InlinedVector<size_t, 2> inputs = {};
    absl::InlinedVector<size_t, 2> outputs = {};
    std::vector<std::string> columns = {};
    std::string name = {};      // "map[1] Resize", "Resize"
    std::string location = {};  // "train.py:12"; "": not known
  };
  using Steps = absl::InlinedVector<const Step*, 16>;
  using Action = StepAction<Step>;
  using Actions = StepActions<Step>;

  absl::StatusOr<Step> Made(const ir::proto::Step& step, const Step* enclosing, int depth);
  absl::Status FindColumns(const ir::proto::Step& step, Step& made);
  // Nullopt: there is no such column.
  std::optional<size_t> FindPlace(const std::string& column) const;
  absl::StatusOr<size_t> PlaceOf(const std::string& column) const;
  static RowRandom RandomOf(const Step& step, uint64_t seed, const RowId& id);
  // The steps that a run goes through.
  Steps StepsOf(uint64_t seed, const RowId& id) const;
  Actions ActionsOf(const Steps& steps, uint64_t seed) const;
  static Actions ActionsOfAll(const Steps& steps, uint64_t seed);
  absl::Status RunActions(const Actions& actions, uint64_t seed, const RowId& id, Row& row,
                          absl::Span<const Tensor> slots) const;
  Tensor SlotOf(const Action& action, absl::Span<const Tensor> slots) const;
  absl::Status RunOf(const Action& action, uint64_t seed, const RowId& id, OutputAllocator& output, Row& row) const;
  // False, with nothing changed, if the pass fails.
  bool RunFused(const Action& action, const RowId& id, OutputAllocator& output, Row& row) const;
  // Errors name the step and its line.
  absl::Status RunNamed(const Step& step, uint64_t seed, const RowId& id, OutputAllocator& output, Row& row) const;
  absl::Status RunStep(const Step& step, uint64_t seed, const RowId& id, OutputAllocator& output, Row& row) const;
  absl::Status RunOnAll(const Step& step, uint64_t seed, const RowId& id, Row& row) const;
  absl::StatusOr<Tensors> Apply(const Step& step, absl::Span<const Tensor> inputs, uint64_t seed, const RowId& id,
                                OutputAllocator& output) const;
  // Only the columns after the last step.
  void TakeColumns(Row& row) const;

  std::vector<Step> steps_;
  size_t numbers_ = 0;  // given so far
  size_t places_ = 0;   // of values during a run
  // The columns at this point, and their places.
  std::vector<std::pair<std::string, size_t>> columns_;
  bool of_columns_ = false;
  bool of_batches_ = false;
  std::optional<Actions> actions_;  // of every row; nullopt: they are decided for each
};

// The tensor, or a copy if someone else holds its memory too: an argument, another result, a kernel.
absl::StatusOr<Tensor> Own(Tensor tensor);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_SERVE_KERNEL_CHAIN_H_

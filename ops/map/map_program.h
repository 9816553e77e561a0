// `MapProgram` holds the steps of a map, ready to run: kernels and user functions, the columns that each reads and
// writes, and which of them are fused. What choosers draw for a row is known before the row's first step: the steps
// that they draw run, and are fused, like steps that every row goes through. Where parameters are read, each epoch has
// kernels of its own, made of the epoch's values when its first row comes. A program works on the tensors of one row at
// a time, or on rows that are contiguous in memory. What runs at once is planned and run as in a chain of kernels
// (kernels/step_actions.h); functions, notes and the values of epochs are the map's own.
// Threads: all methods from any thread, once it is made.
#ifndef HEADRACE_OPS_MAP_MAP_PROGRAM_H_
#define HEADRACE_OPS_MAP_MAP_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "engine/operator/block.h"
#include "engine/operator/host.h"
#include "engine/operator/operator.h"
#include "ir/branches.h"
#include "ir/column_history.h"
#include "ir/type.h"
#include "kernels/kernel.h"
#include "kernels/step_actions.h"

namespace headrace {

class NoteStore;
class RowNotes;

// The kernel that stands for a user function.
inline constexpr std::string_view kPythonFunction = "PythonFunction";

// One row on its way through a program; reused for many rows.
struct MapRow {
  absl::InlinedVector<Tensor, 2> columns;
  absl::InlinedVector<Tensor, 2> inputs;  // of the step that runs
  // Where kernels keep notes of the row, and its key there; null: nothing is kept of it.
  NoteStore* notes = nullptr;
  uint64_t notes_key = 0;
};

class MapProgram {
 public:
  // Errors: those of kernels that cannot be made, with the name of their step; kGraph for a function that is not bound
  // here.
  static absl::StatusOr<MapProgram> Bind(const OpArguments& arguments);

  // Columns of the result.
  size_t columns() const { return columns_; }
  // Whether a row may come with a warning.
  bool may_warn() const;
  // Whether a kernel adds to WorkCounts.
  bool counts_work() const;

  // Consecutive steps of the program.
  class Part;
  const Part& all() const { return *all_; }
  // From step `begin` to before step `end`.
  std::shared_ptr<const Part> PartOf(size_t begin, size_t end) const;
  size_t steps() const;
  // Runs the part for row `i` of the block, whose columns are in `row`. `into_slots`: results go to the row's batch
  // slot, if it is known.
  absl::Status Run(const Part& part, const Block& block, int i, bool into_slots, MapRow& row) const;
  // Runs all rows of the block in one call of each kernel. False, with nothing changed, if they are not contiguous or
  // if one fails: running them one by one then shows which.
  bool RunStacked(Block& block) const;

  // Whether every row goes through the same steps, of which one is a function that takes many calls in one run.
  bool takes_runs() const { return run_action_.has_value(); }
  // Receives the statuses of consecutive rows, starting at `first`.
  using TakeMade = absl::FunctionRef<void(size_t first, absl::Span<absl::Status> made)>;
  // For a program that takes runs: runs all steps for the first row of each block, whose columns are in `rows`, into
  // their batch slots. Gives rows out in order, as soon as they are made.
  void RunRows(absl::Span<Block* const> blocks, absl::Span<MapRow> rows, TakeMade take) const;

  // The batch slot of the column of the block's row; invalid: there is none.
  static Tensor SlotOf(const Block& block, std::optional<size_t> column);

 private:
  struct BoundStep;
  class OfEpochs;
  using Action = StepAction<BoundStep>;
  using Actions = StepActions<BoundStep>;
  using FlatSteps = absl::InlinedVector<const BoundStep*, 16>;

  MapProgram() = default;
  // The program of one epoch.
  static absl::StatusOr<MapProgram> BindAt(const OpArguments& arguments, uint64_t epoch);
  static absl::StatusOr<absl::Span<const bool>> FillersOf(const BoundStep& bound, absl::Span<const Tensor> columns);
  // `enclosing`: the chooser around the steps; null: there is none. Schema and histories are those before the first
  // step.
  static absl::StatusOr<std::vector<BoundStep>> BindSteps(const ir::Steps& steps, const OpArguments& arguments,
                                                          uint64_t epoch, const BoundStep* enclosing, ir::Schema schema,
                                                          ir::ColumnHistories histories);
  static absl::StatusOr<BoundStep> BindStep(const ir::proto::Step& step, const OpArguments& arguments, uint64_t epoch,
                                            const BoundStep* enclosing);
  static absl::Status BindBranches(const ir::proto::Step& step, const OpArguments& arguments, uint64_t epoch,
                                   const ir::Schema& schema, const ir::ColumnHistories& histories, BoundStep& bound);
  static RowRandom RandomOf(const BoundStep& bound, const RowId& id);
  // Nullopt: nothing is kept of the row.
  static std::optional<RowNotes> NotesOf(const BoundStep& bound, const MapRow& row);
  static absl::Status RunStep(const BoundStep& bound, const RowId& id, OutputAllocator& output,
                              absl::Span<Tensor> columns, MapRow& row);
  // As RunStep, on the row's columns; errors name the step and its line.
  static absl::Status RunNamed(const BoundStep& bound, const RowId& id, OutputAllocator& output, MapRow& row);
  static bool RunFused(const Action& action, const RowId& id, OutputAllocator& output, MapRow& row);
  static absl::Status RunOf(const Action& action, const RowId& id, OutputAllocator& output, MapRow& row);
  // Runs consecutive actions for a row of the block.
  static absl::Status RunActions(absl::Span<const Action> actions, const Block& block, int i, bool into_slots,
                                 MapRow& row);
  static absl::Span<const Tensor> InputsOf(const BoundStep& bound, absl::Span<const Tensor> columns, MapRow& row);
  static absl::Status TakeCalled(const BoundStep& bound, absl::StatusOr<std::vector<Tensor>> results,
                                 absl::Span<Tensor> columns);
  static void AddStep(const BoundStep& step, absl::Status& status);
  static Actions ActionsOf(const FlatSteps& steps);
  // The action of the only function, if that takes runs.
  static std::optional<size_t> RunActionOf(const Actions& actions);
  // The steps of the part that the row goes through.
  FlatSteps StepsOf(const Part& part, const RowId& id) const;
  absl::Status RunHere(const Part& part, const Block& block, int i, bool into_slots, MapRow& row) const;

  size_t columns_ = 0;
  std::shared_ptr<const std::vector<BoundStep>> steps_;
  std::shared_ptr<const Part> all_;
  bool for_stacks_ = false;
  std::optional<size_t> run_action_;     // the one of the function that takes runs; nullopt: the program takes none
  std::shared_ptr<OfEpochs> of_epochs_;  // null: it reads no parameters
};

}  // namespace headrace

#endif  // HEADRACE_OPS_MAP_MAP_PROGRAM_H_

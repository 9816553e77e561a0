// `MapOperator` runs the program of a map on every row, and a function in other processes for many rows at once.
// Threads: Apply and ApplyRun from any thread.
#ifndef HEADRACE_OPS_MAP_MAP_OPERATOR_H_
#define HEADRACE_OPS_MAP_MAP_OPERATOR_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/work_counts.h"
#include "engine/operator/operator.h"
#include "engine/operator/row_runs.h"
#include "engine/operator/row_warnings.h"
#include "ops/map/map_program.h"

namespace headrace {

class MapOperator : public RowOperator, public RunOperator {
 public:
  // `name`: "map[1]".
  MapOperator(const std::string& name, MapProgram program);

  void Apply(Block& block) const override;
  bool takes_runs() const override { return program_.takes_runs(); }
  void ApplyRun(absl::Span<Block* const> blocks, absl::FunctionRef<void(size_t end)> done) const override;
  std::shared_ptr<const RowWarnings> warnings() const override { return warnings_; }
  std::shared_ptr<const WorkCounts> work_counts() const override { return work_counts_; }

  const MapProgram& program() const { return program_; }
  // Turns `row`, row `i` of the block, into a row of the result.
  using RowMaker = absl::FunctionRef<absl::Status(int i, MapRow& row)>;
  // Makes the rows of the block one by one; the first that fails ends the block.
  void ApplyToRows(Block& block, RowMaker make) const;
  // Makes a row, and counts its warning.
  absl::Status MakeCounted(const Block& block, int i, MapRow& row, RowMaker make) const;

 private:
  const MapProgram program_;
  const std::shared_ptr<RowWarnings> warnings_;    // null: no step warns
  const std::shared_ptr<WorkCounts> work_counts_;  // null: no step counts
};

}  // namespace headrace

#endif  // HEADRACE_OPS_MAP_MAP_OPERATOR_H_

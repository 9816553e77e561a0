// `ListedBatch` is a batch that a user function makes of its rows. The rows wait as they came; the function gets them
// all in one call and gives the columns of the batch.
// Threads: one thread, on which the function is called.
#ifndef HEADRACE_OPS_BATCH_LISTED_BATCH_H_
#define HEADRACE_OPS_BATCH_LISTED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/philox.h"
#include "engine/operator/host.h"
#include "engine/operator/operator.h"
#include "ir/type.h"
#include "ops/batch/batch_rows.h"

namespace headrace {

// Makes the first input of functions that are called for a batch: uint64 of shape (5,), the batch's number, its epoch
// as its rows have it, the rank, and how many rows and columns follow.
class BatchNumberInput {
 public:
  BatchNumberInput(uint64_t epoch_cycle, uint64_t rank) : epoch_cycle_(epoch_cycle), rank_(rank) {}
  absl::StatusOr<Tensor> At(const BatchNumber& batch, size_t rows, size_t columns) const;

 private:
  const uint64_t epoch_cycle_;
  const uint64_t rank_;
};

class ListedBatch : public BatchRows {
 public:
  // `function` is called with BatchNumberInput's, the names of the rows' columns and of `given` (string, one axis), and
  // the rows of the first column, those of the second, and so on. It gives one tensor for each of `given`, of its
  // type. With `draws` it draws from the stream of the batch's identity.
  ListedBatch(const OpArguments& arguments, std::shared_ptr<HostFunction> function, ir::Columns given, bool draws)
      : number_input_(arguments.epoch_cycle, arguments.run->rank),
        names_(arguments.inputs[0].Names()),
        stream_(RowRandom::StreamOf(arguments.seed, arguments.salt)),
        function_(std::move(function)),
        given_(std::move(given)),
        draws_(draws) {}

  void SetSize(int /*size*/) override {}

 protected:
  void AddRows(Block& block, int from, int count) override;
  void RepeatColumns() override;
  absl::Status JoinColumns(const BatchNumber& batch, Block& block) override;
  void ClearColumns() override { columns_.clear(); }

 private:
  void AddTo(std::vector<Tensor>& column, Tensor row);
  absl::StatusOr<std::vector<Tensor>> InputsOf(const BatchNumber& batch) const;

  const BatchNumberInput number_input_;
  const std::vector<std::string> names_;
  const uint64_t stream_;
  const std::shared_ptr<HostFunction> function_;
  const ir::Columns given_;
  const bool draws_;
  std::vector<std::vector<Tensor>> columns_;
};

}  // namespace headrace

#endif  // HEADRACE_OPS_BATCH_LISTED_BATCH_H_

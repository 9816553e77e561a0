// `Block` is the message between stages: columns of zero, one or many rows with their identities, the checkpoint of the
// operators below, and at most one terminator at its end.
// Threads: a block has one owner at a time; connectors hand it over.
#ifndef HEADRACE_ENGINE_OPERATOR_BLOCK_H_
#define HEADRACE_ENGINE_OPERATOR_BLOCK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "engine/operator/block_memory.h"
#include "engine/operator/cache_trail.h"
#include "engine/operator/failed_row.h"
#include "engine/operator/provenances.h"
#include "engine/operator/row_array.h"

namespace headrace {

class BatchMemory;

// One column of a block: one tensor per row, one buffer whose first axis is the row, or one along whose first axis rows
// of different lengths are joined.
class BlockColumn {
 public:
  BlockColumn() = default;
  explicit BlockColumn(Tensor row) { tensors_.push_back(std::move(row)); }
  static BlockColumn Stacked(Tensor rows);
  // Row i is values[splits[i]:splits[i + 1]]; the splits are int64, do not fall, and need not begin with 0. `values` is
  // row-major.
  static BlockColumn Ragged(Tensor values, Tensor splits);

  int rows() const;
  // Whether one buffer, stack(), holds all rows.
  bool stacked() const { return form_ == Form::kStack; }
  const Tensor& stack() const { return tensors_[0]; }
  // Whether all rows are in values(), by their splits().
  bool ragged() const { return form_ == Form::kRagged; }
  const Tensor& values() const { return tensors_[0]; }
  absl::Span<const int64_t> splits() const {
    return {tensors_[1].data<int64_t>(), static_cast<size_t>(tensors_[1].dim(0))};
  }
  // The values of a run of rows.
  Tensor ValuesOf(int from, int rows) const;
  // Whether one row-major buffer holds all rows: runs of rows are views of it.
  bool sliceable() const { return stacked() && stack().contiguous(); }
  // Whether, in addition, rows have a fixed size: runs of rows can be copied.
  bool in_runs() const { return stacked() && stack().contiguous() && !IsVariableLength(stack().dtype()); }
  Tensor row(int i) const { return form_ == Form::kRows ? tensors_[i] : RowOfWhole(i); }
  Tensor TakeRow(int i) { return form_ == Form::kRows ? std::move(tensors_[i]) : RowOfWhole(i); }
  void SetRow(int i, Tensor row);
  void Append(Tensor row);
  void Truncate(int rows);
  // Moves out the rows from `from` on; earlier rows stay.
  BlockColumn TakeRows(int from, int rows);
  size_t footprint() const;
  // Payload of all rows.
  size_t bytes() const;

 private:
  enum class Form : uint8_t { kRows, kStack, kRagged };

  Tensor RowOfWhole(int i) const { return stacked() ? tensors_[0].Index(i) : ValuesOf(i, 1); }
  void Separate();

  absl::InlinedVector<Tensor, 1> tensors_;  // a row each; or the stack; or the values and their splits
  Form form_ = Form::kRows;
};

enum class End : uint8_t {
  kNone,
  kEpoch,  // ends every epoch up to the block's own
  kError,  // the row after the block's last one failed
};

// Counters from which every operator below can go on after the last row of a block: those of the inputs, in order, then
// the operator's own. All zero: the start of the epoch.
using Checkpoint = absl::InlinedVector<uint64_t, 4>;

struct Block {
  // The epoch in the numbers of the operator that made the block.
  uint64_t epoch = 0;
  RowArray<RowId> ids;
  Provenances provenances;
  absl::InlinedVector<BlockColumn, 2> columns;
  Checkpoint checkpoint;
  End end = End::kNone;
  // More rows of the same message follow in another block. The checkpoint counts those, too: it holds only after the
  // last of these blocks.
  bool continues = false;
  // The error of a kError terminator; otherwise the error of the one tombstone.
  absl::Status error;
  // For a block of one row: the memory of its future batch. Null: not known.
  std::shared_ptr<BatchMemory> batch_memory;
  int64_t batch_slot = 0;
  // For a block in which an operator failed: the rows after the failed one, which the operator has not seen, and the
  // terminator. The caller of the operator takes it.
  std::unique_ptr<Block> rest;
  // For a block in which an operator failed: the row that failed. Null: not known.
  std::unique_ptr<FailedRow> failed;
  // Rows that failed and were removed before the block's first row, or before its terminator if it has no rows; they
  // belong to what follows them. Null: none.
  std::unique_ptr<std::vector<FailedRow>> removed;
  // Null if no cache is above.
  std::unique_ptr<CacheTrail> cache_trail;

  static void* operator new(size_t bytes) { return TakeBlockMemory(bytes); }
  static void operator delete(void* memory) { GiveBlockMemory(memory); }

  int rows() const { return static_cast<int>(ids.size()); }
  // Whether it is one row that failed and keeps its number: it has an identity, no columns, and the error.
  bool tombstone() const { return !error.ok() && end != End::kError && !ids.empty(); }
  // Neither rows nor anything else that counts.
  bool idle() const { return ids.empty() && end == End::kNone && removed == nullptr; }
  const RowCache* found_in() const { return cache_trail == nullptr ? nullptr : cache_trail->found_in; }
  // For the operator whose cache had the rows: from here on they are like rows that were made. Returns whether they had
  // been found.
  bool TakeFound() { return cache_trail != nullptr && std::exchange(cache_trail->found_in, nullptr) != nullptr; }
  uint64_t KeyAtSource(int row) const {
    return cache_trail == nullptr ? ids[row].key : cache_trail->source_key.value_or(ids[row].key);
  }
  // The cost of making each of its rows so far; 0: not measured.
  uint64_t MadeNsEach() const { return cache_trail == nullptr ? 0 : cache_trail->made_ns / ids.size(); }
  size_t footprint() const;
  // Moves out the rows from `from` on, with the checkpoint and the terminator.
  std::unique_ptr<Block> TakeRest(int from);
  // Keeps the first `rows` rows.
  void Truncate(int rows);
  void DropRows() { Truncate(0); }
  // Leaves nothing but an end-of-epoch marker, if there is one.
  void Drop();
  // Ends the block with an error instead of row `row`; later rows go to `rest`.
  void Fail(int row, absl::Status status);
  // For a block that ends where a row failed: removes that terminator, and returns the row as a tombstone. `more`:
  // rows of the message follow it.
  std::unique_ptr<Block> TakeTombstone(bool more);
  // Turns a tombstone into a note that the row was removed.
  void MarkRemoved();
  // Appends what another block, which came before this one, notes as removed.
  void TakeRemovedOf(Block& before);
};

using Message = std::unique_ptr<Block>;

// Appends a row; `columns` are moved from.
template <typename Tensors>
void AppendRow(Block& block, const RowId& id, const Provenance& provenance, Tensors& columns) {
  block.ids.push_back(id);
  block.provenances.push_back(provenance);
  if (block.columns.empty()) block.columns.resize(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) block.columns[i].Append(std::move(columns[i]));
}
// A block of one row taken out of `block`, with its checkpoint but without its terminator.
Message TakeRow(Block& block, int row);
Message MakeEndOfEpoch(uint64_t epoch, Checkpoint checkpoint);
Message MakeTombstone(uint64_t epoch, Checkpoint checkpoint, FailedRow row);
Message MakeErrorMessage(uint64_t epoch, Checkpoint checkpoint, absl::Status error);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BLOCK_H_

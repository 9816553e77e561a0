// What travels between stages: a columnar block of zero, one or many rows with their identities, the checkpoint of the
// operators it passed, and at most one terminator at its end.
// Thread contract: a block has one owner at a time; connectors hand it over.
#ifndef HEADRACE_ENGINE_OPERATOR_BLOCK_H_
#define HEADRACE_ENGINE_OPERATOR_BLOCK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "engine/operator/block_memory.h"

namespace headrace {

class BatchMemory;

// One column of a block: one tensor a row, or one buffer whose first axis is the row.
class BlockColumn {
 public:
  BlockColumn() = default;
  explicit BlockColumn(Tensor row) { tensors_.push_back(std::move(row)); }
  static BlockColumn Stacked(Tensor rows);

  int rows() const { return stacked_ ? static_cast<int>(tensors_[0].dim(0)) : static_cast<int>(tensors_.size()); }
  // One buffer holds all rows, one after the other; stack() is it.
  bool stacked() const { return stacked_; }
  const Tensor& stack() const { return tensors_[0]; }
  // So are they, of a fixed size: runs of rows can be copied, and sliced.
  bool in_runs() const { return stacked_ && stack().contiguous() && !IsVariableLength(stack().dtype()); }
  Tensor row(int i) const { return stacked_ ? tensors_[0].Index(i) : tensors_[i]; }
  Tensor TakeRow(int i) { return stacked_ ? tensors_[0].Index(i) : std::move(tensors_[i]); }
  void SetRow(int i, Tensor row);
  void Append(Tensor row);
  void Truncate(int rows);
  // Rows from `from` on, moved out; those before stay where they are.
  BlockColumn TakeRows(int from, int rows);
  size_t footprint() const;

 private:
  void Unstack();
  absl::InlinedVector<Tensor, 1> tensors_;
  bool stacked_ = false;
};

class RowCache;

enum class End : uint8_t {
  kNone,
  kEpoch,  // ends every epoch up to the block's own
  kError,  // the row after the block's last one failed
};

// Counters by which every operator below can be set to go on after the last row of a block: the words of the inputs,
// in order, then the operator's own. All zero: the start of the epoch.
using Checkpoint = absl::InlinedVector<uint64_t, 4>;

struct Block {
  // The epoch as the operator that gave the block out numbers them.
  uint64_t epoch = 0;
  absl::InlinedVector<RowId, 1> ids;
  absl::InlinedVector<Provenance, 1> provenances;
  absl::InlinedVector<BlockColumn, 2> columns;
  Checkpoint checkpoint;
  End end = End::kNone;
  absl::Status error;
  // Of a block of one row: its slot in the batch that it will be part of. Null: nobody knows.
  std::shared_ptr<BatchMemory> batch_memory;
  int64_t batch_slot = 0;
  // Its rows were found there, and pass by the operators below that cache. Null: they were made.
  const RowCache* cached = nullptr;
  // Of a block that an operator let fail: the rows behind the one that failed, which that operator has not seen, and
  // the terminator. Whoever applied the operator takes it.
  std::unique_ptr<Block> rest;
  // What making the rows took so far, where a cache wants to know.
  bool timed = false;
  uint64_t made_ns = 0;
  // Of a block of one row: the key that it had at the source, where a cache wants to know; nullopt: its own.
  std::optional<uint64_t> source_key;

  static void* operator new(size_t bytes) { return TakeBlockMemory(bytes); }
  static void operator delete(void* memory) { GiveBlockMemory(memory); }

  int rows() const { return static_cast<int>(ids.size()); }
  uint64_t KeyAtSource(int row) const { return source_key.value_or(ids[row].key); }
  size_t footprint() const;
  // Rows from `from` on, moved out, with the checkpoint and the terminator.
  std::unique_ptr<Block> TakeRest(int from);
  // Keeps the first `rows` rows.
  void Truncate(int rows);
  void DropRows() { Truncate(0); }
  // Ends the block with an error in place of row `row`; what comes after goes to `rest`.
  void Fail(int row, absl::Status status);
};

using Message = std::unique_ptr<Block>;

// Adds a row at the end; `columns` are moved from.
template <typename Tensors>
void AppendRow(Block& block, const RowId& id, Provenance provenance, Tensors& columns) {
  block.ids.push_back(id);
  block.provenances.push_back(std::move(provenance));
  if (block.columns.empty()) block.columns.resize(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) block.columns[i].Append(std::move(columns[i]));
}
// A block of one row taken out of `block`, with its checkpoint but without its terminator.
Message TakeRow(Block& block, int row);
Message MakeMark(uint64_t epoch, Checkpoint checkpoint);
Message MakeErrorMessage(uint64_t epoch, Checkpoint checkpoint, absl::Status error);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_BLOCK_H_

// `ParquetStream` is a source of the rows of Parquet files as a stream whose splits are row groups: it reads them in
// the order of the files, or in a permutation of its own for each epoch, several at once, and gives their rows in
// turns. A row's key is its number over all files, as in ParquetRows. Threads: as StreamSource's.
#ifndef HEADRACE_OPS_SOURCE_PARQUET_PARQUET_STREAM_H_
#define HEADRACE_OPS_SOURCE_PARQUET_PARQUET_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/operator/operator.h"
#include "ops/order/epoch_permutations.h"
#include "ops/source/parquet/parquet_files.h"
#include "ops/source/parquet/parquet_turns.h"
#include "ops/source/split_source.h"

namespace headrace {

class ParquetStream : public StreamSource {
 public:
  ParquetStream(std::unique_ptr<ParquetFiles> files, const OpArguments& arguments, Fingerprint fingerprint);

  absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) override;
  absl::Status ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                        bool& end) override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override { fingerprints.push_back(fingerprint_); }
  std::shared_ptr<const RowWarnings> warnings() const override { return warnings_; }

 private:
  // One of the readers that take turns.
  struct Lane {
    bool has_group = false;
    size_t group = 0;                            // its number in the table
    uint64_t row = 0;                            // of the row group: the next one
    std::unique_ptr<ParquetGroupReader> reader;  // null: not opened yet
    ParquetRun run;

    uint64_t left() const { return run.first + run.rows - row; }
  };
  // Rows of a lane that its turn has and that follow each other.
  struct Chosen {
    uint64_t first = 0;  // in the row group
    size_t step = 1;
    size_t count = 0;
  };

  // The row group at a position of this rank's order.
  size_t GroupAt(uint64_t number) const;
  bool TakeGroup(Lane& lane);
  // Gives the lane its next row; it has no row group if there is none.
  absl::Status Fill(Lane& lane);
  absl::StatusOr<std::unique_ptr<ParquetGroupReader>> OpenGroup(size_t group);
  absl::Status ReadOn(Lane& lane);
  // Opens the next row group, so that it is decoded while rows of others are given, once a lane is about to need it.
  // Not that of a far file, of which all is fetched when it is opened.
  void OpenAhead();
  // The lane whose turn it is, with a row; null: no row is left.
  absl::StatusOr<Lane*> NextLane();
  void PassTurn();
  void Advance(Lane& lane, uint64_t rows);
  // Adds rows of the lane's turn to the block, whose columns come from `turns_`.
  absl::Status AddTurn(Lane& lane, size_t rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters);
  absl::Status Give(Lane& lane, const Chosen& chosen, Block& block, absl::Span<uint64_t> counters);
  // Whether a message has room for rows of the next turn, too.
  bool JoinsTurns() const;
  absl::Status FailRow(Lane& lane, uint64_t row, absl::Status wrong, Block& block, absl::Span<uint64_t> counters);
  void Save(absl::Span<uint64_t> counters) const;
  RowId IdOf(const Lane& lane, uint64_t row) const;
  Provenance ProvenanceOf(const Lane& lane, uint64_t row) const;
  const ParquetTable::Group& TableGroup(const Lane& lane) const { return files_->table().groups()[lane.group]; }

  const std::unique_ptr<ParquetFiles> files_;
  const Fingerprint fingerprint_;
  const SplitReading reading_;
  const uint64_t rank_;   // of the ranks that share the row groups
  const uint64_t world_;  // their number
  const EpochPermutations order_;
  const uint64_t share_;  // the number of row groups of this rank
  const bool skip_failed_;
  const std::shared_ptr<RowWarnings> warnings_;
  std::vector<Lane> lanes_;
  // What opening row group `ahead_group_` gave, which no lane has yet; unset: it was not opened.
  std::optional<absl::StatusOr<std::unique_ptr<ParquetGroupReader>>> ahead_;
  size_t ahead_group_ = 0;
  ParquetTurns turns_;  // of the message that is made
  uint64_t epoch_ = 0;
  uint64_t position_ = 0;  // rows read
  uint64_t opened_ = 0;    // row groups of this rank that were taken
  uint64_t turn_ = 0;      // whose it is
  uint64_t given_ = 0;     // rows given in it
};

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_PARQUET_PARQUET_STREAM_H_

// `SplitSource` is a stream source of any format that can be cut into splits (io/formats/record_reader.h): it opens the
// splits in the order of the listing, or in a permutation of its own for each epoch, reads several at once, and gives
// their records in turns. Its attributes are the same for every format.
// Threads: as StreamSource's.
#ifndef HEADRACE_OPS_SOURCE_SPLIT_SOURCE_H_
#define HEADRACE_OPS_SOURCE_SPLIT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/operator/operator.h"
#include "engine/operator/row_warnings.h"
#include "io/formats/record_reader.h"
#include "io/formats/split_table.h"
#include "ops/order/epoch_permutations.h"
#include "ops/source/file_patterns.h"

namespace headrace {

// Makes the columns of a message from the records in it.
class RecordColumns {
 public:
  virtual ~RecordColumns() = default;
  // About so many rows will be added, and then taken.
  virtual void Expect(size_t /*rows*/) {}
  // Whether records of the block go with those that were added before: else a message ends before them.
  virtual bool Joins(const RecordBlock& /*block*/) const { return true; }
  // Leaves out records that are no rows.
  virtual void Choose(RecordBlock& /*block*/) const {}
  // Takes `count` records of the block: record `first`, and every `step`-th from there. Returns how many it took: fewer
  // if the next record is invalid, with the reason in `wrong`.
  virtual size_t Add(const RecordBlock& block, size_t first, size_t step, size_t count, absl::Status& wrong) = 0;
  // Gives the taken records to a block without columns.
  virtual absl::Status Take(Block& block) = 0;
};

// How splits become rows; see docs/semantics/splits.md.
struct SplitReading {
  static constexpr uint64_t kTurn = 16;  // rows that a reader gives in one turn
  static constexpr int kMostReaders = 64;

  // The declarations of `shuffle`, `interleave`, `sharding` and `split_bytes`.
  static std::vector<ir::Attribute> Declare();
  // The same for a source that an attribute `index` gives random access.
  static std::vector<ir::Attribute> DeclareBesideIndex();
  // The same where each file is read whole, from its start on: without `split_bytes`, and ranks have files, not runs of
  // bytes. Pass Make SplitTable::kWholeFiles.
  static std::vector<ir::Attribute> DeclareWholeFilesBesideIndex();
  // kGraph: there is an index, and attributes of splits are given.
  static absl::Status CheckBesideIndex(const ir::Attributes& attributes);
  static SplitReading Of(const ir::Attributes& attributes);
  void Describe(OperatorProperties& properties) const;
  // Adds a warning if each of several ranks would read all of a far set; `path` is one of its files.
  void WarnOfFarRows(const RunOptions& run, const std::string& path, RowWarnings& warnings) const;

  // What is sharded: the rows of the stream, its splits, or byte ranges of equal length.
  enum class Sharding { kRows, kSplits, kContiguous };

  bool shuffle = false;
  int readers = 1;
  Sharding sharding = Sharding::kRows;
  int64_t split_bytes = 0;  // 0: of all bytes
};

class SplitSource : public StreamSource {
 public:
  static constexpr int64_t kBlockBytes = int64_t{256} << 10;

  // `block_bytes`: read at once, if the budget has room. More suits formats of long records: a record that two blocks
  // share is copied. `split_bytes`: of a split; 0: as the attributes say. Asks the format about files that would be
  // cut.
  static absl::StatusOr<std::unique_ptr<StreamSource>> Make(std::unique_ptr<const Format> format, MatchedFiles files,
                                                            std::unique_ptr<RecordColumns> columns,
                                                            const OpArguments& arguments,
                                                            int64_t block_bytes = kBlockBytes, int64_t split_bytes = 0);

  absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) override;
  absl::Status ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                        bool& end) override;
  void AddFingerprints(std::vector<Fingerprint>& fingerprints) const override {
    fingerprints.push_back(files_.fingerprint);
  }
  std::shared_ptr<const RowWarnings> warnings() const override { return warnings_; }

 private:
  // An open split.
  struct Opened {
    uint64_t split = 0;
    uint64_t file = 0;
    bool changed = false;  // the file had another size than listed
    std::shared_ptr<const std::string> path;
    absl::Status status;
    std::unique_ptr<RecordReader> reader;
  };
  // One of the readers that take turns.
  struct Lane {
    Opened opened;  // without a reader: it has no split
    RecordBlock block;
    size_t at = 0;     // the next record of the block
    int64_t byte = 0;  // after the last record given
  };

  SplitSource(std::unique_ptr<const Format> format, MatchedFiles files, std::unique_ptr<RecordColumns> columns,
              const OpArguments& arguments, const SplitReading& reading, SplitTable splits, int64_t block_bytes);

  static absl::StatusOr<SplitTable> SplitsOf(const SplitReading& reading, const MatchedFiles& files,
                                             const Format& format, const RunOptions& run);
  Opened Open(uint64_t split, int64_t from) const;
  // The split at a position of this rank's order.
  uint64_t SplitAt(uint64_t number) const;
  void OpenAhead();
  bool MayOpenMore() const;
  // The lane whose turn it is, with a record; null: no row is left.
  absl::StatusOr<Lane*> NextLane();
  absl::Status Fill(Lane& lane);
  absl::Status CheckUnchanged(const Opened& opened) const;
  void NoteLost(const Lane& lane);
  bool TakeSplit(Lane& lane);
  void PassTurn();
  void Advance(Lane& lane, size_t records);
  // Adds the rows of the lane's turn that the share has, at most `rows`.
  absl::Status AddTurn(Lane& lane, size_t rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters);
  absl::Status FailRow(Lane& lane, size_t record, absl::Status wrong, Block& block, absl::Span<uint64_t> counters);
  void Save(absl::Span<uint64_t> counters) const;
  static absl::Status Located(absl::Status status, const Opened& opened, int64_t offset);

  const std::unique_ptr<const Format> format_;
  const FileSystem* const system_;
  const MatchedFiles files_;
  const std::unique_ptr<RecordColumns> columns_;
  const SplitReading reading_;
  const uint64_t rank_;   // of the ranks that share the splits
  const uint64_t world_;  // their number
  const SplitTable splits_;
  const EpochPermutations order_;  // of the splits, where they are shuffled
  const uint64_t share_;           // the number of splits of this rank
  const bool skip_failed_;
  const size_t block_bytes_;
  const size_t most_message_bytes_;
  const bool far_;
  const bool checks_;  // versions, at the end of a split
  const std::shared_ptr<RowWarnings> warnings_;
  std::vector<Lane> lanes_;
  std::deque<Opened> ahead_;  // the splits that come next
  uint64_t epoch_ = 0;
  uint64_t position_ = 0;     // rows read
  uint64_t opened_ = 0;       // splits of this rank that were opened
  uint64_t turn_ = 0;         // whose it is
  uint64_t given_ = 0;        // rows given in it
  size_t message_bytes_ = 0;  // of the records in the message that is made
};

using MakeStreamSource = std::function<absl::StatusOr<std::unique_ptr<StreamSource>>(const OpArguments& arguments)>;

// Of an operator whose source is a SplitSource.
OpFactories SplitFactories(MakeStreamSource make);

}  // namespace headrace

#endif  // HEADRACE_OPS_SOURCE_SPLIT_SOURCE_H_

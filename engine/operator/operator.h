// `IndexedSource`, `StreamSource`, `RowOperator` and `StreamOperator` are the interfaces of operators. Operators own no
// threads: the engine owns threads, queues, errors, counters and shutdown. An operator is one of
//   - a source with random access (IndexedSource) or one that streams (StreamSource),
//   - a row operator: stateless, any worker may run any block,
//   - a stream operator: stateful, one message at a time, in order.
// Threads: IndexedSource::Read and RowOperator::Apply are called from many threads at once; the others from one thread
// at a time.
#ifndef HEADRACE_ENGINE_OPERATOR_OPERATOR_H_
#define HEADRACE_ENGINE_OPERATOR_OPERATOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/error.h"
#include "engine/operator/block.h"
#include "engine/operator/epoch_range.h"
#include "engine/operator/host.h"
#include "engine/operator/operator_properties.h"
#include "engine/operator/row_share.h"
#include "io/files/default_file_system.h"
#include "ir/attributes.h"
#include "ir/column_history.h"
#include "ir/declaration.h"

namespace headrace {

class AutomaticCache;
class BatchRanges;
class RowCache;
class RowWarnings;
class WorkCounts;

// Shows whether a source still holds the data of the time when a state was taken.
struct Fingerprint {
  std::string source;  // "ImageFolder photos/"
  uint64_t count = 0;  // of rows or files
  uint64_t hash = 0;   // a hash that identifies them

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// A row of an epoch of an indexed source. Where orders above give a row several times in an epoch, `occurrence_key`
// tells these times apart for sources that draw; 0: the first time, else a hash of its occurrences in those orders.
struct RowPosition {
  uint64_t epoch = 0;
  uint64_t position = 0;
  uint64_t occurrence_key = 0;
};

// Rows of an epoch, at least one and in any order.
struct RowPositions {
  uint64_t epoch = 0;
  absl::Span<const uint64_t> positions;
  absl::Span<const uint64_t> occurrence_keys = {};  // one for each position; empty: all are 0

  uint64_t occurrence_key(size_t i) const { return occurrence_keys.empty() ? 0 : occurrence_keys[i]; }
};

// What is known of an indexed source before it runs.
struct IndexedProperties {
  // Begin is called for each epoch. Its size() is that of the run's first epoch, and others may have other sizes.
  bool begins = false;
  // Begin calls the user's code.
  bool asks_user = false;
  // Reads of its far files that may be outstanding at once without a thread for each: StartRows begins them. 0: each
  // read holds its thread.
  int far_reads = 0;
  // Rows stay together in runs of so many positions, from the start of each epoch; it divides the size of every epoch.
  uint64_t run_length = 1;
  // Runs may have fewer rows, as RunRows says: the positions after those rows hold none. It then `begins`.
  bool uneven_runs = false;
  // Orders in it in which rows recur, above the source whose keys it gives; 0 for a source that gives keys of its own.
  uint64_t recurring_orders = 0;
};

struct BegunEpoch {
  uint64_t rows = 0;
  uint64_t chosen = 0;  // a hash of what the user's code chose for it; 0: it chose nothing
};

// A source of rows by position: an order of indices over a reader. Positions count the whole, unsharded epoch.
class IndexedSource {
 public:
  virtual ~IndexedSource() = default;
  // Positions of every epoch, unless its properties say otherwise; each holds a row, except in uneven runs.
  virtual uint64_t size() const = 0;
  virtual IndexedProperties properties() const { return {}; }
  // Makes the epoch ready, where the properties say `begins`: comes before its rows, while no rows are read, and ends
  // earlier epochs.
  virtual absl::StatusOr<BegunEpoch> Begin(uint64_t /*epoch*/) { return BegunEpoch{size(), 0}; }
  // The rows of the run that begins at this position of the epoch begun last; at least one.
  virtual uint64_t RunRows(uint64_t /*first*/) const { return properties().run_length; }
  // Numbers name the rows as the sources list them, whatever shuffles, samplers and parts stand above: those of the
  // inputs one after the other, and below zip those of the first input. Rows have numbers below this one.
  virtual uint64_t numbers() const { return size(); }
  // Replaces positions of an epoch by the numbers of their rows.
  virtual void FindNumbers(uint64_t /*epoch*/, absl::Span<uint64_t> /*positions*/) const {}
  // Appends the row to the block: id, provenance and columns. On an error nothing is appended.
  virtual absl::Status Read(const RowPosition& wanted, Block& block) const = 0;
  // Puts the rows into a block that has none. On an error the rows before the failed one are in the block. Sources of
  // light rows override it to make contiguous columns.
  virtual absl::Status ReadRows(const RowPositions& wanted, Block& block) const;
  // The id and provenance that Read would give the row, without reading.
  virtual void Identify(uint64_t epoch, uint64_t position, RowId& id, Provenance& provenance) const = 0;
  virtual void AddFingerprints(std::vector<Fingerprint>& fingerprints) const = 0;
  // Problems in its files that it skipped. Null: it does not warn.
  virtual std::shared_ptr<const RowWarnings> warnings() const { return nullptr; }
  // Begins to read rows, in any number, which this thread reads soon after: where its files are far, Read and ReadRows
  // find what was begun while the thread's StartedReads lasts (io/files/started_reads.h).
  virtual void StartRows(const RowPositions& /*wanted*/) const {}
  // For the end of an epoch: kData if a far file that was read since the last call has changed since it was listed,
  // where its store refuses no reads of another version (FarFiles::conditional_reads).
  virtual absl::Status CheckUnchanged() const { return absl::OkStatus(); }
  // Where notes of its rows would be that came with its files (core/row_notes.h); most of these files are not there.
  virtual void AddNoteFiles(std::vector<std::string>& /*paths*/) const {}
};

// A source of rows in sequence, many at a time.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // Goes to the row after those that its checkpoint counters count; the first is the number of rows read in this epoch.
  // Zeros: the start. After an error the epoch ends: ReadRows is not called.
  virtual absl::Status Start(uint64_t epoch, absl::Span<const uint64_t> counters) = 0;
  // Puts the next rows that `share` has, at least one and at most `rows`, into a block that has none, with one
  // contiguous column for each where it can. The position of a row is the number of rows read before it in this epoch.
  // Sets `counters` to the counters after the last row put there; later rows outside the share may already have been
  // read. Sets `end` instead if no row is left. On an error the rows before the failed one are in the block. A
  // source that can go on after a row that failed sets block.failed to its identity, and `counters` to those after it:
  // if such rows are skipped, ReadRows is called again.
  virtual absl::Status ReadRows(int rows, const RowShare& share, Block& block, absl::Span<uint64_t> counters,
                                bool& end) = 0;
  virtual void AddFingerprints(std::vector<Fingerprint>& fingerprints) const = 0;
  virtual std::shared_ptr<const RowWarnings> warnings() const { return nullptr; }
};

class RowOperator {
 public:
  virtual ~RowOperator() = default;
  // Changes the rows in place. A row that fails ends the block: block.Fail(row, status), with the columns of the rows
  // after it unchanged. Keeps terminators. Never called for a tombstone.
  virtual void Apply(Block& block) const = 0;
  // For an operator whose properties say `splits_messages`: makes several blocks of one, in order, one of each row; the
  // last takes the terminator. Its one checkpoint counter, the last one of `before`, the checkpoint before the block,
  // is the number of rows given out since. Where a row fails, the last part is the message as Fail left it, without
  // rows.
  virtual void Split(Message message, const Checkpoint& before, std::vector<Message>& parts) const;
  // The cache of the rows that come to it. The source looks there first, and a row that it finds bypasses all operators
  // between. Null: it has none.
  virtual std::shared_ptr<RowCache> row_cache() const { return nullptr; }
  // Its automatic cache; row_cache() is that cache once it is opened. Null: it has no cache point.
  virtual std::shared_ptr<AutomaticCache> automatic_cache() const { return nullptr; }
  // Counts rows with a warning. Null: its rows have none.
  virtual std::shared_ptr<const RowWarnings> warnings() const { return nullptr; }
  // Counts what its kernels do. Null: they count nothing.
  virtual std::shared_ptr<const WorkCounts> work_counts() const { return nullptr; }
};

// Receives what a stream operator gives out.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void Give(Message message) = 0;
  // Tells input `input` to end every epoch up to `epoch`, in the input's numbers, with one end-of-epoch marker.
  virtual void FinishEpoch(int input, uint64_t epoch) = 0;
};

class StreamOperator {
 public:
  virtual ~StreamOperator() = default;
  // kState if no checkpoint of this operator can have these counters. Called before Start for the counters of an
  // untrusted state.
  virtual absl::Status CheckCounters(absl::Span<const uint64_t> /*counters*/) const { return absl::OkStatus(); }
  // The epoch and counters to go on from, before any message; `inputs` is the checkpoint that its inputs go on from.
  virtual void Start(uint64_t epoch, absl::Span<const uint64_t> counters, const Checkpoint& inputs) = 0;
  // The input whose next message it needs.
  virtual int wants() const { return 0; }
  // Takes one message and returns few for it; the rest is returned by later calls, when there is a slot. A tombstone
  // counts as a row and is passed on (Block::tombstone); rows that a message notes as removed (Block::removed) are
  // attached to the next row and must be emitted with it or earlier.
  virtual void Receive(int input, Message message, Outbox& out) = 0;
  virtual bool has_pending_output() const { return false; }
  virtual void Continue(Outbox& /*out*/) {}
  // Downstream needs nothing more of all epochs up to `epoch`: drops what it holds of them. The end-of-epoch marker
  // follows from below.
  virtual void Finish(uint64_t /*epoch*/) {}
  // The bytes that it is expected to allocate for the next message, besides those it holds and is given; nullopt: as
  // many as the most so far.
  virtual std::optional<int64_t> expected_bytes() const { return std::nullopt; }
  // The bytes that it holds between messages.
  virtual size_t held_bytes() const { return 0; }
  // Called after Start: false if it never receives anything, so that operators below must not start.
  virtual bool needs_input() const { return true; }
  // The last of its own epochs that is needed; set before Start.
  virtual void SetLastEpoch(uint64_t /*epoch*/) {}
  // As for a row operator, except that it looks up rows itself.
  virtual std::shared_ptr<RowCache> row_cache() const { return nullptr; }
};

// The error of CheckCounters for an impossible counter: "stood at pass 7 of 3".
template <typename... Parts>
absl::Status CounterError(const Parts&... parts) {
  return StateError("the state was not taken of this pipeline: it says that the operator ", parts...);
}

// For counters of rows of one message.
inline absl::Status CheckRowsOfMessage(uint64_t rows) {
  if (rows <= static_cast<uint64_t>(std::numeric_limits<int>::max())) return absl::OkStatus();
  return CounterError("used ", rows, " rows of one message");
}

// Settings of the run, and the bindings of the graph to this process.
struct RunOptions {
  std::optional<uint64_t> seed;  // iterate's, else the graph's, else 0
  const HostBindings* bindings = nullptr;
  const FileSystem* files = DefaultFileSystem();  // that sources read from
  uint64_t rank = 0;                              // of the ranks that rows are sharded among
  uint64_t world = 1;                             // their number
  int64_t memory = int64_t{2} << 30;              // the budget, in bytes
  bool skip_failed = false;                       // rows that fail are left out
  uint64_t first_epoch = 0;                       // of the result, with which it begins
  // The ranges of `first_epoch` that are run, each as an epoch of the run; null: whole epochs.
  const BatchRanges* ranges = nullptr;
  // Whether sources may write what they keep beside the data, such as an index: not where a graph is only looked at.
  bool writes = false;

  // The epoch of the data in an epoch of the run, of an operator whose epochs are those of the result.
  uint64_t DataEpoch(uint64_t epoch) const { return ranges == nullptr ? epoch : first_epoch; }
};

// The epoch whose rows come in `epoch`, if rows repeat after `cycle` epochs, as below a cache; 0: they never do.
inline uint64_t RowEpochOf(uint64_t epoch, uint64_t cycle) { return cycle == 0 ? epoch : epoch % cycle; }

struct OpArguments {
  std::string name;      // "batch[3]"
  std::string location;  // "train.py:12"
  const ir::proto::Node* node = nullptr;
  ir::Attributes attributes;
  std::vector<ir::Schema> inputs;
  ir::ColumnHistories histories;  // for a map: of the columns of its input
  ir::Schema output;
  uint64_t seed = 0;  // the operator's own, else the run's
  uint64_t salt = 0;
  const RunOptions* run = nullptr;
  // RowEpochOf converts with it to the epoch of ids and draws.
  uint64_t epoch_cycle = 0;
  uint64_t first_epoch = 0;  // of its own, with which the run begins, as ids have it
  uint64_t run_length = 1;   // rows of its input stay together in runs of so many
  bool lists_rows = false;   // as OperatorProperties::lists_rows
};

using IndexedSources = std::vector<std::unique_ptr<IndexedSource>>;

// The factories of an operator; exactly one of the first four is set, or none for an operator that can only act on
// indices; a source that an attribute gives random access has the first two. `indexed` is set, in addition, for
// operators that only act on indices if all their inputs are indexed.
struct OpFactories {
  std::function<absl::StatusOr<std::unique_ptr<IndexedSource>>(const OpArguments&)> indexed_source = {};
  std::function<absl::StatusOr<std::unique_ptr<StreamSource>>(const OpArguments&)> stream_source = {};
  std::function<absl::StatusOr<std::unique_ptr<RowOperator>>(const OpArguments&)> row = {};
  std::function<absl::StatusOr<std::unique_ptr<StreamOperator>>(const OpArguments&)> stream = {};
  std::function<absl::StatusOr<std::unique_ptr<IndexedSource>>(const OpArguments&, IndexedSources inputs)> indexed = {};
  // Set in addition for operators that use the keys of rows if their input is one to one with an indexed source.
  std::function<absl::StatusOr<std::unique_ptr<RowOperator>>(const OpArguments&)> keyed = {};
  // Sets the properties of this use of the operator, in addition to the declaration's traits; not set: no more.
  std::function<void(const OpArguments&, OperatorProperties& properties)> properties = {};
  // The number of rows given out, from those of the inputs; not set: as many as the first input, one to one.
  std::function<Cardinality(const OpArguments&, absl::Span<const Cardinality> inputs)> cardinality = {};
};

// Declares an operator and its factories, at any time and from any thread. kGraph, with nothing changed: as
// ir::Registry::Register.
absl::Status RegisterOp(ir::Declaration declaration, OpFactories factories);
// The same before main, where an error is a bug and aborts; at namespace scope in the operator's own file.
struct OpRegistration {
  OpRegistration(ir::Declaration declaration, OpFactories factories);
};

// For an operator whose declaration is a room's of its own (ir/row_ops), so that graphs are read without its factories.
struct FactoriesRegistration {
  FactoriesRegistration(std::string_view name, OpFactories factories);
};

// Null: there is none. Stays valid.
const OpFactories* FindOp(std::string_view name);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_OPERATOR_H_

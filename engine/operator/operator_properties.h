// `OperatorProperties` is what is known of an operator before it runs: one value, computed once when the plan is made.
// No property identifies one operator: other operators could have it too.
// Threads: values.
#ifndef HEADRACE_ENGINE_OPERATOR_OPERATOR_PROPERTIES_H_
#define HEADRACE_ENGINE_OPERATOR_OPERATOR_PROPERTIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/operator/epoch_range.h"
#include "ir/declaration.h"

namespace headrace {

// The number of rows of an epoch, as far as it is known before the run.
struct Cardinality {
  enum class Kind { kKnown, kUnknown, kEndless } kind = Kind::kUnknown;
  uint64_t rows = 0;

  static Cardinality Of(uint64_t rows) { return {Kind::kKnown, rows}; }
  static Cardinality Unknown() { return {}; }
  static Cardinality Endless() { return {Kind::kEndless, 0}; }
  // Not known if the product exceeds 64 bits.
  static Cardinality Product(uint64_t rows, uint64_t times) {
    Cardinality product = Of(0);
    return __builtin_mul_overflow(rows, times, &product.rows) ? Unknown() : product;
  }
  bool known() const { return kind == Kind::kKnown; }

  friend bool operator==(const Cardinality&, const Cardinality&) = default;
};

// Which epochs of its inputs make up an epoch of an operator: epoch e runs `runs` consecutive epochs of the inputs,
// from e * stride on.
struct EpochMapping {
  uint64_t stride = 1;
  uint64_t runs = 1;
  // The checkpoint counter that counts how many of those epochs have ended; -1: none does.
  int counter = -1;

  uint64_t FirstInput(uint64_t epoch) const { return epoch * stride; }
  uint64_t LastInput(uint64_t epoch) const { return epoch * stride + (runs - 1); }
  // The input's epoch in which the operator resumes with its own `counters`.
  uint64_t StartInput(uint64_t epoch, absl::Span<const uint64_t> counters) const {
    return FirstInput(epoch) + (counter < 0 ? 0 : counters[static_cast<size_t>(counter)]);
  }
  // The last of its own epochs for which the epochs of its inputs can be counted.
  uint64_t Last() const { return (EpochRange::kMost - (runs - 1)) / stride; }

  friend bool operator==(const EpochMapping&, const EpochMapping&) = default;
};

// A point in an operator's own work at which its rows may be kept, so that later epochs begin there.
struct CachePoint {
  std::string after;    // the step before it: "Decode"; "the source"
  std::string columns;  // that a row has there: "0 image, 1 label"
  ir::Schema types = {};

  friend bool operator==(const CachePoint&, const CachePoint&) = default;
};

// Where an operator keeps the rows that come to it.
struct RowStorage {
  std::string folder;   // for later runs, too; empty: in memory alone
  std::string version;  // of the user's code that makes them; empty: not known

  friend bool operator==(const RowStorage&, const RowStorage&) = default;
};

struct OperatorProperties {
  // The declaration's; an operator may refine them for this use of it (map: whether a step calls Python).
  ir::Traits traits;
  // Rows of an epoch.
  Cardinality cardinality;
  EpochMapping epochs;
  // The rows of its inputs repeat after so many of their epochs, as below a cache; 0: never. Not set: as its own rows.
  std::optional<uint64_t> input_cycle;
  // The number of its own counters in a checkpoint.
  int checkpoint_counters = 0;
  // It can list the rows that it holds (listed_rows.h), and then has so many counters besides the numbers of these
  // rows. Not set: it cannot.
  std::optional<int> counters_if_listing;
  // Set by the planner when the input supports reads by row number and every operator above accepts checkpoints of
  // variable width.
  bool lists_rows = false;
  // Rows of its input that it joins into one, in order; 0: it forms no batches.
  int64_t batch_rows = 0;
  // Its input rows may be written to their slots of the batch in advance.
  bool takes_batch_slots = false;
  // It makes its result in the block's batch slot, if there is one.
  bool writes_batch_slots = false;
  // Passes on its input rows unchanged and in order, up to some row of each epoch; it may take several epochs for one.
  bool passes_rows = false;
  // The rows come in another order in each epoch, or are others.
  bool new_order_each_epoch = false;
  // Makes several messages of one, and returns them in order.
  bool splits_messages = false;
  // The cardinality is that of the run's first epoch; others may have other numbers of rows.
  bool rows_differ = false;
  // The user's code chooses the order of each epoch when the epoch begins.
  bool asks_for_order = false;
  // Rows stay together in runs of so many, from the start of each epoch: ranks get whole runs, and so do batches.
  uint64_t run_length = 1;
  // Runs may have fewer rows: the positions after them are counted, but hold none.
  bool uneven_runs = false;
  // A source that shards itself: which rows a rank gets does not follow from the number of rows given out.
  bool shards_itself = false;
  // A source that reads so many rows in one call, where they may travel together; 0: the engine chooses.
  int run_rows = 0;
  // Worker processes that take its calls of user code, in any order; 0: they are made in this process.
  int processes = 0;
  // It keeps its input rows and gives them again in later epochs; not set: it keeps none.
  std::optional<RowStorage> keeps;
  std::vector<CachePoint> cache_points;

  friend bool operator==(const OperatorProperties&, const OperatorProperties&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_OPERATOR_PROPERTIES_H_

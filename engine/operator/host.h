// `HostFunction`, `HostIterator` and `HostRows` are the interfaces to the user's own language: functions, iterators,
// rows, arrays and Arrow data, bound by the names in the graph. The engine does not depend on Python; the front end
// implements these interfaces.
// Threads: functions are called from the threads of one stage; each call takes the locks that it needs itself, or finds
// them taken by a HostLock of its thread.
#ifndef HEADRACE_ENGINE_OPERATOR_HOST_H_
#define HEADRACE_ENGINE_OPERATOR_HOST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/strided_array.h"
#include "core/tensor.h"

namespace headrace {

class ArrowStream;
class ArrowTable;

class HostFunction {
 public:
  virtual ~HostFunction() = default;
  // `random` is null unless the function has a parameter for a generator; a single result that is copied is allocated
  // by `output`.
  virtual absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom* random,
                                                   OutputAllocator& output) = 0;
  // Worker processes that take its calls, in any order, one each; 0: it is called in this process.
  virtual int processes() const { return 0; }
};

class HostIterator {
 public:
  virtual ~HostIterator() = default;
  // Begins the epoch at row `position`, by seeking, or by reading and dropping the rows before.
  virtual absl::Status Start(uint64_t epoch, uint64_t position) = 0;
  // The columns of the next row in the declared order; empty: the epoch ends.
  virtual absl::StatusOr<std::vector<Tensor>> Next() = 0;
};

// The host's lock, which this thread holds while the object lives: calls in between need not hand it over one by one.
class HostLock {
 public:
  virtual ~HostLock() = default;
};

// Rows by number, as of an object with __getitem__.
class HostRows {
 public:
  virtual ~HostRows() = default;
  virtual uint64_t size() const = 0;
  // Whether rows are read in long runs: one call for many costs less than one for each.
  virtual bool in_runs() const = 0;
  // Those that a source reads in one call, where they may travel together; 0: the engine chooses.
  int run_rows() const { return in_runs() ? 32 : 0; }
  // Appends the rows at `indices`, each with its columns in the declared order. On an error the rows before the failed
  // one are there. `epoch_key`: of the random numbers of the epoch (RowRandom::KeyOf).
  virtual absl::Status Read(uint64_t epoch_key, absl::Span<const uint64_t> indices,
                            std::vector<std::vector<Tensor>>& rows) = 0;
  // As HostFunction's.
  virtual int processes() const { return 0; }
};

struct HostArrays {
  // Column names with tensors; row i of a column is element i of its first axis, unless it has splits.
  std::vector<std::pair<std::string, Tensor>> columns;
  // Of ragged columns, by name: int64 (n + 1). Row i has the elements from splits[i] to splits[i + 1] of the first
  // axis.
  std::map<std::string, Tensor, std::less<>> splits = {};
  // Further columns, by name: those that are not row-major.
  std::map<std::string, StridedArray, std::less<>> strided = {};
};

// Data of another library by the Arrow C data interface: one of the two (io/formats/arrow).
struct HostArrow {
  std::shared_ptr<const ArrowTable> table;
  std::shared_ptr<ArrowStream> stream;
};

struct HostBindings {
  std::map<std::string, std::shared_ptr<HostFunction>, std::less<>> functions;
  // Made for each run, because an iterator has a position.
  std::map<std::string, std::function<std::shared_ptr<HostIterator>()>, std::less<>> iterators;
  std::map<std::string, std::shared_ptr<HostRows>, std::less<>> rows;
  std::map<std::string, HostArrays, std::less<>> arrays;
  std::map<std::string, HostArrow, std::less<>> arrow = {};
  // Takes the lock that all calls take; not set, or null: each call takes it.
  std::function<std::unique_ptr<HostLock>()> lock = {};
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_HOST_H_

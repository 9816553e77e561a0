// `HostChildren` gives the rows that a host function makes of one row, as from a generator: the function is called for
// the row, and runs on as its rows are asked for.
// Threads: as HostFunction's; what it gives is used by one thread at a time and may be destroyed on any.
#ifndef HEADRACE_ENGINE_OPERATOR_HOST_CHILDREN_H_
#define HEADRACE_ENGINE_OPERATOR_HOST_CHILDREN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/philox.h"
#include "core/tensor.h"

namespace headrace {

class HostChildren {
 public:
  virtual ~HostChildren() = default;
  // Makes so many rows and drops them; fewer if the function has no more.
  virtual absl::Status Drop(uint64_t rows) = 0;
  // Appends the next rows: at most `rows`, and no more once they take `bytes`. Sets `ended` if none is left. On an
  // error the rows before it are there.
  virtual absl::Status Next(int rows, size_t bytes, std::vector<std::vector<Tensor>>& made, bool& ended) = 0;
  // Ends the function's work for this row, as no more rows are needed. Once; comes before the end of the run alone.
  virtual void Close() = 0;
};

// A HostFunction that can be asked for rows.
class ChildrenFunction {
 public:
  virtual ~ChildrenFunction() = default;
  // `columns`: the names of those that each row has. `random`: as HostFunction's.
  virtual absl::StatusOr<std::unique_ptr<HostChildren>> MakeChildren(absl::Span<const Tensor> inputs, RowRandom* random,
                                                                     const std::vector<std::string>& columns) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_OPERATOR_HOST_CHILDREN_H_

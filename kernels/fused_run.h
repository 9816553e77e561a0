// `FusedRun` runs consecutive kernels as one pass over a value. The room whose kernels can be fused registers a maker
// before main, so that who runs kernels depends on none of them. The plain kernels are the specification: the pass
// gives the same bits. Threads: made once and const afterwards; Apply is safe from any thread.
#ifndef HEADRACE_KERNELS_FUSED_RUN_H_
#define HEADRACE_KERNELS_FUSED_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "kernels/kernel.h"

namespace headrace {

class FusedRun {
 public:
  struct Part {
    const Kernel* kernel = nullptr;  // must outlive the run
    uint64_t seed = 0;
    uint64_t salt = 0;
  };
  virtual ~FusedRun() = default;
  // The number of fused parts.
  virtual size_t parts() const = 0;
  // Fails if a plain kernel would; the plain kernels then report the error. The result is allocated by `output` unless
  // it is a view. `notes` are those of the first part; null: nothing is kept of this row.
  virtual absl::StatusOr<Tensor> Apply(const Tensor& input, const RowId& id, OutputAllocator& output,
                                       RowNotes* notes) const = 0;
};

// Fuses the longest prefix of `parts` that fits; null if that is fewer than two.
using FusedRunMaker = std::shared_ptr<const FusedRun> (*)(absl::Span<const FusedRun::Part> parts);

// Registers a maker; for objects that live as long as the program.
class FusedRunRegistration {
 public:
  explicit FusedRunRegistration(FusedRunMaker maker);
};

// The longest run that a registered maker makes of a prefix of `parts`; null if none fuses two.
std::shared_ptr<const FusedRun> FuseRun(absl::Span<const FusedRun::Part> parts);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FUSED_RUN_H_

// `Kernel` is a pure function from the tensors of one row to tensors of that row. It knows no threads, no graph and no
// files. A kernel allocates its result from its context and everything else from the pool of the running task; it may
// return a view of its input. After `batch` a row is a batch: a kernel whose trait is `by_batch` knows that its tensors
// hold rows along their first axis, and joins them; every other kernel treats the batch as one array.
// Threads: a Kernel is made once from its attributes and is const afterwards; any thread may apply it to any row.
#ifndef HEADRACE_KERNELS_KERNEL_H_
#define HEADRACE_KERNELS_KERNEL_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "core/tensor.h"
#include "ir/attributes.h"
#include "ir/declaration.h"

namespace headrace {

// The results of a kernel for one row, in the order of its outputs; most have one, which needs no heap memory.
using Tensors = absl::InlinedVector<Tensor, 1>;

class RowNotes;

// The context of one call: the row's or the batch's random numbers, an allocator for the result, which rows of the
// batch stand apart, and what the kernel noted when the row came before. Used by one thread.
class KernelContext {
 public:
  // `output`, `fillers` and `notes` must outlive the context.
  KernelContext(RowRandom random, OutputAllocator& output, absl::Span<const bool> fillers = {},
                RowNotes* notes = nullptr)
      : random_(random), output_(output), fillers_(fillers), notes_(notes) {}

  // The row's own stream, fresh for every call: two columns of one row get the same draws. For a batch it is that of
  // its identity, which is its first row's.
  RowRandom& random() { return random_; }
  // For a kernel by_batch: one mark a row; rows that are marked repeat others so that ranks step alike, and must not be
  // joined with others. Empty: no row is marked.
  absl::Span<const bool> fillers() const { return fillers_; }
  OutputAllocator& output() { return output_; }
  // Null: nothing is kept of this row from one time to the next.
  RowNotes* notes() { return notes_; }
  // Only for the tensor that Apply returns.
  absl::StatusOr<Tensor> AllocateOutput(DType dtype, absl::Span<const int64_t> shape) {
    return output_.Allocate(dtype, shape);
  }

 private:
  RowRandom random_;
  OutputAllocator& output_;
  absl::Span<const bool> fillers_;
  RowNotes* notes_;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Errors: kData for bad bytes, kGraph for a dtype or shape that is only known from the row.
  virtual absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const = 0;
  // Whether Apply to many rows stacked along a new first axis gives their results stacked, bit for bit, so that one
  // call can process many light rows. Not if it draws random numbers or depends on the rank.
  virtual bool applies_to_stacks() const { return false; }
  // Whether it may raise a RowWarning for a row that it makes.
  virtual bool may_warn() const { return false; }
  // Whether it adds to WorkCounts.
  virtual bool counts_work() const { return false; }
};

// One tensor in, one out: most kernels.
class UnaryKernel : public Kernel {
 public:
  virtual absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const = 0;
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const final;
};

// Attributes are validated; a combination that is invalid fails with kGraph.
using KernelFactory = std::function<absl::StatusOr<std::unique_ptr<Kernel>>(const ir::Attributes& attributes)>;

// For a kernel whose construction from attributes cannot fail.
template <typename K>
KernelFactory Makes() {
  return [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    return std::make_unique<K>(attributes);
  };
}

// Declares a kernel and its factory, at any time and from any thread. kGraph, with nothing changed: as
// ir::Registry::Register.
absl::Status RegisterKernel(ir::Declaration declaration, KernelFactory factory);

// The same before main, where an error is a bug and aborts. Use at namespace scope in the kernel's own file:
//   const KernelRegistration registration{{.name = "HWC2CHW", ...}, Makes<Hwc2Chw>()};
struct KernelRegistration {
  KernelRegistration(ir::Declaration declaration, KernelFactory factory);
};

// kInternal if no such kernel is linked in: validation comes first.
absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(std::string_view name, const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_KERNEL_H_

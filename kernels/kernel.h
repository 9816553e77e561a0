// Kernels: pure functions from the tensors of one row to tensors of that row. No threads, no graph, no files.
// A Kernel is made once from its attributes and is const afterwards: any thread may apply it to any row.
// It allocates its result by its context and everything else from the pool of the running task; it may return a view of
// its input.
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

// What a kernel gives for one row, in the order of its outputs; most give one, for which no memory is taken.
using Tensors = absl::InlinedVector<Tensor, 1>;

// What a kernel is given for one row: the row's random numbers, and an allocator for its result. Used by one
// thread.
class KernelContext {
 public:
  // `output` outlives the context.
  KernelContext(RowRandom random, OutputAllocator& output) : random_(random), output_(output) {}

  // The row's own stream, fresh for every call: two columns of one row see the same draws.
  RowRandom& random() { return random_; }
  OutputAllocator& output() { return output_; }
  // For the tensor that Apply returns, and for nothing else.
  absl::StatusOr<Tensor> AllocateOutput(DType dtype, absl::Span<const int64_t> shape) {
    return output_.Allocate(dtype, shape);
  }

 private:
  RowRandom random_;
  OutputAllocator& output_;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Errors: kData for bad bytes, kGraph for a dtype or shape that only the row could show.
  virtual absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const = 0;
  // Apply to many rows stacked along a new first axis gives their results stacked, bit for bit: light rows then take
  // one call for all. Not where it draws random numbers or looks at the rank.
  virtual bool applies_to_stacks() const { return false; }
  // It may raise a RowWarning for a row that it makes.
  virtual bool may_warn() const { return false; }
};

// One tensor in, one out: most kernels.
class UnaryKernel : public Kernel {
 public:
  virtual absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const = 0;
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const final;
};

// Attributes are validated; what only their combination can show fails with kGraph.
using KernelFactory = std::function<absl::StatusOr<std::unique_ptr<Kernel>>(const ir::Attributes& attributes)>;

// Of a kernel that is made from its attributes and cannot fail at that.
template <typename K>
KernelFactory Makes() {
  return [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    return std::make_unique<K>(attributes);
  };
}

// Declares a kernel and says how it is made. Use at namespace scope in the kernel's own file:
//   const KernelRegistration registration{{.name = "HWC2CHW", ...}, Makes<Hwc2Chw>()};
struct KernelRegistration {
  KernelRegistration(ir::Declaration declaration, KernelFactory factory);
};

// kInternal when no such kernel is linked in: validation comes first.
absl::StatusOr<std::unique_ptr<Kernel>> MakeKernel(std::string_view name, const ir::Attributes& attributes);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_KERNEL_H_

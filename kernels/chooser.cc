#include "kernels/chooser.h"

#include "core/error.h"

namespace headrace {

absl::StatusOr<Tensors> Chooser::Apply(absl::Span<const Tensor>, KernelContext&) const {
  return InternalError("a chooser runs inside map alone");
}

}  // namespace headrace

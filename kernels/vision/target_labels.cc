#include "kernels/vision/target_labels.h"

#include "core/error.h"

namespace headrace {

absl::Status CheckLabels(const Tensor& labels, size_t count, std::string_view owner) {
  if (labels.rank() > 0 && labels.dim(0) == static_cast<int64_t>(count)) return absl::OkStatus();
  return GraphError("needs one label a ", owner, ", of shape (", count, ", …); got ", labels.TypeName());
}

}  // namespace headrace

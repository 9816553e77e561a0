#include "kernels/vision/targets/kept_labels.h"

#include <utility>

#include "core/error.h"
#include "kernels/vision/targets/target_labels.h"

namespace headrace {
namespace {

absl::StatusOr<Tensor> Kept(const Tensor& labels, const std::vector<bool>& keep) {
  std::vector<Tensor> rows;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) rows.push_back(labels.Index(static_cast<int64_t>(i)));
  }
  if (rows.size() == keep.size()) return labels;
  if (rows.empty()) return labels.Slice(0, 0, 0);
  return Stack(rows);
}

}  // namespace

absl::Status AppendKept(absl::Span<const Tensor> labels, const std::vector<bool>& keep, std::string_view owner,
                        Tensors& outputs) {
  for (const Tensor& each : labels) {
    HEADRACE_RETURN_IF_ERROR(CheckLabels(each, keep.size(), owner));
    HEADRACE_ASSIGN_OR_RETURN(Tensor kept, Kept(each, keep));
    outputs.push_back(std::move(kept));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ir::ColumnType>> TypesOfFewer(absl::Span<const ir::ColumnType> inputs, CanvasType of_target,
                                                         std::string_view owner) {
  std::vector<ir::ColumnType> types(inputs.begin(), inputs.end());
  HEADRACE_ASSIGN_OR_RETURN(types[0], of_target(types[0], 0));
  for (ir::ColumnType& type : types) {
    if (type.shape && type.shape->empty()) {
      return GraphError("needs one label a ", owner, ", of shape (n, …); got ", ir::TypeName(type));
    }
    if (type.shape) (*type.shape)[0] = ir::kUnknownDim;
  }
  return types;
}

}  // namespace headrace

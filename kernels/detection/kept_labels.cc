#include "kernels/detection/kept_labels.h"

#include "core/error.h"
#include "kernels/vision/box_format.h"
#include "kernels/vision/canvas_boxes.h"

namespace headrace {

absl::StatusOr<Tensor> LabelsKept(const Tensor& labels, const std::vector<bool>& keep) {
  HEADRACE_RETURN_IF_ERROR(CheckLabels(labels, keep.size()));
  std::vector<Tensor> rows;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) rows.push_back(labels.Index(static_cast<int64_t>(i)));
  }
  if (rows.size() == keep.size()) return labels;
  if (rows.empty()) return labels.Slice(0, 0, 0);
  return Stack(rows);
}

absl::StatusOr<std::vector<ir::ColumnType>> TypesOfFewerBoxes(absl::Span<const ir::ColumnType> inputs) {
  std::vector<ir::ColumnType> types(inputs.begin(), inputs.end());
  HEADRACE_ASSIGN_OR_RETURN(types[0], RowsOfFourType(types[0], 0));
  for (ir::ColumnType& type : types) {
    if (type.shape && type.shape->empty()) {
      return GraphError("needs one label a box, of shape (n, …); got ", ir::TypeName(type));
    }
    if (type.shape) (*type.shape)[0] = ir::kUnknownDim;
  }
  return types;
}

}  // namespace headrace

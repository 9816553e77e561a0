// What belongs to boxes, one element a box, where some of the boxes are removed. Pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_DETECTION_KEPT_LABELS_H_
#define HEADRACE_KERNELS_DETECTION_KEPT_LABELS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"

namespace headrace {

// The labels, along the first axis, of the boxes for which `keep` is true. Fails as CheckLabels (box_format.h).
absl::StatusOr<Tensor> LabelsKept(const Tensor& labels, const std::vector<bool>& keep);

// The types of boxes on their canvas, and of their labels, behind what removes some of them. kGraph for others.
absl::StatusOr<std::vector<ir::ColumnType>> TypesOfFewerBoxes(absl::Span<const ir::ColumnType> inputs);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DETECTION_KEPT_LABELS_H_

// `AppendKept` filters per-box and per-keypoint columns (labels, masks) when boxes or keypoints are removed.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_KEPT_LABELS_H_
#define HEADRACE_KERNELS_VISION_TARGETS_KEPT_LABELS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/type.h"
#include "kernels/kernel.h"

namespace headrace {

// Appends of each of the labels, along the first axis, those whose owners `keep` marks. Fails as CheckLabels
// (target_labels.h).
absl::Status AppendKept(absl::Span<const Tensor> labels, const std::vector<bool>& keep, std::string_view owner,
                        Tensors& outputs);

// The type of a target on its canvas with so many more rows: RowsOfFourType or KeypointsType.
using CanvasType = absl::FunctionRef<absl::StatusOr<ir::ColumnType>(const ir::ColumnType& type, int64_t more)>;

// The types of a target on its canvas, and of its labels, after what removes some of it. kGraph for others.
absl::StatusOr<std::vector<ir::ColumnType>> TypesOfFewer(absl::Span<const ir::ColumnType> inputs, CanvasType of_target,
                                                         std::string_view owner);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_KEPT_LABELS_H_

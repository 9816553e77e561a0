// `CheckLabels` checks what belongs to each box, or to each of the keypoints along their first axis: one element for
// each, in any shape.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_TARGET_LABELS_H_
#define HEADRACE_KERNELS_VISION_TARGETS_TARGET_LABELS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "ir/declaration.h"

namespace headrace {

// What errors call the owner of a label.
inline constexpr std::string_view kOwnerBox = "box";
inline constexpr std::string_view kOwnerKeypoint = "keypoint";

// Whether there is one label for each of so many: kGraph if not.
absl::Status CheckLabels(const Tensor& labels, size_t count, std::string_view owner);

// For what the user gave: kData if a row's labels are not as many as their owners. `columns`: what
// LabelColumnsAttribute holds.
absl::Status CheckGivenLabels(absl::Span<const Tensor> labels, size_t count, std::string_view owner,
                              const std::vector<std::string>& columns);
ir::Attribute LabelColumnsAttribute();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_TARGET_LABELS_H_

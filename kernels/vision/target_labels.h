// What belongs to each box, or to each of the keypoints along their first axis: one element for each, in any shape.
// Pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_TARGET_LABELS_H_
#define HEADRACE_KERNELS_VISION_TARGET_LABELS_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "core/tensor.h"

namespace headrace {

// What errors call the owner of a label.
inline constexpr std::string_view kOwnerBox = "box";
inline constexpr std::string_view kOwnerKeypoint = "keypoint";

// Whether there is one label for each of so many: kGraph if not.
absl::Status CheckLabels(const Tensor& labels, size_t count, std::string_view owner);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGET_LABELS_H_

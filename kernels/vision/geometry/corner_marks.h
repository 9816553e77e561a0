// `kCornerMarks` names the kernel that gives an image of four marks, one for each corner, which flips turn in place of
// their images where a device flips these. Use it as a companion of a kernel that flips.
// Threads: a constant.
#ifndef HEADRACE_KERNELS_VISION_GEOMETRY_CORNER_MARKS_H_
#define HEADRACE_KERNELS_VISION_GEOMETRY_CORNER_MARKS_H_

#include <string_view>

namespace headrace {

inline constexpr std::string_view kCornerMarks = "CornerMarks";

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_GEOMETRY_CORNER_MARKS_H_

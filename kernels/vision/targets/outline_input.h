// `OpenOutlines` opens a kernel's input of outlines (core/outline_bytes.h), and `MaxPixelsOfOutlines` declares the
// limit on what is painted of them. Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_TARGETS_OUTLINE_INPUT_H_
#define HEADRACE_KERNELS_VISION_TARGETS_OUTLINE_INPUT_H_

#include "absl/status/statusor.h"
#include "core/outline_bytes.h"
#include "core/tensor.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace {

// The outlines with their head read, over the bytes of `dense`, which must be contiguous and outlive them. kGraph: the
// input has another type; kData: its bytes are not outlines.
absl::StatusOr<OutlineReader> OpenOutlines(const Tensor& dense);

// kGraph: a column of this type has no outlines.
absl::Status CheckOutlinesType(const ir::ColumnType& type);

ir::Attribute MaxPixelsOfOutlines();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_TARGETS_OUTLINE_INPUT_H_

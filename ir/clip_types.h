// `InferKernelTypes` infers what a kernel gives for the columns of rows, clips included: where a kernel takes them one
// frame at a time (Declaration::clips), these are the types for one frame with the number of frames in front. Use it in
// place of Declaration::infer_kernel, which knows single images alone.
// Threads: pure functions.
#ifndef HEADRACE_IR_CLIP_TYPES_H_
#define HEADRACE_IR_CLIP_TYPES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "ir/type.h"

namespace headrace::ir {

// (T, H, W, C): T frames.
inline constexpr size_t kClipRank = 4;

// Whether every row of the type has as many axes as a clip.
bool IsClipType(const ColumnType& type);

// Of one frame of a clip; other types stay as they are. kGraph: clips without frames.
absl::StatusOr<ColumnType> FrameTypeOf(const ColumnType& type);

// Fails as infer_kernel does.
absl::StatusOr<std::vector<ColumnType>> InferKernelTypes(const Declaration& kernel, const Attributes& attributes,
                                                         absl::Span<const ColumnType> inputs);

}  // namespace headrace::ir

#endif  // HEADRACE_IR_CLIP_TYPES_H_

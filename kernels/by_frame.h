// `ApplyByFrame` gives a clip, (T, H, W, C), to a kernel of images frame by frame: each frame becomes what an image of
// the row becomes, with the same draws, and the results are joined along a first axis. Use it for kernels that take
// clips so (ir::Declaration::clips), on columns of rows; above a batch an array of four axes is not a clip.
// Threads: as Kernel::Apply.
#ifndef HEADRACE_KERNELS_BY_FRAME_H_
#define HEADRACE_KERNELS_BY_FRAME_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/row_id.h"
#include "core/tensor.h"
#include "ir/clip_types.h"
#include "kernels/fused_run.h"
#include "kernels/kernel.h"

namespace headrace {

inline bool IsClip(const Tensor& tensor) { return tensor.rank() == static_cast<int>(ir::kClipRank); }

// The first frame of a clip; other tensors stay as they are. kGraph: a clip without frames.
absl::StatusOr<Tensor> FirstFrame(const Tensor& image);

// As kernel.Apply, where the first input is not a clip. If it is one, other inputs that are clips are taken frame by
// frame as well, and have as many frames; the rest is the same for each frame. Fails as the kernel does, and names the
// frame.
absl::StatusOr<Tensors> ApplyByFrame(const Kernel& kernel, absl::Span<const Tensor> inputs, KernelContext& context);
// The same for fused kernels. Frames of a clip have no notes.
absl::StatusOr<Tensor> ApplyByFrame(const FusedRun& run, const Tensor& input, const RowId& id, OutputAllocator& output,
                                    RowNotes* notes);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_BY_FRAME_H_

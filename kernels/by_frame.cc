#include "kernels/by_frame.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace {
namespace {

using ApplyToFrame =
    absl::FunctionRef<absl::StatusOr<Tensors>(absl::Span<const Tensor> inputs, OutputAllocator& output)>;

absl::Status WithoutFrames(const Tensor& clip) { return GraphError("got a clip without frames: ", clip.TypeName()); }

bool IsSameView(const Tensor& a, const Tensor& b) {
  return a.raw() == b.raw() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
}

absl::Status InFrame(const absl::Status& wrong, int64_t frame, int64_t frames) {
  return Reworded(wrong, Cat(ToStd(wrong.message()), " (frame ", frame, " of ", frames, ")"));
}

// One output of all frames. As long as frames stay what they were, it is the clip itself.
class JoinedFrames {
 public:
  // Where the result for a frame belongs; invalid: not known yet.
  Tensor SlotOf(int64_t frame) const { return joined_.valid() ? joined_.Index(frame) : Tensor(); }

  // In the order of frames.
  absl::Status Add(const Tensor& clip, int64_t frame, const Tensor& result, OutputAllocator& output) {
    if (!joined_.valid()) {
      if (IsSameView(result, clip.Index(frame))) return absl::OkStatus();
      Shape shape = result.shape();
      shape.insert(shape.begin(), clip.dim(0));
      HEADRACE_ASSIGN_OR_RETURN(joined_, output.Allocate(result.dtype(), shape));
      for (int64_t same = 0; same < frame; ++same) HEADRACE_RETURN_IF_ERROR(Put(same, clip.Index(same)));
    }
    return Put(frame, result);
  }

  Tensor Take(const Tensor& clip) && { return joined_.valid() ? std::move(joined_) : clip; }

 private:
  absl::Status Put(int64_t frame, const Tensor& result) {
    Tensor slot = joined_.Index(frame);
    if (result.dtype() != slot.dtype() || result.shape() != slot.shape()) {
      return InternalError("the frames of one clip became ", slot.TypeName(), " and ", result.TypeName());
    }
    if (result.raw() != slot.raw()) result.CopyTo(slot.mutable_raw());
    return absl::OkStatus();
  }

  Tensor joined_;
};

absl::Status CheckFrames(absl::Span<const Tensor> inputs) {
  if (inputs[0].dim(0) == 0) return WithoutFrames(inputs[0]);
  for (const Tensor& input : inputs) {
    if (!IsClip(input) || input.dim(0) == inputs[0].dim(0)) continue;
    return GraphError("takes clips of equally many frames; got ", inputs[0].TypeName(), " and ", input.TypeName());
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensors> JoinFrames(absl::Span<const Tensor> inputs, OutputAllocator& output, ApplyToFrame apply) {
  HEADRACE_RETURN_IF_ERROR(CheckFrames(inputs));
  const Tensor& clip = inputs[0];
  const int64_t frames = clip.dim(0);
  absl::InlinedVector<Tensor, 2> of_frame(inputs.begin(), inputs.end());
  absl::InlinedVector<JoinedFrames, 1> joined;
  for (int64_t frame = 0; frame < frames; ++frame) {
    if (StopSignal::Raised()) return StopSignal::Error();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsClip(inputs[i])) of_frame[i] = inputs[i].Index(frame);
    }
    OutputAllocator slot(joined.size() == 1 ? joined[0].SlotOf(frame) : Tensor());
    const absl::StatusOr<Tensors> results = apply(of_frame, slot);
    if (!results.ok()) return InFrame(results.status(), frame, frames);
    if (frame == 0) joined.resize(results->size());
    if (results->size() != joined.size()) return InternalError("gave other numbers of outputs for frames of one clip");
    for (size_t i = 0; i < joined.size(); ++i) {
      HEADRACE_RETURN_IF_ERROR(joined[i].Add(clip, frame, (*results)[i], output));
    }
  }
  Tensors outputs;
  for (JoinedFrames& each : joined) outputs.push_back(std::move(each).Take(clip));
  return outputs;
}

}  // namespace

absl::StatusOr<Tensor> FirstFrame(const Tensor& image) {
  if (!IsClip(image)) return image;
  if (image.dim(0) == 0) return WithoutFrames(image);
  return image.Index(0);
}

absl::StatusOr<Tensors> ApplyByFrame(const Kernel& kernel, absl::Span<const Tensor> inputs, KernelContext& context) {
  if (inputs.empty() || !IsClip(inputs[0])) return kernel.Apply(inputs, context);
  return JoinFrames(inputs, context.output(), [&](absl::Span<const Tensor> of_frame, OutputAllocator& output) {
    // Each frame begins with the row's numbers.
    KernelContext frame_context(context.random(), output);
    return kernel.Apply(of_frame, frame_context);
  });
}

absl::StatusOr<Tensor> ApplyByFrame(const FusedRun& run, const Tensor& input, const RowId& id, OutputAllocator& output,
                                    RowNotes* notes) {
  if (!IsClip(input)) return run.Apply(input, id, output, notes);
  const auto apply = [&](absl::Span<const Tensor> of_frame, OutputAllocator& slot) -> absl::StatusOr<Tensors> {
    HEADRACE_ASSIGN_OR_RETURN(Tensor result, run.Apply(of_frame[0], id, slot, nullptr));
    return Tensors{std::move(result)};
  };
  HEADRACE_ASSIGN_OR_RETURN(const Tensors joined, JoinFrames(absl::MakeConstSpan(&input, 1), output, apply));
  return joined[0];
}

}  // namespace headrace

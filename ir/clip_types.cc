#include "ir/clip_types.h"

#include <string>
#include <utility>

#include "core/error.h"

namespace headrace::ir {
namespace {

// Of all clips among the inputs; kUnknownDim: no type says it.
absl::StatusOr<int64_t> CommonFrames(absl::Span<const ColumnType> inputs) {
  int64_t frames = kUnknownDim;
  for (const ColumnType& input : inputs) {
    if (!IsClipType(input)) continue;
    const int64_t own = input.shape->front();
    if (frames != kUnknownDim && own != kUnknownDim && own != frames) {
      return GraphError("takes clips of equally many frames; got ", frames, " and ", own);
    }
    if (frames == kUnknownDim) frames = own;
  }
  return frames;
}

absl::StatusOr<std::vector<ColumnType>> InferByFrame(const Declaration& kernel, const Attributes& attributes,
                                                     absl::Span<const ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const int64_t frames, CommonFrames(inputs));
  std::vector<ColumnType> of_frame;
  for (const ColumnType& input : inputs) {
    HEADRACE_ASSIGN_OR_RETURN(ColumnType type, FrameTypeOf(input));
    of_frame.push_back(std::move(type));
  }
  absl::StatusOr<std::vector<ColumnType>> outputs = kernel.infer_kernel(attributes, of_frame);
  if (!outputs.ok()) {
    return MakeError(KindOf(outputs.status()),
                     Cat(std::string(outputs.status().message()), " (a frame of ", TypeName(inputs[0]), ")"));
  }
  for (ColumnType& type : *outputs) {
    if (type.shape) type.shape->insert(type.shape->begin(), frames);
  }
  return outputs;
}

}  // namespace

bool IsClipType(const ColumnType& type) { return type.shape.has_value() && type.shape->size() == kClipRank; }

absl::StatusOr<ColumnType> FrameTypeOf(const ColumnType& type) {
  if (!IsClipType(type)) return type;
  if (type.shape->front() == 0) return GraphError("got a clip without frames: ", TypeName(type));
  ColumnType frame = type;
  frame.shape->erase(frame.shape->begin());
  return frame;
}

absl::StatusOr<std::vector<ColumnType>> InferKernelTypes(const Declaration& kernel, const Attributes& attributes,
                                                         absl::Span<const ColumnType> inputs) {
  const bool by_frame = kernel.OfClips() == Clips::kByFrame && !inputs.empty();
  if (by_frame && IsClipType(inputs[0])) return InferByFrame(kernel, attributes, inputs);
  absl::StatusOr<std::vector<ColumnType>> outputs = kernel.infer_kernel(attributes, inputs);
  if (!outputs.ok() || !by_frame || inputs[0].shape) return outputs;
  // A row decides whether it is an image or a clip.
  for (ColumnType& type : *outputs) type.shape = std::nullopt;
  return outputs;
}

}  // namespace headrace::ir

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/clip_types.h"
#include "kernels/by_frame.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/geometry/object_masks.h"

namespace headrace {
namespace {

// `named`: what has the size of a mask.
absl::Status Match(const std::string& named, const ImageSize& mask, const ImageSize& image) {
  if (image == mask) return absl::OkStatus();
  return DataError(named, " has height ", mask.height, " and width ", mask.width, ", but its image has height ",
                   image.height, " and width ", image.width, "; resize one of them in a map before this one");
}

absl::Status OtherFrames(int64_t planes, int64_t frames) {
  return DataError("the mask has ", planes, planes == 1 ? " plane" : " planes", ", but its clip has ", frames,
                   frames == 1 ? " frame" : " frames", "; it needs one for each");
}

absl::Status MaskOfFrames(std::string_view mask, std::string_view image) {
  return GraphError("got a mask of several frames, ", mask, ", of one image: ", image);
}

// A mask of three axes could have a plane for each frame, and the kernels after it would take it for one of channels.
absl::Status CheckBesideClip(const Tensor& clip, const Tensor& mask) {
  if (IsClip(mask) && mask.dim(0) != clip.dim(0)) return OtherFrames(mask.dim(0), clip.dim(0));
  if (mask.rank() != 3) return absl::OkStatus();
  return GraphError("got a mask, ", mask.TypeName(), ", beside a clip, ", clip.TypeName(),
                    ", and their shapes were not known before the run; declare the shapes of both columns, or give the "
                    "mask four axes, (T, H, W, 1), or two for all frames");
}

// Passes the mask on.
class MatchMask : public Kernel {
 public:
  explicit MatchMask(const ir::Attributes& attributes) : options_(SizeOfImageOptions(attributes)) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    if (inputs.size() != 2) return GraphError("needs an image and its mask; got ", inputs.size(), " columns");
    if (IsClip(inputs[0])) HEADRACE_RETURN_IF_ERROR(CheckBesideClip(inputs[0], inputs[1]));
    if (IsClip(inputs[1]) && !IsClip(inputs[0])) return MaskOfFrames(inputs[1].TypeName(), inputs[0].TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize image, SizeOfImage(inputs[0], options_));
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize mask, SizeOfImage(inputs[1], options_));
    HEADRACE_RETURN_IF_ERROR(Match("the mask", mask, image));
    return Tensors{inputs[1]};
  }

 private:
  DecodeOptions options_;
};

absl::Status NotFrameMasks(std::string_view clip, std::string_view mask) {
  return GraphError("needs a clip (T, H, W, C) and a mask of it, numbers of shape (T, H, W); got ", clip, " and ",
                    mask);
}

// Passes a mask on that has a plane for each frame of a clip.
class MatchFrameMasks : public Kernel {
 public:
  explicit MatchFrameMasks(const ir::Attributes& attributes) : options_(SizeOfImageOptions(attributes)) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    if (inputs.size() != 2) return GraphError("needs a clip and its mask; got ", inputs.size(), " columns");
    const Tensor& clip = inputs[0];
    const Tensor& mask = inputs[1];
    if (!IsClip(clip) || mask.rank() != 3 || ItemSize(mask.dtype()) == 0) {
      return NotFrameMasks(clip.TypeName(), mask.TypeName());
    }
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize frame, SizeOfImage(clip, options_));
    if (mask.dim(0) != clip.dim(0)) return OtherFrames(mask.dim(0), clip.dim(0));
    HEADRACE_RETURN_IF_ERROR(Match("each plane of the mask", {mask.dim(1), mask.dim(2)}, frame));
    return Tensors{mask};
  }

 private:
  DecodeOptions options_;
};

// Passes the masks of single boxes on.
class MatchMasks : public Kernel {
 public:
  explicit MatchMasks(const ir::Attributes& attributes)
      : options_(SizeOfImageOptions(attributes)), column_(attributes.String("column")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    if (inputs.size() != 2) return GraphError("needs an image and masks; got ", inputs.size(), " columns");
    const Tensor& masks = inputs[1];
    HEADRACE_RETURN_IF_ERROR(CheckObjectMasks(masks, column_));
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize image, SizeOfImage(inputs[0], options_));
    HEADRACE_RETURN_IF_ERROR(Match(Cat("each mask of column \"", column_, "\""), {masks.dim(1), masks.dim(2)}, image));
    return Tensors{masks};
  }

 private:
  DecodeOptions options_;
  std::string column_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferMask(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  for (const ir::ColumnType& type : inputs) HEADRACE_RETURN_IF_ERROR(CheckImageOrEncoded(type));
  if (ir::IsClipType(inputs[1]) && inputs[0].shape && !ir::IsClipType(inputs[0])) {
    return MaskOfFrames(ir::TypeName(inputs[1]), ir::TypeName(inputs[0]));
  }
  return std::vector{inputs[1]};
}

absl::StatusOr<std::vector<ir::ColumnType>> InferFrameMasks(const ir::Attributes&,
                                                            absl::Span<const ir::ColumnType> inputs) {
  const auto has_axes = [](const ir::ColumnType& type, size_t axes) {
    const bool numbers = type.fields.empty() && !IsVariableLength(type.dtype);
    return numbers && (!type.shape || type.shape->size() == axes);
  };
  if (!has_axes(inputs[0], ir::kClipRank) || !has_axes(inputs[1], ir::kClipRank - 1)) {
    return NotFrameMasks(ir::TypeName(inputs[0]), ir::TypeName(inputs[1]));
  }
  HEADRACE_RETURN_IF_ERROR(CheckImageOrEncoded(inputs[0]));
  return std::vector{inputs[1]};
}

absl::StatusOr<std::vector<ir::ColumnType>> InferMasks(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckImageOrEncoded(inputs[0]));
  HEADRACE_RETURN_IF_ERROR(PlaneTypeOf(inputs[1], attributes.String("column")).status());
  return std::vector{inputs[1]};
}

std::vector<ir::Attribute> AttributesOfMasks() {
  std::vector<ir::Attribute> attributes = SizeOfImageAttributes();
  attributes.push_back({.name = "column",
                        .type = ir::AttributeType::kString,
                        .doc = "The name of the column of masks, for errors.",
                        .default_value = "'masks'"});
  return attributes;
}

const KernelRegistration mask{
    {.name = "MatchMask",
     .written_as = "hr.mask",
     .summary = "Checks that a mask has the size of its image.",
     .doc =
         "Takes an image and its mask, each encoded or not, and gives the mask. A clip has a mask of two axes for all "
         "frames, or of four.\n"
         "Errors: of the row, another height or width than the image's; of the graph, no images.",
     .min_inputs = 2,
     .max_inputs = 2,
     .attributes = SizeOfImageAttributes(),
     .traits = {.keeps_classes = true},
     .python_module = "internal",
     .example = "ds.map(kernels, [\"image\", hr.mask(\"mask\")])",
     .infer_kernel = InferMask,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kWhole,
     .target_work = ir::TargetWork::kMatchesMask},
    Makes<MatchMask>()};

const KernelRegistration frame_masks{
    {.name = "MatchFrameMasks",
     .written_as = "hr.mask",
     .summary = "Checks that a mask has a plane for each frame of its clip.",
     .doc = "Takes a clip (T, H, W, C) and numbers of shape (T, H, W), and gives the latter.\n"
            "Errors: of the row, another number of frames, height or width; of the graph, other types.",
     .min_inputs = 2,
     .max_inputs = 2,
     .attributes = SizeOfImageAttributes(),
     .traits = {.keeps_classes = true},
     .python_module = "internal",
     .example = "ds.map(kernels, [\"clip\", hr.mask(\"mask\")])",
     .infer_kernel = InferFrameMasks,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kWhole,
     .target_work = ir::TargetWork::kMatchesFrameMasks},
    Makes<MatchFrameMasks>()};

const KernelRegistration masks{
    {.name = "MatchMasks",
     .written_as = "hr.boxes",
     .summary = "Checks that masks of single boxes have the size of their image.",
     .doc = "Takes an image, encoded or not, and numbers of shape (n, H, W), and gives the latter.\n"
            "Errors: of the row, another height or width than the image's; of the graph, other types.",
     .min_inputs = 2,
     .max_inputs = 2,
     .attributes = AttributesOfMasks(),
     .python_module = "internal",
     .example = "ds.map(kernels, [\"image\", hr.boxes(\"boxes\", masks=\"masks\")])",
     .infer_kernel = InferMasks,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kWhole,
     .target_work = ir::TargetWork::kMatchesObjectMasks},
    Makes<MatchMasks>()};

}  // namespace
}  // namespace headrace

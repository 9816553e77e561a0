#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
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

// Passes the mask on.
class MatchMask : public Kernel {
 public:
  explicit MatchMask(const ir::Attributes& attributes) : options_(SizeOfImageOptions(attributes)) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext&) const override {
    if (inputs.size() != 2) return GraphError("needs an image and its mask; got ", inputs.size(), " columns");
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize image, SizeOfImage(inputs[0], options_));
    HEADRACE_ASSIGN_OR_RETURN(const ImageSize mask, SizeOfImage(inputs[1], options_));
    HEADRACE_RETURN_IF_ERROR(Match("the mask", mask, image));
    return Tensors{inputs[1]};
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
     .doc = "Takes an image and its mask, each encoded or not, and gives the mask.\n"
            "Errors: of the row, another height or width than the image's; of the graph, no images.",
     .min_inputs = 2,
     .max_inputs = 2,
     .attributes = SizeOfImageAttributes(),
     .python_module = "internal",
     .example = "ds.map(kernels, [\"image\", hr.mask(\"mask\")])",
     .infer_kernel = InferMask,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .target_work = ir::TargetWork::kMatchesMask},
    Makes<MatchMask>()};

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
     .target_work = ir::TargetWork::kMatchesObjectMasks},
    Makes<MatchMasks>()};

}  // namespace
}  // namespace headrace

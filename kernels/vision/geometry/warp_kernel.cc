#include "kernels/vision/geometry/warp_kernel.h"

#include <utility>

#include "core/error.h"
#include "kernels/vision/image/window.h"

namespace headrace {

WarpKernel::WarpKernel(const ir::Attributes& attributes)
    : filter_(WarpFilterOf(attributes.String("interpolation"))), fill_(attributes.Numbers("fill")) {}

absl::StatusOr<Tensor> WarpKernel::Apply(const Tensor& input, KernelContext& context) const {
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, WarpedTypes(filter_)));
  // Whatever is drawn.
  HEADRACE_RETURN_IF_ERROR(PixelOf("fill", fill_, image).status());
  return Warp(image, {filter_, fill_}, context.random(), context.output());
}

absl::Status MapKernel::MoveTarget(RowRandom& random, CanvasTarget& target) const {
  const std::optional<SizedMap> drawn = Draw(random, target.height(), target.width());
  if (drawn.has_value()) target.Warp(drawn->map, drawn->height, drawn->width);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> MapKernel::Warp(const Image& image, const WarpOptions& options, RowRandom& random,
                                       OutputAllocator& output) const {
  const std::optional<SizedMap> drawn = Draw(random, image.height, image.width);
  if (!drawn.has_value()) return image.tensor;
  return Warped(image, drawn->map, drawn->height, drawn->width, options, output);
}

std::optional<PlanePoint> CenterOf(const ir::Attributes& attributes) {
  if (attributes.IsNone("center")) return std::nullopt;
  const std::vector<double> center = attributes.Floats("center");
  return PlanePoint{center[0], center[1]};
}

ir::Attribute CenterAttribute() {
  return {.name = "center",
          .type = ir::AttributeType::kFloats,
          .doc = "(x, y) of the point that stays, in pixels from the top left corner; None: the middle.",
          .default_value = "None",
          .nullable = true,
          .minimum = -1e6,
          .maximum = 1e6,
          .lengths = {2}};
}

absl::StatusOr<Interval> SymmetricInterval(const ir::Attributes& attributes, std::string_view name) {
  const std::vector<double> given = attributes.Floats(name);
  if (given.size() > 1) return Interval::Of(attributes, name);
  if (given[0] < 0) return GraphError(name, " = ", given[0], " is below 0; give (least, most) for one side");
  return Interval{-given[0], given[0]};
}

ir::Declaration WarpDeclaration(std::string name, std::string summary, std::string says, std::vector<ir::Attribute> own,
                                std::string_view filter) {
  ir::Declaration declaration;
  declaration.name = std::move(name);
  declaration.summary = std::move(summary);
  declaration.doc = Cat(
      "Takes an image of shape (H, W, C) or (H, W), of any numbers with interpolation nearest, otherwise "
      "uint8, uint16 or float32, and gives the same type. ",
      says,
      " Pixels are those of Pillow's Image.transform, bit for bit, as torchvision's of Pillow images; four channels "
      "are four of their own, where Pillow multiplies those of an RGBA image by its alpha first. uint16, between whose "
      "pixels Pillow takes nothing, is rounded to the nearest number.\nErrors: another "
      "dtype or rank, an image without pixels, and a fill that does not fit.");
  declaration.attributes = std::move(own);
  declaration.attributes.push_back(WarpFilterAttribute(filter));
  declaration.attributes.push_back(WarpFillAttribute());
  declaration.python_module = "vision";
  declaration.sample = {.inputs = {ir::SampleInput::kImage}};
  declaration.infer_kernel = InferWarpedAfter([](const ir::Attributes&) { return absl::OkStatus(); });
  declaration.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  declaration.clips = ir::Clips::kByFrame;
  return declaration;
}

ir::InferKernel InferWarpedAfter(absl::Status (*check)(const ir::Attributes& attributes)) {
  return [check](const ir::Attributes& attributes,
                 absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(check(attributes));
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, InferWarped(attributes, inputs[0], true));
    return std::vector{std::move(type)};
  };
}

}  // namespace headrace

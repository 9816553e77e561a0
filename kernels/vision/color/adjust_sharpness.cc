#include <cstring>

#include "core/error.h"
#include "ir/graph.pb.h"
#include "kernels/vision/color/color_kernel.h"
#include "kernels/vision/pixels/blend_values.h"
#include "kernels/vision/pixels/sharpness.h"
#include "kernels/vision/pixels/unit_range.h"
#include "kernels/vision/pixels/unit_values.h"

namespace headrace {
namespace {

// The row inside the image.
void SharpenRow(const Image& image, int64_t y, double factor, uint8_t* target) {
  const int64_t count = image.width * image.channels;
  if (image.dtype() == DType::kFloat32) {
    const auto row = [&image](int64_t at) { return reinterpret_cast<const float*>(image.row(at)); };
    return BlendWithSmooth(row(y - 1), row(y), row(y + 1), count, image.channels, factor,
                           reinterpret_cast<float*>(target));
  }
  BlendWithSmooth(image.row(y - 1), image.row(y), image.row(y + 1), count, image.channels, static_cast<float>(factor),
                  target);
}

}  // namespace

absl::StatusOr<Tensor> WithSharpness(const Image& image, double factor, OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor result, AllocateLike(image, image.height, image.width, output));
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) {
    uint8_t* const target = result.mutable_raw() + y * row_bytes;
    const bool inside = y > 0 && y + 1 < image.height && image.width > 2;
    if (!inside) {
      std::memcpy(target, image.row(y), static_cast<size_t>(row_bytes));
    } else {
      SharpenRow(image, y, factor, target);
    }
  }
  return result;
}

namespace {

class AdjustSharpness : public UnaryKernel {
 public:
  explicit AdjustSharpness(const ir::Attributes& attributes)
      : factor_(attributes.Float("factor")), probability_(attributes.Find("p") ? attributes.Float("p") : 1) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    HEADRACE_RETURN_IF_ERROR(CheckColor(input.dtype(), image.channels, input.TypeName()));
    HEADRACE_RETURN_IF_ERROR(CheckUnitRange(image));
    if (probability_ < 1 && context.random().Uniform() >= probability_) return input;
    return WithSharpness(image, factor_, context.output());
  }

 private:
  double factor_;
  double probability_;
};

ir::Declaration DeclaredAdjustSharpness() {
  ir::Declaration declaration =
      ColorDeclaration("AdjustSharpness", "Makes an image sharper or smoother.",
                       "Each value becomes smooth + factor * (value - smooth), cut off at 0 "
                       "and 255 and truncated, where `smooth` is the "
                       "mean of its 3 × 3 neighbours, itself with weight 5, rounded; pixels "
                       "at the border stay as they are: torchvision's "
                       "adjust_sharpness, bit for bit (Pillow's ImageEnhance.Sharpness). Of floats "
                       "nothing is rounded, and it is cut off at 0 and 1, as in its "
                       "tensors.");
  declaration.attributes = {{.name = "factor",
                             .type = ir::AttributeType::kFloat,
                             .doc = "0: smooth; 1: unchanged; 2: twice as sharp.",
                             .minimum = 0,
                             .maximum = 1e6}};
  declaration.traits = {.leaves_places = true};
  declaration.takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; };
  declaration.example = "V.AdjustSharpness(2)";
  declaration.sample.attributes = {{"factor", "2.0"}};
  return declaration;
}

const KernelRegistration adjust_sharpness_registration{DeclaredAdjustSharpness(), Makes<AdjustSharpness>()};
const KernelRegistration random_adjust_sharpness_registration{
    InSomeRows(DeclaredAdjustSharpness(), "RandomAdjustSharpness"), Makes<AdjustSharpness>()};

}  // namespace
}  // namespace headrace

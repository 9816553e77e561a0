#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

constexpr int64_t kCutOutMost = 1 << 20;

// From `-length`, where the patch just misses the image at its begin, to `side`, where it does at its end.
int64_t DrawCorner(int64_t side, int64_t length, RowRandom& random) {
  return static_cast<int64_t>(random.Below(static_cast<uint64_t>(side + length + 1))) - length;
}

bool CutsPlanes(const ir::Attributes& attributes) { return attributes.String("layout") == "CHW"; }

class CutOut : public UnaryKernel {
 public:
  explicit CutOut(const ir::Attributes& attributes)
      : length_(attributes.Int("length")),
        patches_(attributes.Int("patches")),
        value_(attributes.Numbers("value")),
        planes_(CutsPlanes(attributes)) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    return planes_ ? CutPlanes(input, context) : CutPixels(input, context);
  }

 private:
  // As images of one channel, each with the same draws.
  absl::StatusOr<Tensor> CutPlanes(const Tensor& input, KernelContext& context) const {
    HEADRACE_RETURN_IF_ERROR(CheckImage(input, PixelTypes::kFixedSize));
    if (input.rank() != 3) return GraphError("layout='CHW' needs shape (C, H, W); got ", input.TypeName());
    if (value_.size() > 1 && static_cast<int64_t>(value_.size()) != input.dim(0)) {
      return GraphError("value has ", value_.size(), " numbers; it must have one, or one per channel: ", input.dim(0));
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(input.dtype(), input.shape()));
    input.CopyTo(output.mutable_raw());
    uint8_t* pixels = output.mutable_raw();
    for (int64_t c = 0; c < input.dim(0); ++c) {
      HEADRACE_ASSIGN_OR_RETURN(const Image plane, ImageOf(input.Index(c), PixelTypes::kFixedSize));
      const absl::Span<const ir::Number> value = absl::MakeConstSpan(value_).subspan(value_.size() > 1 ? c : 0, 1);
      HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixel, PixelOf("value", value, plane));
      RowRandom random = context.random();
      for (int64_t i = 0; i < patches_; ++i) FillPatch(plane, pixel, random, pixels);
      pixels += plane.height * plane.width * plane.pixel_bytes();
    }
    return output;
  }

  absl::StatusOr<Tensor> CutPixels(const Tensor& input, KernelContext& context) const {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> pixel, PixelOf("value", value_, image));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width, context.output()));
    const int64_t row_bytes = image.width * image.pixel_bytes();
    for (int64_t y = 0; y < image.height; ++y) {
      std::memcpy(output.mutable_raw() + y * row_bytes, image.row(y), static_cast<size_t>(row_bytes));
    }
    for (int64_t i = 0; i < patches_; ++i) FillPatch(image, pixel, context.random(), output.mutable_raw());
    return output;
  }

  void FillPatch(const Image& image, const std::vector<uint8_t>& pixel, RowRandom& random, uint8_t* pixels) const {
    const int64_t top = DrawCorner(image.height, length_, random);
    const int64_t left = DrawCorner(image.width, length_, random);
    const int64_t first = std::max<int64_t>(left, 0);
    const int64_t count = std::min(left + length_, image.width) - first;
    if (count <= 0) return;
    const int64_t end = std::min(top + length_, image.height);
    for (int64_t y = std::max<int64_t>(top, 0); y < end; ++y) {
      FillRun(pixel, count, pixels + (y * image.width + first) * image.pixel_bytes());
    }
  }

  const int64_t length_;
  const int64_t patches_;
  const std::vector<ir::Number> value_;
  const bool planes_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferCutOut(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  if (CutsPlanes(attributes) && type.shape && type.shape->size() != 3) {
    return GraphError("layout='CHW' needs shape (C, H, W); got ", ir::TypeName(inputs[0]));
  }
  return std::vector{type};
}

const KernelRegistration cut_out_registration{
    {.name = "CutOut",
     .summary = "Fills squares at random places.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), or with layout='CHW' (C, H, W), and gives the same "
         "type and shape, with `patches` squares of `value`. As MindSpore's CutOut draws them, the upper left corner "
         "of each is uniform from "
         "-length to the height and to the width, so that a square may lie in part, or just, outside; squares may "
         "overlap. (Regularization by DeVries and Taylor, 2017.)\n"
         "Errors: a value that the type cannot hold, a number of values that is not the number of channels, "
         "another rank, bytes or strings.",
     .attributes = {{.name = "length",
                     .type = ir::AttributeType::kInt,
                     .doc = "The side of a square, in pixels.",
                     .minimum = 1,
                     .maximum = kCutOutMost},
                    {.name = "patches",
                     .type = ir::AttributeType::kInt,
                     .doc = "How many squares there are.",
                     .default_value = "1",
                     .minimum = 1,
                     .maximum = kCutOutMost},
                    {.name = "value",
                     .type = ir::AttributeType::kFloats,
                     .doc = "What they hold: one number, or one per channel, in the units of the input.",
                     .default_value = "0",
                     .length = ir::ListLength::OfChannels(),
                     .keeps_whole = true},
                    {.name = "layout",
                     .type = ir::AttributeType::kString,
                     .doc = "Where the channel axis is: 'HWC' last, 'CHW' first.",
                     .default_value = "'HWC'",
                     .choices = {"HWC", "CHW"}}},
     .traits = {.random = true, .leaves_places = true},
     .python_module = "vision",
     .example = "V.CutOut(16)",
     .sample = {.attributes = {{"length", "3"}, {"value", "9"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferCutOut,
     .takes_layout = [](const ir::Attributes& attributes,
                        bool channels_first) { return CutsPlanes(attributes) == channels_first; },
     .clips = ir::Clips::kByFrame},
    [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return std::make_unique<CutOut>(attributes);
    }};

}  // namespace
}  // namespace headrace

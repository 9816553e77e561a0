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

class CutOut : public UnaryKernel {
 public:
  explicit CutOut(const ir::Attributes& attributes)
      : length_(attributes.Int("length")), patches_(attributes.Int("patches")), value_(attributes.Numbers("value")) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
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

 private:
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
};

absl::StatusOr<std::vector<ir::ColumnType>> InferCutOut(const ir::Attributes&,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  return std::vector{type};
}

const KernelRegistration cut_out_registration{
    {.name = "CutOut",
     .summary = "Fills squares at random places.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives the same type and shape, with `patches` "
         "squares of `value`. As MindSpore's CutOut draws them, the upper left corner of each is uniform from "
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
                     .keeps_whole = true}},
     .traits = {.random = true, .leaves_places = true},
     .python_module = "vision",
     .example = "V.CutOut(16)",
     .sample = {.attributes = {{"length", "3"}, {"value", "9"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferCutOut,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; }},
    [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return std::make_unique<CutOut>(attributes);
    }};

}  // namespace
}  // namespace headrace

#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/cpu_target.h"
#include "kernels/kernel.h"
#include "kernels/vision/image.h"

namespace headrace {
namespace {

// One row of three channels into three planes: shuffles of whole vectors.
template <typename T>
constexpr auto kSplitThree = [](const T* __restrict source, int64_t width, T* __restrict first, T* __restrict second,
                                T* __restrict third) HEADRACE_LOOP {
  for (int64_t x = 0; x < width; ++x) {
    first[x] = source[3 * x];
    second[x] = source[3 * x + 1];
    third[x] = source[3 * x + 2];
  }
};

template <typename T>
void SplitRow(const uint8_t* row, int64_t width, int64_t channels, int64_t plane, T* target) {
  const T* source = reinterpret_cast<const T*>(row);
  if (channels == 3) {
    RunOnCpu(kSplitThree<T>, source, width, target, target + plane, target + 2 * plane);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t x = 0; x < width; ++x) target[c * plane + x] = source[x * channels + c];
  }
}

template <typename T>
void Split(const Image& image, uint8_t* target) {
  const int64_t plane = image.height * image.width;
  for (int64_t y = 0; y < image.height; ++y) {
    SplitRow<T>(image.row(y), image.width, image.channels, plane, reinterpret_cast<T*>(target) + y * image.width);
  }
}

class Hwc2Chw : public UnaryKernel {
 public:
  explicit Hwc2Chw(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, RowRandom&) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    const Shape shape = {image.channels, image.height, image.width};
    // One channel lies the same way already.
    if (image.channels == 1 && input.contiguous()) return input.Reshape(shape);
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, Tensor::Allocate(image.dtype(), shape));
    switch (ItemSize(image.dtype())) {
      case 1:
        Split<uint8_t>(image, output.mutable_raw());
        break;
      case 2:
        Split<uint16_t>(image, output.mutable_raw());
        break;
      case 4:
        Split<uint32_t>(image, output.mutable_raw());
        break;
      default:
        Split<uint64_t>(image, output.mutable_raw());
        break;
    }
    return output;
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes&, absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kFixedSize));
  Shape shape = {ir::kUnknownDim, ir::kUnknownDim, ir::kUnknownDim};
  if (type.shape) shape = {type.shape->size() == 3 ? (*type.shape)[2] : 1, (*type.shape)[0], (*type.shape)[1]};
  type.shape = shape;
  return std::vector{type};
}

const KernelRegistration registration{
    {.name = "HWC2CHW",
     .summary = "Moves the channels of an image to the front.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C), and gives the same type of shape (C, H, W), as PyTorch wants "
         "images; (H, W) becomes (1, H, W).\n"
         "Errors: another rank, bytes or strings.",
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.HWC2CHW()",
     .infer_kernel = Infer},
    Makes<Hwc2Chw>()};

}  // namespace
}  // namespace headrace

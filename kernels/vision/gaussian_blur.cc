#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image.h"
#include "kernels/vision/resized_crop_box.h"
#include "kernels/vision/weighted_sum.h"
#include "kernels/vision/window.h"

namespace headrace {
namespace {

// Of `size` numbers, symmetric, with the sum 1.
std::vector<float> GaussianWeights(int64_t size, double sigma) {
  std::vector<double> weights(static_cast<size_t>(size));
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    weights[static_cast<size_t>(i)] = std::exp(-0.5 * x * x);
    sum += weights[static_cast<size_t>(i)];
  }
  std::vector<float> result;
  for (const double weight : weights) result.push_back(static_cast<float>(weight / sum));
  return result;
}

// Blurs one image: each row over its neighbours above and below, then along the row.
template <typename T>
class Blur {
 public:
  Blur(const Image& image, const std::vector<float>& down, const std::vector<float>& along)
      : image_(image),
        down_(down),
        along_(along),
        margin_(static_cast<int64_t>(along.size()) / 2 * image.channels),
        values_(image.width * image.channels),
        wide_(static_cast<size_t>(values_ + 2 * margin_)),
        sums_(static_cast<size_t>(values_)) {}

  void Run(uint8_t* target) {
    for (int64_t y = 0; y < image_.height; ++y) RunRow(y, reinterpret_cast<T*>(target) + y * values_);
  }

 private:
  void RunRow(int64_t y, T* target) {
    float* const middle = wide_.data() + margin_;
    std::fill_n(middle, values_, 0.0f);
    const auto reach = static_cast<int64_t>(down_.size()) / 2;
    for (int64_t i = -reach; i <= reach; ++i) {
      const int64_t from = BorderIndex(y + i, image_.height, Border::kReflect);
      AddWeighted(reinterpret_cast<const T*>(image_.row(from)), values_, down_[static_cast<size_t>(i + reach)], middle);
    }
    Mirror();
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    for (size_t i = 0; i < along_.size(); ++i) {
      AddWeighted(wide_.data() + static_cast<int64_t>(i) * image_.channels, values_, along_[i], sums_.data());
    }
    StoreRounded(sums_.data(), values_, target);
  }

  // Fills the margins of the wide row with the pixels beside them, without the first and the last.
  void Mirror() {
    const int64_t pixels = margin_ / image_.channels;
    for (int64_t x = -pixels; x < 0; ++x) CopyPixel(x);
    for (int64_t x = image_.width; x < image_.width + pixels; ++x) CopyPixel(x);
  }
  void CopyPixel(int64_t x) {
    float* const middle = wide_.data() + margin_;
    const int64_t from = BorderIndex(x, image_.width, Border::kReflect);
    std::copy_n(middle + from * image_.channels, image_.channels, middle + x * image_.channels);
  }

  const Image& image_;
  const std::vector<float>& down_;
  const std::vector<float>& along_;
  const int64_t margin_;  // in values
  const int64_t values_;  // of a row
  std::vector<float> wide_;
  std::vector<float> sums_;
};

absl::Status CheckSize(const std::vector<int64_t>& size) {
  for (const int64_t side : size) {
    if (side % 2 == 0) return GraphError("kernel_size has an even number; the middle of the kernel is a pixel: ", side);
  }
  return absl::OkStatus();
}

// One number is the only one.
absl::StatusOr<Interval> SigmaOf(const ir::Attributes& attributes) {
  const std::vector<double> given = attributes.Floats("sigma");
  if (given.size() == 1) return Interval{given[0], given[0]};
  return Interval::Of(attributes, "sigma");
}

class GaussianBlur : public UnaryKernel {
 public:
  GaussianBlur(std::vector<int64_t> size, Interval sigma) : size_(std::move(size)), sigma_(sigma) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckSize(attributes.Ints("kernel_size")));
    HEADRACE_ASSIGN_OR_RETURN(const Interval sigma, SigmaOf(attributes));
    return std::make_unique<GaussianBlur>(attributes.Ints("kernel_size"), sigma);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    if (image.height <= size_[0] / 2 || image.width <= size_[1] / 2) {
      return GraphError("kernel_size (", size_[0], ", ", size_[1], ") is too large for the image ", input.TypeName(),
                        ", whose sides must be greater than half of it");
    }
    const double sigma = context.random().Uniform(sigma_.low, sigma_.high);
    const std::vector<float> down = GaussianWeights(size_[0], sigma);
    const std::vector<float> along = GaussianWeights(size_[1], sigma);
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, image.height, image.width, context.output()));
    if (image.dtype() == DType::kUInt8) {
      Blur<uint8_t>(image, down, along).Run(output.mutable_raw());
    } else {
      Blur<float>(image, down, along).Run(output.mutable_raw());
    }
    return output;
  }

 private:
  std::vector<int64_t> size_;
  Interval sigma_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes& attributes,
                                                  absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckSize(attributes.Ints("kernel_size")));
  HEADRACE_RETURN_IF_ERROR(SigmaOf(attributes).status());
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  return std::vector{type};
}

const KernelRegistration registration{
    {.name = "GaussianBlur",
     .summary = "Blurs an image with a Gaussian.",
     .doc = "Takes uint8 or float32 of shape (H, W, C) or (H, W) and gives the same type and shape. The standard "
            "deviation is drawn uniformly from `sigma`, one for each picture; beyond the border the image is mirrored "
            "without its outermost pixels; uint8 is rounded. torchvision's GaussianBlur of tensors, within one level.\n"
            "Errors: an even kernel_size, or one of which half is not less than the image's side; another dtype or "
            "rank.",
     .attributes = {{.name = "kernel_size",
                     .type = ir::AttributeType::kInts,
                     .doc = "The kernel's (height, width) in pixels, odd numbers, or one for both.",
                     .in_words = "a whole number or (height, width)",
                     .minimum = 1,
                     .maximum = 1023,
                     .lengths = {2},
                     .broadcast = true},
                    {.name = "sigma",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest standard deviation in pixels, or one number for both.",
                     .default_value = "(0.1, 2.0)",
                     .minimum = 0,
                     .maximum = 1e6,
                     .exclusive_minimum = true,
                     .lengths = {1, 2}}},
     .traits = {.random = true},
     .python_module = "vision",
     .example = "V.GaussianBlur(5, sigma=(0.1, 2.0))",
     .sample = {.attributes = {{"kernel_size", "(5, 3)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = Infer,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; }},
    GaussianBlur::Make};

}  // namespace
}  // namespace headrace

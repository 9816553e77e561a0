#include "kernels/vision/geometry/resize_taps.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "kernels/companion.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/resize.h"

namespace headrace {
namespace {

// The result's sizes, and room for the weights of each position along both axes.
struct TapsLayout {
  int64_t height = 0;
  int64_t width = 0;
  int64_t weights = 0;

  int64_t of_position() const { return 2 + weights; }
  int64_t numbers() const { return 1 + (height + width) * of_position(); }

  // For images of that size, of which all may be resized.
  static TapsLayout Of(const Shape& image, const Shape& resized, Resizing resizing) {
    const Filter filter = FilterOf(resizing.interpolation);
    const int weights = std::max(TapsOf(filter, image[0], resized[0]), TapsOf(filter, image[1], resized[1]));
    return {resized[0], resized[1], weights};
  }
};

bool HasTaps(const ir::Attributes& attributes) {
  return attributes.String("interpolation") != "auto" && Resizing::Of(attributes).CanGivePart();
}

absl::Status CheckResizing(const ir::Attributes& attributes) {
  if (HasTaps(attributes)) return absl::OkStatus();
  return GraphError("has weights with antialias=True and an interpolation other than nearest and auto alone");
}

// One axis, of which the part from `begin` on is resized.
void WriteTaps(Filter filter, int64_t in_size, int64_t out_size, int64_t begin, const TapsLayout& layout,
               int32_t* target) {
  if (in_size == out_size) {
    for (int64_t i = 0; i < out_size; ++i, target += layout.of_position()) {
      target[0] = static_cast<int32_t>(begin + i);
      target[1] = 1;
      target[2] = kFixedOne;
    }
    return;
  }
  FilterTaps taps;
  MakeFilterTaps(filter, in_size, out_size, {0, out_size}, -begin, taps);
  for (size_t i = 0; i < taps.first.size(); ++i, target += layout.of_position()) {
    target[0] = taps.first[i];
    target[1] = taps.count[i];
    for (int k = 0; k < taps.count[i]; ++k) target[2 + k] = FixedWeight(taps.weights[i * taps.taps + k]);
  }
}

class KernelOfTaps : public UnaryKernel {
 public:
  KernelOfTaps(std::unique_ptr<Kernel> kernel, ir::InferKernel infer, const ir::Attributes& attributes)
      : kernel_(std::move(kernel)), infer_(std::move(infer)), attributes_(attributes) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<ir::ColumnType> types,
                              infer_(attributes_, {ir::ColumnType::Of(input.dtype(), input.shape())}));
    const Resizing resizing = Resizing::Of(attributes_);
    const Filter filter = FilterOf(resizing.interpolation);
    const TapsLayout layout = TapsLayout::Of({image.height, image.width}, *types[0].shape, resizing);
    MovePlan plan(image.height, image.width);
    HEADRACE_RETURN_IF_ERROR(static_cast<const GeometricKernel&>(*kernel_).Plan(context.random(), plan));
    const Window& source = plan.source();
    HEADRACE_ASSIGN_OR_RETURN(Tensor taps, context.AllocateOutput(DType::kInt32, {layout.numbers()}));
    int32_t* const numbers = taps.mutable_data<int32_t>();
    std::fill_n(numbers, layout.numbers(), 0);
    numbers[0] = FiltersColumnsFirst(source.height, source.width, layout.height, layout.width) ? 1 : 0;
    WriteTaps(filter, source.height, layout.height, source.top, layout, numbers + 1);
    WriteTaps(filter, source.width, layout.width, source.left, layout,
              numbers + 1 + layout.height * layout.of_position());
    return taps;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  ir::InferKernel infer_;
  ir::Attributes attributes_;
};

ir::InferKernel InferTaps(ir::InferKernel of_pixels) {
  return [of_pixels = std::move(of_pixels)](
             const ir::Attributes& attributes,
             absl::Span<const ir::ColumnType> inputs) -> absl::StatusOr<std::vector<ir::ColumnType>> {
    HEADRACE_RETURN_IF_ERROR(CheckResizing(attributes));
    HEADRACE_ASSIGN_OR_RETURN(const std::vector<ir::ColumnType> resized, of_pixels(attributes, inputs));
    int64_t numbers = ir::kUnknownDim;
    if (inputs[0].fully_known() && resized[0].fully_known()) {
      numbers = TapsLayout::Of(*inputs[0].shape, *resized[0].shape, Resizing::Of(attributes)).numbers();
    }
    return std::vector{ir::ColumnType::Of(DType::kInt32, {numbers})};
  };
}

ir::Declaration OfTaps(const ir::Declaration& pixels) {
  ir::Declaration taps = CompanionOf(pixels, ir::CompanionRole::kDraws);
  taps.summary = Cat("Says of which pixels, with which weights, ", pixels.name, " makes the pixels of its result.");
  taps.doc = Cat("Takes the image, and has the attributes and the draws of ", pixels.name,
                 ". Gives int32 (n,).\nErrors: those of ", pixels.name,
                 ", and antialias=False or an interpolation without weights.");
  taps.example = "ds.to_device(\"cuda:0\")";
  taps.infer_kernel = InferTaps(pixels.infer_kernel);
  return taps;
}

}  // namespace

ir::OnDevice ResizesByTaps() { return {.work = ir::DeviceWork::kResizes, .with = HasTaps}; }

TapsRegistration::TapsRegistration(const std::string& kernel) {
  const ir::Declaration& pixels = *ir::Registry::Global().Find(kernel);
  const auto make = [kernel, infer = pixels.infer_kernel](
                        const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
    HEADRACE_RETURN_IF_ERROR(CheckResizing(attributes));
    HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> made, MakeKernel(kernel, attributes));
    return std::make_unique<KernelOfTaps>(std::move(made), infer, attributes);
  };
  ir::RequireRegistered(RegisterKernel(OfTaps(pixels), make));
}

}  // namespace headrace

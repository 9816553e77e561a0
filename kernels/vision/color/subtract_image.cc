#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/image/image.h"

namespace headrace {
namespace {

Shape ShapeOf(const ir::Attributes& attributes) {
  const std::vector<int64_t> shape = attributes.Ints("shape");
  return {shape.begin(), shape.end()};
}

absl::Status CheckSize(const ir::Attributes& attributes) {
  const auto values = static_cast<int64_t>(attributes.Floats("image").size());
  const Shape shape = ShapeOf(attributes);
  // By division, as the product of a shape may be beyond int64.
  int64_t left = values;
  for (const int64_t size : shape) {
    if (left % size != 0) left = 0;
    left /= size;
  }
  if (values == 1 || left == 1) return absl::OkStatus();
  return GraphError("image has ", values, " values, which do not fill shape ", ShapeName(shape));
}

absl::Status OtherShape(absl::Span<const int64_t> subtracted, absl::Span<const int64_t> image) {
  return GraphError("the image that it subtracts has shape ", ShapeName(subtracted), ", and the image has shape ",
                    ShapeName(image), "; they must be equal");
}

template <typename T>
void Subtract(const uint8_t* values, const float* subtracted, int64_t count, float* target) {
  const T* const numbers = reinterpret_cast<const T*>(values);
  for (int64_t i = 0; i < count; ++i) target[i] = static_cast<float>(numbers[i]) - subtracted[i];
}

template <typename T>
void SubtractOne(const uint8_t* values, float subtracted, int64_t count, float* target) {
  const T* const numbers = reinterpret_cast<const T*>(values);
  for (int64_t i = 0; i < count; ++i) target[i] = static_cast<float>(numbers[i]) - subtracted;
}

class SubtractImage : public UnaryKernel {
 public:
  explicit SubtractImage(const ir::Attributes& attributes) : shape_(ShapeOf(attributes)) {
    const std::vector<double> values = attributes.Floats("image");
    subtracted_.assign(values.begin(), values.end());
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    if (input.shape() != absl::MakeConstSpan(shape_)) return OtherShape(shape_, input.shape());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    for (int64_t y = 0; y < image.height; ++y) {
      float* const target = output.mutable_data<float>() + y * image.width * image.channels;
      if (image.dtype() == DType::kUInt8) {
        Row<uint8_t>(image, y, target);
      } else {
        Row<float>(image, y, target);
      }
    }
    return output;
  }

 private:
  template <typename T>
  void Row(const Image& image, int64_t y, float* target) const {
    const int64_t count = image.width * image.channels;
    if (subtracted_.size() == 1) return SubtractOne<T>(image.row(y), subtracted_[0], count, target);
    Subtract<T>(image.row(y), subtracted_.data() + y * count, count, target);
  }

  Shape shape_;
  std::vector<float> subtracted_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSubtractImage(const ir::Attributes& attributes,
                                                               absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckSize(attributes));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  const Shape shape = ShapeOf(attributes);
  if (type.shape) {
    bool equal = type.shape->size() == shape.size();
    for (size_t i = 0; equal && i < shape.size(); ++i) {
      equal = (*type.shape)[i] == ir::kUnknownDim || (*type.shape)[i] == shape[i];
    }
    if (!equal) return OtherShape(shape, *type.shape);
  }
  return std::vector{ir::ColumnType::Of(DType::kFloat32, shape)};
}

// Checks again, because a kernel may run without an inference before.
absl::StatusOr<std::unique_ptr<Kernel>> MakeSubtractImage(const ir::Attributes& attributes) {
  HEADRACE_RETURN_IF_ERROR(CheckSize(attributes));
  return std::make_unique<SubtractImage>(attributes);
}

const KernelRegistration subtract_image_registration{
    {.name = "SubtractImage",
     .summary = "Subtracts an image, such as the mean image of a data set, from every image.",
     .doc = "Takes uint8 or float32 of the shape given, (H, W, C) or (H, W), or (C, H, W) after HWC2CHW, and gives "
            "float32 of that shape: x - image, computed in float32. Nothing is divided by 255. V.Normalize subtracts "
            "one value from all pixels of a channel.\n"
            "Errors: an image of another shape, another dtype or rank.",
     .attributes = {{.name = "image",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The values that are subtracted, in the units of the input, row by row, or one number for "
                            "all of them.",
                     .length = ir::ListLength{}},
                    {.name = "shape",
                     .type = ir::AttributeType::kInts,
                     .doc = "The shape of the image.",
                     .minimum = 1,
                     .maximum = 65535,
                     .lengths = {2, 3}}},
     .traits = {.leaves_places = true},
     .python_module = "vision",
     .example = "V.SubtractImage(np.zeros(224 * 224 * 3), (224, 224, 3))",
     .sample = {.attributes = {{"image", "7"}, {"shape", "(60, 80, 3)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferSubtractImage,
     .clips = ir::Clips::kByFrame},
    MakeSubtractImage};

}  // namespace
}  // namespace headrace

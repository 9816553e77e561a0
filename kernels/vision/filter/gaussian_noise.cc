#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/pixels/noise_values.h"
#include "kernels/vision/pixels/normal_numbers.h"
#include "kernels/vision/pixels/unit_range.h"

namespace headrace {
namespace {

// Drawn at once; even, so that numbers do not depend on it.
constexpr int64_t kDrawn = 256;
constexpr double kGaussianNoiseMost = 1e6;

// In place. `unit`: what 1 is in the values.
template <typename T>
void Add(Noise noise, float unit, RowRandom& random, absl::Span<T> values) {
  noise.mean *= unit;
  noise.sigma *= unit;
  float normal[kDrawn];
  while (!values.empty()) {
    const size_t count = std::min<size_t>(kDrawn, values.size());
    FillNormal(random, absl::MakeSpan(normal, count));
    AddNoise(noise, normal, static_cast<int64_t>(count), values.data());
    values.remove_prefix(count);
  }
}

template <typename T>
absl::Span<T> ValuesOf(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<size_t>(tensor.elements())};
}

absl::Status CheckType(DType dtype, bool clip, std::string_view got) {
  if (dtype == DType::kFloat32) return absl::OkStatus();
  if (dtype != DType::kUInt8 && dtype != DType::kUInt16) {
    return GraphError("needs numbers of uint8, uint16 or float32; got ", got);
  }
  if (clip) return absl::OkStatus();
  return GraphError("clip=False is for float32, as whole numbers have no room beyond their range; got ", got);
}

class GaussianNoise : public UnaryKernel {
 public:
  explicit GaussianNoise(const ir::Attributes& attributes)
      : noise_{static_cast<float>(attributes.Float("mean")), static_cast<float>(attributes.Float("sigma")),
               attributes.Bool("clip")} {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_RETURN_IF_ERROR(CheckType(input.dtype(), noise_.clip, input.TypeName()));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(input.dtype(), input.shape()));
    input.CopyTo(output.mutable_raw());
    if (input.dtype() == DType::kFloat32 && noise_.clip) {
      HEADRACE_RETURN_IF_ERROR(CheckUnitRange(output.data<float>(), output.elements()));
    }
    if (input.dtype() == DType::kUInt8) Add(noise_, 255, context.random(), ValuesOf<uint8_t>(output));
    if (input.dtype() == DType::kUInt16) Add(noise_, 65535, context.random(), ValuesOf<uint16_t>(output));
    if (input.dtype() == DType::kFloat32) Add(noise_, 1, context.random(), ValuesOf<float>(output));
    return output;
  }

 private:
  Noise noise_;  // in units of 0 … 1
};

absl::StatusOr<std::vector<ir::ColumnType>> InferGaussianNoise(const ir::Attributes& attributes,
                                                               absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  if (!type.fields.empty()) return GraphError("needs numbers of uint8, uint16 or float32; got ", ir::TypeName(type));
  if (type.dtype != DType::kUnknown) {
    HEADRACE_RETURN_IF_ERROR(CheckType(type.dtype, attributes.Bool("clip"), ir::TypeName(type)));
  }
  return std::vector{type};
}

std::string Doubt(const ir::Attributes& attributes, absl::Span<const ir::KnownInput> inputs) {
  if (inputs[0].type.dtype != DType::kFloat32 || !inputs[0].bytes_range || !attributes.Bool("clip")) return "";
  return "takes floats of 0 … 1, and these are 0 … 255: put it before the conversion to float32, or ToFloat() before "
         "it";
}

const KernelRegistration gaussian_noise_registration{
    {.name = "GaussianNoise",
     .summary = "Adds normal noise to every value of an image.",
     .doc =
         "Takes uint8, uint16 or float32 of any shape, channels first or last, and gives the same type and shape. To "
         "each value a normal number of its own is added, whose mean and deviation are given for values of 0 … 1: "
         "255 times as much for uint8, 65535 times for uint16, each cut to a whole number; floats are 0 … 1. Then "
         "what exceeds 0 … 255, 0 … 65535 or 0 … 1 is set to the nearest bound; floats of another range need "
         "clip=False. torchvision's GaussianNoise of tensors. The bits are the same on every CPU.\n"
         "Errors: another dtype, clip=False with whole numbers, and floats that are not 0 … 1 without it.",
     .attributes = {{.name = "mean",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The mean of the noise, for values of 0 … 1; between -1,000,000 and 1,000,000.",
                     .default_value = "0.0",
                     .minimum = -kGaussianNoiseMost,
                     .maximum = kGaussianNoiseMost},
                    {.name = "sigma",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The standard deviation of the noise, for values of 0 … 1; between 0 and 1,000,000.",
                     .default_value = "0.1",
                     .minimum = 0,
                     .maximum = kGaussianNoiseMost},
                    {.name = "clip",
                     .type = ir::AttributeType::kBool,
                     .doc = "Whether floats are set to 0 or 1 where the sum is beyond; whole numbers always stay in "
                            "their range.",
                     .default_value = "True"}},
     .traits = {.random = true, .leaves_places = true},
     .python_module = "vision",
     .example = "V.GaussianNoise(sigma=0.05)",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferGaussianNoise,
     .takes_layout = [](const ir::Attributes&, bool) { return true; },
     .doubt = Doubt},
    Makes<GaussianNoise>()};

}  // namespace
}  // namespace headrace

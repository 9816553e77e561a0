#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/resized_crop_box.h"
#include "kernels/vision/pixels/rescale_values.h"

namespace headrace {
namespace {

// The numbers that a row has drawn.
struct RandomRescaleDrawn {
  double scale;
  double shift;
};

class DrawnRescaleStep : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    return PixelFormat{DType::kFloat32, before.channels, before.has_channel_axis};
  }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    RescaleValues(row.values, row.dtype, row.count(), static_cast<float>(facts.channel[0]),
                  static_cast<float>(facts.channel[1]), reinterpret_cast<float*>(target));
  }
};

class RandomRescale : public PixelKernel {
 public:
  RandomRescale(Interval scale, Interval shift) : scale_(scale), shift_(shift) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Interval scale, Interval::Of(attributes, "scale"));
    HEADRACE_ASSIGN_OR_RETURN(const Interval shift, Interval::Of(attributes, "shift"));
    return std::make_unique<RandomRescale>(scale, shift);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (ItemSize(input.dtype()) == 0) return GraphError("needs numbers; got ", input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    const RandomRescaleDrawn drawn = Draw(context.random());
    RescaleValues(dense.raw(), dense.dtype(), dense.elements(), static_cast<float>(drawn.scale),
                  static_cast<float>(drawn.shift), output.mutable_data<float>());
    return output;
  }
  bool Takes(bool) const override { return true; }
  void AddTo(PixelSteps& steps, RowRandom& random) const override {
    const RandomRescaleDrawn drawn = Draw(random);
    steps.Add(step_, {drawn.scale, drawn.shift, 0});
  }

 private:
  RandomRescaleDrawn Draw(RowRandom& random) const {
    const double scale = random.Uniform(scale_.low, scale_.high);
    return {scale, random.Uniform(shift_.low, shift_.high)};
  }

  Interval scale_;
  Interval shift_;
  DrawnRescaleStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRandomRescale(const ir::Attributes& attributes,
                                                               absl::Span<const ir::ColumnType> inputs) {
  for (const char* name : {"scale", "shift"}) HEADRACE_RETURN_IF_ERROR(Interval::Of(attributes, name).status());
  return InferRescaled(inputs);
}

const KernelRegistration random_rescale_registration{
    {.name = "RandomRescale",
     .summary = "Multiplies by a random number and adds another.",
     .doc = "Takes numbers of any type and shape and gives float32 of the same shape: x * scale + shift, computed in "
            "float32 as by Rescale, where a row draws both numbers, uniformly. Behind Normalize, scale=(1 - c, 1 + c) "
            "is MXNet's max_random_contrast=c.\n"
            "Errors: bytes or strings.",
     .attributes = {{.name = "scale",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest factor.",
                     .default_value = "(1.0, 1.0)",
                     .minimum = -1e6,
                     .maximum = 1e6,
                     .lengths = {2}},
                    {.name = "shift",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The least and the greatest number that is added afterwards.",
                     .default_value = "(0.0, 0.0)",
                     .minimum = -1e6,
                     .maximum = 1e6,
                     .lengths = {2}}},
     .traits = {.random = true, .pointwise = true},
     .python_module = "vision",
     .example = "V.RandomRescale(scale=(0.8, 1.2), shift=(-10, 10))",
     .sample = {.attributes = {{"scale", "(0.5, 1.5)"}, {"shift", "(-2.0, 2.0)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRandomRescale,
     .gives_units = [](const ir::Attributes&, bool) { return false; }},
    RandomRescale::Make};

}  // namespace
}  // namespace headrace

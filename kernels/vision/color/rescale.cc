#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/pixels/rescale_values.h"

namespace headrace {
namespace {

class RescaleStep : public PixelStep {
 public:
  RescaleStep(float scale, float shift) : scale_(scale), shift_(shift) {}

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    return PixelFormat{DType::kFloat32, before.channels, before.has_channel_axis};
  }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    RescaleValues(row.values, row.dtype, row.count(), scale_, shift_, reinterpret_cast<float*>(target));
  }

 private:
  float scale_;
  float shift_;
};

class Rescale : public PixelKernel {
 public:
  explicit Rescale(const ir::Attributes& attributes)
      : scale_(static_cast<float>(attributes.Float("scale"))),
        shift_(static_cast<float>(attributes.Float("shift"))),
        step_(scale_, shift_) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (ItemSize(input.dtype()) == 0) return GraphError("needs numbers; got ", input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    RescaleValues(dense.raw(), dense.dtype(), dense.elements(), scale_, shift_, output.mutable_data<float>());
    return output;
  }
  bool Takes(bool) const override { return true; }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  float scale_;
  float shift_;
  RescaleStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferRescale(const ir::Attributes&,
                                                         absl::Span<const ir::ColumnType> inputs) {
  return InferRescaled(inputs);
}

// As Rescale(1 / 255) does, and rounder factors.
bool RescalesToUnits(const ir::Attributes& attributes, bool units) {
  constexpr double kMostScale = 0.01;
  const double scale = attributes.Float("scale");
  return !units && scale > 0 && scale <= kMostScale && attributes.Float("shift") == 0;
}

const KernelRegistration rescale_registration{
    {.name = "Rescale",
     .summary = "Multiplies by a number and adds another.",
     .doc = "Takes numbers of any type and shape and gives float32 of the same shape: x * scale + shift, computed in "
            "float32. Rescale(1 / 255) brings uint8 pixels to 0 … 1.\n"
            "Errors: bytes or strings.",
     .attributes = {{.name = "scale", .type = ir::AttributeType::kFloat, .doc = "The factor."},
                    {.name = "shift",
                     .type = ir::AttributeType::kFloat,
                     .doc = "What is added afterwards.",
                     .default_value = "0.0"}},
     .traits = {.pointwise = true},
     .python_module = "vision",
     .example = "V.Rescale(1 / 255)",
     .sample = {.attributes = {{"scale", "0.5"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferRescale,
     .gives_units = RescalesToUnits},
    Makes<Rescale>()};

}  // namespace
}  // namespace headrace

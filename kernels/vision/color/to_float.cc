#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/pixels/normalize_values.h"

namespace headrace {
namespace {

// 0: not one of the types taken.
float GreatestOf(DType dtype) { return dtype == DType::kUInt8 ? 255.0f : dtype == DType::kUInt16 ? 65535.0f : 0.0f; }

absl::Status NotTakenToFloat(std::string_view got) {
  return GraphError("needs uint8, which it divides by 255, or uint16, which it divides by 65,535; got ", got);
}

void DivideAny(const uint8_t* values, DType dtype, int64_t count, float* target) {
  const float greatest = GreatestOf(dtype);
  if (dtype == DType::kUInt8) return NormalizeValues(values, dtype, count, 0, greatest, target);
  const auto* const words = reinterpret_cast<const uint16_t*>(values);
  for (int64_t i = 0; i < count; ++i) target[i] = static_cast<float>(words[i]) / greatest;
}

class ToFloatStep : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    if (GreatestOf(before.dtype) == 0) return NotTakenToFloat(DTypeName(before.dtype));
    return PixelFormat{DType::kFloat32, before.channels, before.has_channel_axis, true};
  }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    DivideAny(row.values, row.dtype, row.count(), reinterpret_cast<float*>(target));
  }
};

class ToFloat : public PixelKernel {
 public:
  explicit ToFloat(const ir::Attributes&) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (GreatestOf(input.dtype()) == 0) return NotTakenToFloat(input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    DivideAny(dense.raw(), dense.dtype(), dense.elements(), output.mutable_data<float>());
    return output;
  }
  bool Takes(bool) const override { return true; }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  ToFloatStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferToFloat(const ir::Attributes&,
                                                         absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  const bool taken = type.dtype == DType::kUnknown || GreatestOf(type.dtype) > 0;
  if (!taken || !type.fields.empty()) return NotTakenToFloat(ir::TypeName(type));
  type.dtype = DType::kFloat32;
  return std::vector{type};
}

const KernelRegistration to_float_registration{
    {.name = "ToFloat",
     .summary = "Brings whole numbers to 0 … 1.",
     .doc =
         "Takes uint8 or uint16 of any shape and gives float32 of the same shape: each value divided by the greatest "
         "one of its type, 255 or 65,535, in float32. torchvision's ToDtype(float32, scale=True).\n"
         "Errors: another dtype.",
     .traits = {.pointwise = true},
     .python_module = "vision",
     .example = "V.ToFloat()",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferToFloat,
     .gives_units = [](const ir::Attributes&, bool) { return true; }},
    Makes<ToFloat>()};

}  // namespace
}  // namespace headrace

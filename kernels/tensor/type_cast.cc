#include <memory>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/convert.h"
#include "kernels/vision/fused/pixel_kernel.h"

namespace headrace {
namespace {

class CastStep : public PixelStep {
 public:
  explicit CastStep(DType dtype) : dtype_(dtype) {}

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    return PixelFormat{dtype_, before.channels, before.has_channel_axis};
  }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    ConvertValues(row.values, row.dtype, row.count(), dtype_, target);
  }

 private:
  DType dtype_;
};

class TypeCast : public PixelKernel {
 public:
  explicit TypeCast(const ir::Attributes& attributes) : dtype_(attributes.Type("dtype")), step_(dtype_) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    const DType dtype = attributes.Type("dtype");
    if (ItemSize(dtype) == 0) return GraphError("cannot cast to ", DTypeName(dtype), "; dtype must be one of numbers");
    return std::make_unique<TypeCast>(attributes);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (input.dtype() == dtype_) return input;
    if (ItemSize(input.dtype()) == 0) {
      return GraphError("cannot cast ", input.TypeName(), " to ", DTypeName(dtype_), "; it needs numbers");
    }
    if (!input.contiguous()) {
      HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
      return Cast(dense, context);
    }
    return Cast(input, context);
  }

  bool applies_to_stacks() const override { return true; }

  bool Takes(bool) const override { return true; }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  absl::StatusOr<Tensor> Cast(const Tensor& dense, KernelContext& context) const {
    absl::StatusOr<Tensor> output = context.AllocateOutput(dtype_, dense.shape());
    if (output.ok()) ConvertValues(dense.raw(), dense.dtype(), dense.elements(), dtype_, output->mutable_raw());
    return output;
  }

  DType dtype_;
  CastStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferTypeCast(const ir::Attributes& attributes,
                                                          absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  const DType dtype = attributes.Type("dtype");
  const bool from_text = IsVariableLength(type.dtype) && type.dtype != dtype;
  if (ItemSize(dtype) == 0 || from_text || !type.fields.empty()) {
    return GraphError("cannot cast ", ir::TypeName(type), " to ", DTypeName(dtype), "; both must be numbers");
  }
  type.dtype = dtype;
  return std::vector{type};
}

const KernelRegistration type_cast_registration{
    {.name = "TypeCast",
     .summary = "Converts numbers to another type.",
     .doc =
         "Takes numbers of any type and shape and gives `dtype` of the same shape, as numpy.ndarray.astype: integers "
         "wrap, reals lose their fraction, 16-bit reals round to the nearest even, anything but zero is True. Where C "
         "and NumPy leave it open, a real beyond an integer type becomes the nearest value of it and NaN becomes 0.\n"
         "Errors: bytes or strings on either side.",
     .attributes = {{.name = "dtype", .type = ir::AttributeType::kDType, .doc = "The type of the result."}},
     .traits = {.pointwise = true, .casts = true},
     .python_module = "transforms",
     .example = "T.TypeCast('float16')",
     .sample = {.attributes = {{"dtype", "'float32'"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferTypeCast,
     .is_kernel_identity =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           return inputs[0].dtype == attributes.Type("dtype");
         }},
    TypeCast::Make};

}  // namespace
}  // namespace headrace

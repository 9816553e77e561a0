#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/convert.h"

namespace headrace {
namespace {

absl::Status CheckMatrix(const ir::Attributes& attributes) {
  const auto values = static_cast<int64_t>(attributes.Floats("mean").size());
  const auto entries = static_cast<int64_t>(attributes.Floats("matrix").size());
  if (values > 0 && values < (int64_t{1} << 31) && entries == values * values) return absl::OkStatus();
  return GraphError("mean has ", values, " numbers, and matrix ", entries,
                    "; the matrix must be square, with as many rows as the mean has numbers");
}

absl::Status OtherSize(int64_t numbers, int64_t elements, std::string_view got) {
  return GraphError("mean has ", numbers, " numbers, and the image has ", elements, " elements: ", got);
}

class LinearTransformation : public UnaryKernel {
 public:
  explicit LinearTransformation(const ir::Attributes& attributes) {
    const std::vector<double> matrix = attributes.Floats("matrix");
    const std::vector<double> mean = attributes.Floats("mean");
    matrix_.assign(matrix.begin(), matrix.end());
    mean_.assign(mean.begin(), mean.end());
  }

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckMatrix(attributes));
    return std::make_unique<LinearTransformation>(attributes);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (ItemSize(input.dtype()) == 0) return GraphError("needs numbers; got ", input.TypeName());
    const auto count = static_cast<int64_t>(mean_.size());
    if (input.elements() != count) return OtherSize(count, input.elements(), input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(DType::kFloat32, {count}));
    ConvertValues(dense.raw(), dense.dtype(), count, DType::kFloat32, values.mutable_raw());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    Multiply(values.data<float>(), count, output.mutable_data<float>());
    return output;
  }

 private:
  // One row of the matrix after the other: the sums have a fixed order, and the inner loop works on vectors.
  void Multiply(const float* values, int64_t count, float* target) const {
    std::fill_n(target, count, 0.0f);
    const float* row = matrix_.data();
    for (int64_t i = 0; i < count; ++i, row += count) {
      const float value = values[i] - mean_[static_cast<size_t>(i)];
      for (int64_t j = 0; j < count; ++j) target[j] += value * row[j];
    }
  }

  std::vector<float> matrix_;
  std::vector<float> mean_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferLinearTransformation(const ir::Attributes& attributes,
                                                                      absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckMatrix(attributes));
  ir::ColumnType type = inputs[0];
  if (IsVariableLength(type.dtype) || !type.fields.empty()) {
    return GraphError("needs numbers; got ", ir::TypeName(type));
  }
  type.dtype = DType::kFloat32;
  if (!type.shape) return std::vector{type};
  int64_t elements = 1;
  for (const int64_t size : *type.shape) {
    if (size == ir::kUnknownDim || __builtin_mul_overflow(elements, size, &elements)) return std::vector{type};
  }
  const auto count = static_cast<int64_t>(attributes.Floats("mean").size());
  if (elements != count) return OtherSize(count, elements, ir::TypeName(inputs[0]));
  return std::vector{type};
}

const KernelRegistration linear_transformation_registration{
    {.name = "LinearTransformation",
     .summary = "Multiplies an image, as one vector, by a matrix, as whitening does.",
     .doc = "Takes numbers of any type and shape, with as many elements as `mean`, and gives float32 of that shape: "
            "(x - mean) @ matrix, where x are the elements row by row, summed in float32 in the order of the matrix's "
            "rows. After HWC2CHW it is torchvision's LinearTransformation. A matrix for D elements has D * D numbers, "
            "which are part of the graph: it is meant for small images.\n"
            "Errors: another number of elements; a matrix that is not square, or not of the size of the mean.",
     .attributes = {{.name = "matrix",
                     .type = ir::AttributeType::kFloats,
                     .doc = "The matrix, row by row: matrix.ravel() of an array.",
                     .length = ir::ListLength{}},
                    {.name = "mean",
                     .type = ir::AttributeType::kFloats,
                     .doc = "What is subtracted from the elements, one number for each.",
                     .length = ir::ListLength{}}},
     .traits = {.leaves_places = true},
     .python_module = "vision",
     .example = "V.LinearTransformation(np.eye(12).ravel(), np.zeros(12))",
     .sample = {.attributes = {{"matrix",
                                "(1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0, "
                                "1.0)"},
                               {"mean", "(0.0, 0.5, 0.0, 1.0)"}},
                .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferLinearTransformation},
    LinearTransformation::Make};

}  // namespace
}  // namespace headrace

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

// How many numbers a mean and a deviation are given for; 1: all have the same.
absl::StatusOr<int64_t> StandardizedColumns(const ir::Attributes& attributes) {
  const size_t means = attributes.Floats("mean").size();
  const size_t deviations = attributes.Floats("std").size();
  if (means == deviations) return static_cast<int64_t>(means);
  return GraphError("mean has ", means, " numbers and std ", deviations, "; give as many of each");
}

absl::Status WrongColumns(int64_t columns, std::string_view got) {
  return GraphError("mean and std have ", columns, " numbers, one for each element of the last axis; got ", got);
}

class Standardize : public UnaryKernel {
 public:
  explicit Standardize(const ir::Attributes& attributes)
      : mean_(attributes.Floats("mean")), divisor_(attributes.Floats("std")) {
    // A column that never changes becomes 0, as long as it does not.
    for (double& divisor : divisor_) divisor = divisor == 0 ? 1 : divisor;
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(StandardizedColumns(attributes).status());
    return std::make_unique<Standardize>(attributes);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (ItemSize(input.dtype()) == 0) return GraphError("needs numbers; got ", input.TypeName());
    const auto columns = static_cast<int64_t>(mean_.size());
    if (columns != 1 && (input.rank() == 0 || input.dim(input.rank() - 1) != columns)) {
      return WrongColumns(columns, input.TypeName());
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    VisitNumber(dense.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      Fill(reinterpret_cast<const T*>(dense.raw()), dense.elements(), output.mutable_data<float>());
    });
    return output;
  }

 private:
  template <typename T>
  void Fill(const T* values, int64_t count, float* target) const {
    const size_t columns = mean_.size();
    size_t column = 0;
    for (int64_t i = 0; i < count; ++i) {
      target[i] = static_cast<float>((ConvertNumber<double>(values[i]) - mean_[column]) / divisor_[column]);
      if (++column == columns) column = 0;
    }
  }

  std::vector<double> mean_;
  std::vector<double> divisor_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferStandardize(const ir::Attributes& attributes,
                                                             absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(const int64_t columns, StandardizedColumns(attributes));
  ir::ColumnType type = inputs[0];
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  if (!unknown && ItemSize(type.dtype) == 0) return GraphError("needs numbers; got ", ir::TypeName(type));
  if (columns != 1 && type.shape) {
    const int64_t last = type.shape->empty() ? 0 : type.shape->back();
    if (last != columns && last != ir::kUnknownDim) return WrongColumns(columns, ir::TypeName(type));
  }
  type.dtype = DType::kFloat32;
  return std::vector{type};
}

const KernelRegistration standardize_registration{
    {.name = "Standardize",
     .summary = "Subtracts means and divides by standard deviations.",
     .doc =
         "Takes numbers of any type and gives float32 of the same shape: (x - mean) / std, computed in float64, with "
         "one mean and one std for all elements, or one for each element of the last axis. A std of 0, of a column "
         "that never changes, divides by 1: scikit-learn's StandardScaler. `ds.statistics(\"x\")` gives both, "
         "computed over the rows that a model is trained on. V.Normalize does the same to the channels of "
         "pictures, in float32.\n"
         "Errors: bytes or strings, and a last axis of another length.",
     .attributes = {{.name = "mean",
                     .type = ir::AttributeType::kFloats,
                     .doc = "What is subtracted.",
                     .length = ir::ListLength{}},
                    {.name = "std",
                     .type = ir::AttributeType::kFloats,
                     .doc = "What is divided by.",
                     .minimum = 0,
                     .length = ir::ListLength{}}},
     .python_module = "transforms",
     .example = "T.Standardize(mean=(29.7, 32.2), std=(14.5, 49.7))",
     .sample = {.attributes = {{"mean", "(1.5,)"}, {"std", "(2.0,)"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferStandardize},
    Standardize::Make};

}  // namespace
}  // namespace headrace

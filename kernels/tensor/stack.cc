#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/tensor/axis.h"

namespace headrace {
namespace {

absl::Status CannotStack(const std::string& one, const std::string& other) {
  return GraphError("cannot stack ", one, " and ", other,
                    ": dtypes and shapes must be equal (T.TypeCast before it makes dtypes equal)");
}

// `axis` of the result, which has one more than `rank`.
absl::StatusOr<int> NewAxis(int64_t axis, size_t rank) { return ResolveAxis(axis, static_cast<int>(rank) + 1); }

class Stack : public Kernel {
 public:
  explicit Stack(const ir::Attributes& attributes) : axis_(attributes.Int("axis")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    const Tensor& first = inputs[0];
    for (const Tensor& input : inputs.subspan(1)) {
      if (input.dtype() != first.dtype() || input.shape() != first.shape()) {
        return CannotStack(first.TypeName(), input.TypeName());
      }
    }
    HEADRACE_ASSIGN_OR_RETURN(const int axis, NewAxis(axis_, first.shape().size()));
    Shape shape = first.shape();
    const int64_t outer = ElementCount(absl::MakeConstSpan(shape).first(static_cast<size_t>(axis)));
    const int64_t inner = ElementCount(absl::MakeConstSpan(shape).subspan(static_cast<size_t>(axis)));
    shape.insert(shape.begin() + axis, static_cast<int64_t>(inputs.size()));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, IsVariableLength(first.dtype())
                                                 ? Texts(inputs, outer, inner, shape)
                                                 : Numbers(inputs, outer, inner, shape, context));
    return Tensors{std::move(output)};
  }

 private:
  static absl::StatusOr<Tensor> Texts(absl::Span<const Tensor> inputs, int64_t outer, int64_t inner,
                                      const Shape& shape) {
    std::vector<std::string_view> elements;
    for (int64_t o = 0; o < outer; ++o) {
      for (const Tensor& input : inputs) {
        for (int64_t i = 0; i < inner; ++i) elements.push_back(input.bytes_at(o * inner + i));
      }
    }
    return Tensor::CopyBytesArray(inputs[0].dtype(), shape, elements);
  }

  static absl::StatusOr<Tensor> Numbers(absl::Span<const Tensor> inputs, int64_t outer, int64_t inner,
                                        const Shape& shape, KernelContext& context) {
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(inputs[0].dtype(), shape));
    const size_t run = static_cast<size_t>(inner) * ItemSize(output.dtype());
    if (run == 0) return output;
    uint8_t* target = output.mutable_raw();
    for (const Tensor& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
      for (int64_t o = 0; o < outer; ++o) {
        std::memcpy(target + static_cast<size_t>(o) * run * inputs.size(), dense.raw() + static_cast<size_t>(o) * run,
                    run);
      }
      target += run;
    }
    return output;
  }

  int64_t axis_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferStack(const ir::Attributes& attributes,
                                                       absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType stacked = inputs[0];
  for (const ir::ColumnType& input : inputs) {
    if (!input.fields.empty()) return GraphError("needs tensors; got ", ir::TypeName(input));
    if (stacked.dtype == DType::kUnknown) stacked.dtype = input.dtype;
    bool agree = input.dtype == stacked.dtype || input.dtype == DType::kUnknown;
    if (!stacked.shape) stacked.shape = input.shape;
    if (input.shape) {
      agree = agree && input.shape->size() == stacked.shape->size();
      for (size_t axis = 0; agree && axis < stacked.shape->size(); ++axis) {
        int64_t& size = (*stacked.shape)[axis];
        const int64_t other = (*input.shape)[axis];
        agree = size == other || size == ir::kUnknownDim || other == ir::kUnknownDim;
        if (size == ir::kUnknownDim) size = other;
      }
    }
    if (!agree) return CannotStack(ir::TypeName(inputs[0]), ir::TypeName(input));
  }
  if (!stacked.shape) return std::vector{stacked};
  HEADRACE_ASSIGN_OR_RETURN(const int axis, NewAxis(attributes.Int("axis"), stacked.shape->size()));
  stacked.shape->insert(stacked.shape->begin() + axis, static_cast<int64_t>(inputs.size()));
  return std::vector{stacked};
}

const KernelRegistration stack_registration{
    {.name = "Stack",
     .summary = "Joins several columns of a row along a new axis.",
     .doc = "Takes one or more tensors of one dtype (any) and shape, and gives one tensor with an axis more, as long "
            "as there are columns: numpy.stack. Scalars become a vector: ds.map(T.Stack(), [\"age\", \"fare\"], "
            "\"features\").\n"
            "Errors: dtypes or shapes that differ, naming both; an axis that does not exist.",
     .max_inputs = -1,
     .attributes = {{.name = "axis",
                     .type = ir::AttributeType::kInt,
                     .doc = "Which axis of the result is the new one; negative ones count from the last.",
                     .default_value = "0"}},
     .traits = {.keeps_classes = true},
     .python_module = "transforms",
     .example = "T.Stack()",
     .sample = {.inputs = {ir::SampleInput::kVector, ir::SampleInput::kVector, ir::SampleInput::kVector}},
     .infer_kernel = InferStack},
    Makes<Stack>()};

}  // namespace
}  // namespace headrace

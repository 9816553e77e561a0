#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/tensor/axis.h"

namespace headrace {
namespace {

bool DimsAgree(int64_t a, int64_t b) { return a == b || a == ir::kUnknownDim || b == ir::kUnknownDim; }

// Joins `shape` into `joined` along the axis; false if they do not match. Supports unknown dimensions.
bool JoinShape(absl::Span<const int64_t> shape, int axis, Shape& joined) {
  if (shape.size() != joined.size()) return false;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (i != axis && !DimsAgree(shape[i], joined[i])) return false;
    if (i != axis && joined[i] == ir::kUnknownDim) joined[i] = shape[i];
  }
  const bool known = shape[axis] != ir::kUnknownDim && joined[axis] != ir::kUnknownDim;
  joined[axis] = known ? joined[axis] + shape[axis] : ir::kUnknownDim;
  return true;
}

absl::StatusOr<Tensor> JoinedTexts(absl::Span<const Tensor> inputs, int axis, const Shape& shape) {
  std::vector<std::string_view> elements;
  for (int64_t outer = 0; outer < SplitAt(shape, axis).outer; ++outer) {
    for (const Tensor& input : inputs) {
      const AxisSplit split = SplitAt(input.shape(), axis);
      const int64_t run = split.size * split.inner;
      for (int64_t i = 0; i < run; ++i) elements.push_back(input.bytes_at(outer * run + i));
    }
  }
  return Tensor::CopyBytesArray(inputs[0].dtype(), shape, elements);
}

absl::StatusOr<Tensor> JoinedNumbers(absl::Span<const Tensor> inputs, int axis, const Shape& shape,
                                     KernelContext& context) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(inputs[0].dtype(), shape));
  const size_t item = ItemSize(output.dtype());
  const AxisSplit whole = SplitAt(shape, axis);
  uint8_t* target = output.mutable_raw();
  for (const Tensor& input : inputs) {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    const size_t run = input.dim(axis) * whole.inner * item;
    if (run == 0) continue;
    for (int64_t outer = 0; outer < whole.outer; ++outer) {
      std::memcpy(target + outer * whole.size * whole.inner * item, dense.raw() + outer * run, run);
    }
    target += run;
  }
  return output;
}

class Concatenate : public Kernel {
 public:
  explicit Concatenate(const ir::Attributes& attributes) : axis_(attributes.Int("axis")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    const Tensor& first = inputs[0];
    HEADRACE_ASSIGN_OR_RETURN(const int axis, ResolveAxis(axis_, first.rank()));
    Shape shape = first.shape();
    for (const Tensor& input : inputs.subspan(1)) {
      if (input.dtype() == first.dtype() && JoinShape(input.shape(), axis, shape)) continue;
      return GraphError("cannot join ", first.TypeName(), " and ", input.TypeName(), " along axis ", axis,
                        ": dtypes and all other dimensions must be equal");
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, IsVariableLength(first.dtype())
                                                 ? JoinedTexts(inputs, axis, shape)
                                                 : JoinedNumbers(inputs, axis, shape, context));
    return Tensors{std::move(output)};
  }

 private:
  int64_t axis_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferConcatenate(const ir::Attributes& attributes,
                                                             absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType joined = inputs[0];
  for (const ir::ColumnType& input : inputs) {
    if (!input.fields.empty()) return GraphError("needs tensors; got ", ir::TypeName(input));
    if (joined.dtype == DType::kUnknown) joined.dtype = input.dtype;
    if (input.dtype != joined.dtype && input.dtype != DType::kUnknown) {
      return GraphError("cannot join ", ir::TypeName(inputs[0]), " and ", ir::TypeName(input), ": dtypes differ");
    }
  }
  for (const ir::ColumnType& input : inputs) {
    if (!input.shape) joined.shape.reset();
  }
  if (!joined.shape) return std::vector{joined};
  HEADRACE_ASSIGN_OR_RETURN(const int axis,
                            ResolveAxis(attributes.Int("axis"), static_cast<int>(joined.shape->size())));
  for (const ir::ColumnType& input : inputs.subspan(1)) {
    if (JoinShape(*input.shape, axis, *joined.shape)) continue;
    return GraphError("cannot join ", ir::TypeName(inputs[0]), " and ", ir::TypeName(input), " along axis ", axis,
                      ": all other dimensions must be equal");
  }
  return std::vector{joined};
}

const KernelRegistration concatenate_registration{
    {.name = "Concatenate",
     .summary = "Joins several columns of a row along one axis.",
     .doc = "Takes one or more tensors of one dtype (any) whose other dimensions are equal, and gives one tensor: "
            "numpy.concatenate.\n"
            "Errors: dtypes or shapes that do not match, naming both; scalars; an axis that does not exist.",
     .max_inputs = -1,
     .attributes = {{.name = "axis",
                     .type = ir::AttributeType::kInt,
                     .doc = "Which axis; negative ones count from the last.",
                     .default_value = "0"}},
     .python_module = "transforms",
     .example = "T.Concatenate(axis=-1)",
     .sample = {.inputs = {ir::SampleInput::kVector, ir::SampleInput::kVector, ir::SampleInput::kVector}},
     .infer_kernel = InferConcatenate},
    Makes<Concatenate>()};

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"
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

absl::Status Scalars() {
  return GraphError(
      "needs columns with an axis, and scalars have none; T.Stack() makes a vector of them, of one dtype "
      "(T.TypeCast before it makes dtypes equal)");
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

// `prepend` or `append`; empty: nothing.
std::vector<ir::Number> AddedNumbers(const ir::Attributes& attributes, std::string_view name) {
  return attributes.IsNone(name) ? std::vector<ir::Number>() : attributes.Numbers(name);
}

absl::StatusOr<Tensor> TensorOf(std::string_view name, const std::vector<ir::Number>& numbers, DType dtype) {
  if (ItemSize(dtype) == 0) return GraphError(name, " holds numbers, and the columns hold ", DTypeName(dtype));
  HEADRACE_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, {static_cast<int64_t>(numbers.size())}));
  uint8_t* target = tensor.mutable_raw();
  for (const ir::Number& number : numbers) {
    HEADRACE_RETURN_IF_ERROR(StoreNumber(name, number, dtype, target));
    target += ItemSize(dtype);
  }
  return tensor;
}

absl::Status CheckAdded(const ir::Attributes& attributes, const ir::ColumnType& joined) {
  for (const std::string_view name : {"prepend", "append"}) {
    const std::vector<ir::Number> numbers = AddedNumbers(attributes, name);
    if (numbers.empty()) continue;
    if (joined.dtype != DType::kUnknown) HEADRACE_RETURN_IF_ERROR(TensorOf(name, numbers, joined.dtype).status());
    if (!joined.shape || joined.shape->size() == 1) continue;
    return GraphError(name, " is for columns of one axis; got ", ir::TypeName(joined));
  }
  return absl::OkStatus();
}

class Concatenate : public Kernel {
 public:
  explicit Concatenate(const ir::Attributes& attributes)
      : axis_(attributes.Int("axis")),
        prepend_(AddedNumbers(attributes, "prepend")),
        append_(AddedNumbers(attributes, "append")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> given, KernelContext& context) const override {
    absl::InlinedVector<Tensor, 4> inputs(given.begin(), given.end());
    if (!prepend_.empty()) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor added, TensorOf("prepend", prepend_, given[0].dtype()));
      inputs.insert(inputs.begin(), std::move(added));
    }
    if (!append_.empty()) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor added, TensorOf("append", append_, given[0].dtype()));
      inputs.push_back(std::move(added));
    }
    return Join(inputs, context);
  }

 private:
  absl::StatusOr<Tensors> Join(absl::Span<const Tensor> inputs, KernelContext& context) const {
    const Tensor& first = inputs[0];
    if (std::any_of(inputs.begin(), inputs.end(), [](const Tensor& input) { return input.rank() == 0; })) {
      return Scalars();
    }
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

  int64_t axis_;
  std::vector<ir::Number> prepend_;
  std::vector<ir::Number> append_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferConcatenate(const ir::Attributes& attributes,
                                                             absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType joined = inputs[0];
  for (const ir::ColumnType& input : inputs) {
    if (!input.fields.empty()) return GraphError("needs tensors; got ", ir::TypeName(input));
    // Before dtypes, as it has to be mended first.
    if (input.shape && input.shape->empty()) return Scalars();
  }
  for (const ir::ColumnType& input : inputs) {
    if (joined.dtype == DType::kUnknown) joined.dtype = input.dtype;
    if (input.dtype != joined.dtype && input.dtype != DType::kUnknown) {
      return GraphError("cannot join ", ir::TypeName(inputs[0]), " and ", ir::TypeName(input),
                        ": dtypes differ (T.TypeCast before it makes them equal)");
    }
  }
  for (const ir::ColumnType& input : inputs) {
    if (!input.shape) joined.shape.reset();
  }
  HEADRACE_RETURN_IF_ERROR(CheckAdded(attributes, joined));
  if (!joined.shape) return std::vector{joined};
  HEADRACE_ASSIGN_OR_RETURN(const int axis,
                            ResolveAxis(attributes.Int("axis"), static_cast<int>(joined.shape->size())));
  for (const ir::ColumnType& input : inputs.subspan(1)) {
    if (JoinShape(*input.shape, axis, *joined.shape)) continue;
    return GraphError("cannot join ", ir::TypeName(inputs[0]), " and ", ir::TypeName(input), " along axis ", axis,
                      ": all other dimensions must be equal");
  }
  int64_t& size = (*joined.shape)[static_cast<size_t>(axis)];
  for (const std::string_view name : {"prepend", "append"}) {
    if (size != ir::kUnknownDim) size += static_cast<int64_t>(AddedNumbers(attributes, name).size());
  }
  return std::vector{joined};
}

const KernelRegistration concatenate_registration{
    {.name = "Concatenate",
     .summary = "Joins several columns of a row along one axis.",
     .doc = "Takes one or more tensors of one dtype (any) whose other dimensions are equal, and gives one tensor: "
            "numpy.concatenate. Numbers to put before and after columns of one axis are given by `prepend` and "
            "`append`, as in MindSpore's Concatenate: T.Concatenate(prepend=[101], append=[102]) frames token ids.\n"
            "Errors: dtypes or shapes that do not match, naming both; scalars (see Stack); an axis that does not "
            "exist; numbers that the dtype cannot hold.",
     .max_inputs = -1,
     .attributes = {{.name = "axis",
                     .type = ir::AttributeType::kInt,
                     .doc = "Which axis; negative ones count from the last.",
                     .default_value = "0"},
                    {.name = "prepend",
                     .type = ir::AttributeType::kFloats,
                     .doc = "Numbers before the columns.",
                     .default_value = "None",
                     .nullable = true,
                     .length = ir::ListLength{.least = 0},
                     .keeps_whole = true},
                    {.name = "append",
                     .type = ir::AttributeType::kFloats,
                     .doc = "Numbers after the columns.",
                     .default_value = "None",
                     .nullable = true,
                     .length = ir::ListLength{.least = 0},
                     .keeps_whole = true}},
     .python_module = "transforms",
     .example = "T.Concatenate(axis=-1)",
     .sample = {.inputs = {ir::SampleInput::kVector, ir::SampleInput::kVector, ir::SampleInput::kVector}},
     .infer_kernel = InferConcatenate},
    Makes<Concatenate>()};

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

constexpr int64_t kKeep = -1;  // keeps the length of an axis

absl::Status DoesNotFit(std::string_view input, absl::Span<const int64_t> wanted) {
  return GraphError("cannot pad ", input, " to ", ShapeName(wanted),
                    ": it needs as many axes, none of them longer already (truncate=True cuts them off)");
}

// Copies the block at the beginning of each axis that both have, the last axis at once.
void CopyBlock(const uint8_t* source, absl::Span<const int64_t> shape, absl::Span<const int64_t> target_shape,
               size_t item, uint8_t* target) {
  if (shape.empty()) {
    std::memcpy(target, source, item);
    return;
  }
  const int64_t common = std::min(shape[0], target_shape[0]);
  if (shape.size() == 1) {
    std::memcpy(target, source, item * static_cast<size_t>(common));
    return;
  }
  const int64_t source_step = ElementCount(shape.subspan(1)) * static_cast<int64_t>(item);
  const int64_t target_step = ElementCount(target_shape.subspan(1)) * static_cast<int64_t>(item);
  for (int64_t i = 0; i < common; ++i) {
    CopyBlock(source + i * source_step, shape.subspan(1), target_shape.subspan(1), item, target + i * target_step);
  }
}

class PadEnd : public UnaryKernel {
 public:
  explicit PadEnd(const ir::Attributes& attributes)
      : shape_(attributes.Ints("shape")), value_(attributes.Number("value")), truncates_(attributes.Bool("truncate")) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (input.rank() != static_cast<int>(shape_.size())) return DoesNotFit(input.TypeName(), shape_);
    Shape shape = input.shape();
    for (int i = 0; i < input.rank(); ++i) {
      if (shape_[i] == kKeep) continue;
      if (shape_[i] < shape[i] && !truncates_) return DoesNotFit(input.TypeName(), shape_);
      shape[i] = shape_[i];
    }
    uint8_t element[sizeof(double)];
    HEADRACE_RETURN_IF_ERROR(StoreNumber("value", value_, input.dtype(), element));
    if (shape == input.shape()) return input;
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(input.dtype(), shape));
    const size_t item = ItemSize(input.dtype());
    RepeatElement(element, item, output.elements(), output.mutable_raw());
    if (input.elements() == 0 || output.elements() == 0) return output;
    CopyBlock(dense.raw(), input.shape(), shape, item, output.mutable_raw());
    return output;
  }

 private:
  std::vector<int64_t> shape_;
  ir::Number value_;
  bool truncates_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPadEnd(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  if (!type.fields.empty()) return GraphError("needs numbers; got ", ir::TypeName(type));
  uint8_t element[sizeof(double)];
  if (type.dtype != DType::kUnknown) {
    HEADRACE_RETURN_IF_ERROR(StoreNumber("value", attributes.Number("value"), type.dtype, element));
  }
  const std::vector<int64_t> wanted = attributes.Ints("shape");
  if (!type.shape) type.shape = Shape(wanted.size(), ir::kUnknownDim);
  if (type.shape->size() != wanted.size()) return DoesNotFit(ir::TypeName(inputs[0]), wanted);
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t& size = (*type.shape)[i];
    if (wanted[i] == kKeep) continue;
    if (size > wanted[i] && !attributes.Bool("truncate")) return DoesNotFit(ir::TypeName(inputs[0]), wanted);
    size = wanted[i];
  }
  return std::vector{type};
}

bool AddsNothing(const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  const std::vector<int64_t> wanted = attributes.Ints("shape");
  // The value must fit the dtype even if nothing is padded: InferPadEnd has checked that if it knew the dtype.
  if (!type.shape || type.dtype == DType::kUnknown || type.shape->size() != wanted.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), type.shape->begin(),
                    [](int64_t length, int64_t size) { return length == kKeep || length == size; });
}

const KernelRegistration pad_end_registration{
    {.name = "PadEnd",
     .summary = "Pads tensors of different lengths at their ends to equal lengths.",
     .doc =
         "Takes numbers of any type and gives the same type of shape `shape`, with the input at the beginning of each "
         "axis and `value` after it. With `truncate` longer axes are cut off at their ends, as MindSpore's PadEnd "
         "does.\n"
         "Errors: another number of axes, an axis longer than wanted, a value that the type cannot hold, bytes or "
         "strings.",
     .attributes = {{.name = "shape",
                     .type = ir::AttributeType::kInts,
                     .doc = "The length of each axis; -1 leaves one as it is.",
                     .minimum = -1,
                     .length = ir::ListLength{0, 64}},
                    {.name = "value",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The padding after the input.",
                     .default_value = "0",
                     .keeps_whole = true},
                    {.name = "truncate",
                     .type = ir::AttributeType::kBool,
                     .doc = "Whether axes longer than wanted are cut off, rather than an error.",
                     .default_value = "False"}},
     .python_module = "transforms",
     .example = "T.PadEnd((128,), value=-1)",
     .sample = {.attributes = {{"shape", "(6,)"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferPadEnd,
     .is_kernel_identity = AddsNothing},
    Makes<PadEnd>()};

}  // namespace
}  // namespace headrace

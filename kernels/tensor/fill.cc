#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

class Fill : public UnaryKernel {
 public:
  explicit Fill(const ir::Attributes& attributes) : value_(attributes.Number("value")) {}

  bool applies_to_stacks() const override { return true; }
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    uint8_t element[sizeof(double)];
    HEADRACE_RETURN_IF_ERROR(StoreNumber("value", value_, input.dtype(), element));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(input.dtype(), input.shape()));
    RepeatElement(element, ItemSize(input.dtype()), input.elements(), output.mutable_raw());
    return output;
  }

 private:
  ir::Number value_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferFill(const ir::Attributes& attributes,
                                                      absl::Span<const ir::ColumnType> inputs) {
  const ir::ColumnType& type = inputs[0];
  if (!type.fields.empty()) return GraphError("needs numbers; got ", ir::TypeName(type));
  uint8_t element[sizeof(double)];
  if (type.dtype != DType::kUnknown) {
    HEADRACE_RETURN_IF_ERROR(StoreNumber("value", attributes.Number("value"), type.dtype, element));
  }
  return std::vector{type};
}

const KernelRegistration fill_registration{
    {.name = "Fill",
     .summary = "Replaces every element by one number.",
     .doc = "Takes numbers of any type and shape and gives the same type and shape, each element being `value`.\n"
            "Errors: a value that the type cannot hold (a whole-number type takes no fraction), bytes or strings.",
     .attributes = {{.name = "value", .type = ir::AttributeType::kFloat, .doc = "The number.", .keeps_whole = true}},
     .python_module = "transforms",
     .example = "T.Fill(0)",
     .sample = {.attributes = {{"value", "9"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferFill},
    Makes<Fill>()};

}  // namespace
}  // namespace headrace

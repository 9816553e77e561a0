#include "python/binding/module/late_kernel.h"

#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"

namespace headrace::python {
namespace {

class Add : public UnaryKernel {
 public:
  explicit Add(const ir::Attributes& attributes) : number_(attributes.Int("number")) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(Tensor sum, context.AllocateOutput(DType::kInt64, input.shape()));
    auto* const values = reinterpret_cast<int64_t*>(sum.mutable_raw());
    input.CopyTo(values);
    for (int64_t i = 0; i < sum.elements(); ++i) values[i] += number_;
    return sum;
  }

 private:
  const int64_t number_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes& /*attributes*/,
                                                  absl::Span<const ir::ColumnType> inputs) {
  if (inputs[0].dtype == DType::kInt64) return std::vector<ir::ColumnType>{inputs[0]};
  return GraphError("adds to int64, not to ", ir::TypeName(inputs[0]));
}

}  // namespace

absl::Status RegisterLateKernel(const std::string& name) {
  return RegisterKernel({.name = name,
                         .summary = "Adds a number to every value.",
                         .doc = "Takes int64 of any shape.",
                         .attributes = {{.name = "number", .doc = "What is added.", .minimum = 0},
                                        {.name = "mode",
                                         .type = ir::AttributeType::kString,
                                         .doc = "How to round; there is nothing to round.",
                                         .default_value = "'up'",
                                         .choices = {"up", "down"}}},
                         .python_module = "transforms",
                         .example = "ds.map(T." + name + "(3), \"value\")",
                         .sample = {.attributes = {{"number", "3"}}, .inputs = {ir::SampleInput::kVector}},
                         .infer_kernel = Infer},
                        Makes<Add>());
}

}  // namespace headrace::python

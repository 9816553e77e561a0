#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

// A type in which both are exact: x86's long double holds every whole number of 64 bits and every double.
template <typename T>
using ExactOf = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, long double, double>;

template <typename Exact, typename T>
Exact Exactly(T value) {
  if constexpr (kIsHalf<T>) {
    return static_cast<Exact>(static_cast<float>(value));
  } else {
    return static_cast<Exact>(value);
  }
}

template <typename T, typename Exact, typename Holds>
void MarkWhere(const T* values, int64_t count, Exact constant, Holds holds, bool* marks) {
  for (int64_t i = 0; i < count; ++i) marks[i] = holds(Exactly<Exact>(values[i]), constant);
}

template <typename T, typename Exact>
void Compare(const std::string& relation, const T* values, int64_t count, Exact constant, bool* marks) {
  if (relation == "==") return MarkWhere(values, count, constant, std::equal_to<Exact>(), marks);
  if (relation == "!=") return MarkWhere(values, count, constant, std::not_equal_to<Exact>(), marks);
  if (relation == "<") return MarkWhere(values, count, constant, std::less<Exact>(), marks);
  if (relation == "<=") return MarkWhere(values, count, constant, std::less_equal<Exact>(), marks);
  if (relation == ">") return MarkWhere(values, count, constant, std::greater<Exact>(), marks);
  MarkWhere(values, count, constant, std::greater_equal<Exact>(), marks);
}

class Mask : public UnaryKernel {
 public:
  explicit Mask(const ir::Attributes& attributes)
      : relation_(attributes.String("relation")),
        constant_(attributes.Number("constant")),
        dtype_(attributes.Type("dtype")) {}

  static absl::Status CheckType(const ir::Attributes& attributes) {
    const DType dtype = attributes.Type("dtype");
    return ItemSize(dtype) > 0 ? absl::OkStatus() : GraphError("dtype = ", DTypeName(dtype), " holds no numbers");
  }
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckType(attributes));
    return std::make_unique<Mask>(attributes);
  }

  bool applies_to_stacks() const override { return true; }
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (ItemSize(input.dtype()) == 0) return GraphError("needs numbers; got ", input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(dtype_, input.shape()));
    if (dtype_ == DType::kBool) {
      Fill(dense, output.mutable_data<bool>());
      return output;
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor marks, Tensor::Allocate(DType::kBool, input.shape()));
    Fill(dense, marks.mutable_data<bool>());
    Convert(marks, output);
    return output;
  }

 private:
  void Fill(const Tensor& dense, bool* marks) const {
    VisitNumber(dense.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      // Halves, floats and whole numbers of up to 32 bits are exact as doubles; a whole constant may not be.
      const bool whole = std::holds_alternative<int64_t>(constant_);
      const auto constant = std::visit([](auto given) { return static_cast<long double>(given); }, constant_);
      if (std::is_same_v<ExactOf<T>, long double> || whole) {
        Compare(relation_, dense.data<T>(), dense.elements(), constant, marks);
      } else {
        Compare(relation_, dense.data<T>(), dense.elements(), static_cast<double>(constant), marks);
      }
    });
  }

  static void Convert(const Tensor& marks, Tensor& output) {
    VisitNumber(output.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      T* const target = reinterpret_cast<T*>(output.mutable_raw());
      const bool* const marked = marks.data<bool>();
      for (int64_t i = 0; i < marks.elements(); ++i) target[i] = ConvertNumber<T>(marked[i]);
    });
  }

  const std::string relation_;
  const ir::Number constant_;
  const DType dtype_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferMask(const ir::Attributes& attributes,
                                                      absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(Mask::CheckType(attributes));
  ir::ColumnType type = inputs[0];
  if (IsVariableLength(type.dtype) || !type.fields.empty()) {
    return GraphError("needs numbers; got ", ir::TypeName(type));
  }
  type.dtype = attributes.Type("dtype");
  return std::vector{type};
}

const KernelRegistration mask_registration{
    {.name = "Mask",
     .summary = "Marks the elements for which a comparison with a number holds.",
     .doc = "Takes numbers of any type and shape and gives `dtype` of the same shape: 1, or True, where the element "
            "and `constant` compare so, 0 elsewhere. Numbers are compared exactly, whatever their types, and NaN only "
            "differs. MindSpore's Mask, whose Relational.EQ is \"==\". T.Mask(\"!=\", 0) marks tokens that are no "
            "padding.\n"
            "Errors: bytes or strings.",
     .attributes = {{.name = "relation",
                     .type = ir::AttributeType::kString,
                     .doc = "How the element, on the left, and the constant compare.",
                     .choices = {"==", "!=", "<", "<=", ">", ">="}},
                    {.name = "constant",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The number that elements are compared with.",
                     .keeps_whole = true},
                    {.name = "dtype",
                     .type = ir::AttributeType::kDType,
                     .doc = "The type of the result.",
                     .default_value = "'bool'"}},
     .python_module = "transforms",
     .example = "T.Mask(\"!=\", 0)",
     .sample = {.attributes = {{"relation", "'>'"}, {"constant", "1"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferMask},
    Mask::Make};

}  // namespace
}  // namespace headrace

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/numbers/number.h"

namespace headrace {
namespace {

template <typename T>
int64_t FirstOutside(const T* classes, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; ++i) {
    if (classes[i] < 0 || static_cast<uint64_t>(classes[i]) >= static_cast<uint64_t>(limit)) return i;
  }
  return -1;
}

absl::Status NotWhole(DType dtype, std::string_view got) {
  return GraphError("needs whole numbers", dtype == DType::kString ? ", which Lookup makes of texts" : "", "; got ",
                    got);
}

class OneHot : public UnaryKernel {
 public:
  OneHot(int64_t classes, DType dtype, double smoothing)
      : classes_(classes), dtype_(dtype), elsewhere_(smoothing / static_cast<double>(classes)), there_(1 - smoothing) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(CheckType(attributes));
    return std::make_unique<OneHot>(attributes.Int("num_classes"), attributes.Type("dtype"),
                                    attributes.Float("smoothing"));
  }
  static absl::Status CheckType(const ir::Attributes& attributes) {
    const DType dtype = attributes.Type("dtype");
    if (ItemSize(dtype) == 0) return GraphError("dtype = ", DTypeName(dtype), " holds no numbers");
    if (attributes.Float("smoothing") == 0 || !(IsInteger(dtype) || dtype == DType::kBool)) return absl::OkStatus();
    return GraphError("smoothing = ", attributes.Float("smoothing"),
                      " gives fractions, which dtype = ", DTypeName(dtype), " cannot hold; use a float type");
  }

  bool applies_to_stacks() const override { return true; }
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    if (!IsInteger(input.dtype())) return NotWhole(input.dtype(), input.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    Shape shape = input.shape();
    shape.push_back(classes_);
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(dtype_, shape));
    uint8_t element[sizeof(double)];
    HEADRACE_RETURN_IF_ERROR(StoreNumber("smoothing", elsewhere_, dtype_, element));
    RepeatElement(element, ItemSize(dtype_), output.elements(), output.mutable_raw());
    absl::Status status;
    VisitNumber(input.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) status = Mark(dense.data<T>(), dense, output);
    });
    HEADRACE_RETURN_IF_ERROR(status);
    return output;
  }

 private:
  template <typename T>
  absl::Status Mark(const T* classes, const Tensor& input, Tensor& output) const {
    const int64_t count = input.elements();
    const int64_t wrong = FirstOutside(classes, count, classes_);
    if (wrong >= 0) {
      return DataError("class ", static_cast<int64_t>(classes[wrong]), " is not one of 0 … ", classes_ - 1,
                       " (num_classes=", classes_, ")");
    }
    uint8_t one[sizeof(double)];
    HEADRACE_RETURN_IF_ERROR(StoreNumber("one", there_ + elsewhere_, dtype_, one));
    const size_t item = ItemSize(dtype_);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(output.mutable_raw() + (i * classes_ + static_cast<int64_t>(classes[i])) * item, one, item);
    }
    return absl::OkStatus();
  }

  int64_t classes_;
  DType dtype_;
  double elsewhere_;
  double there_;  // besides that, at the class
};

absl::StatusOr<std::vector<ir::ColumnType>> InferOneHot(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(OneHot::CheckType(attributes));
  ir::ColumnType type = inputs[0];
  const bool unknown = type.dtype == DType::kUnknown && type.fields.empty();
  if (!unknown && !IsInteger(type.dtype)) return NotWhole(type.dtype, ir::TypeName(type));
  type.dtype = attributes.Type("dtype");
  if (type.shape) type.shape->push_back(attributes.Int("num_classes"));
  return std::vector{type};
}

const KernelRegistration one_hot_registration{
    {.name = "OneHot",
     .summary = "Turns class numbers into vectors with a single one.",
     .doc =
         "Takes whole numbers of any shape S, each from 0 to num_classes - 1, and gives `dtype` of shape S + "
         "(num_classes,): 1 at "
         "the class, 0 elsewhere, as torch.nn.functional.one_hot. With `smoothing` s of K classes it is 1 - s + s / K "
         "at the class and s / K elsewhere, as torch's label_smoothing and MindSpore's smoothing_rate.\n"
         "Errors: a class outside that range, and a type that is not of whole numbers; smoothing of a `dtype` of "
         "whole numbers.",
     .attributes = {{.name = "num_classes",
                     .type = ir::AttributeType::kInt,
                     .doc = "The number of classes: the length of each vector.",
                     .minimum = 1,
                     .maximum = 1 << 30},
                    {.name = "dtype",
                     .type = ir::AttributeType::kDType,
                     .doc = "The type of the result.",
                     .default_value = "'float32'"},
                    {.name = "smoothing",
                     .type = ir::AttributeType::kFloat,
                     .doc = "The share of the label that is spread evenly over all classes.",
                     .default_value = "0.0",
                     .minimum = 0,
                     .maximum = 1}},
     .traits = {.keeps_classes = true},
     .python_module = "transforms",
     .example = "T.OneHot(10)",
     .sample = {.attributes = {{"num_classes", "5"}}, .inputs = {ir::SampleInput::kVector}},
     .infer_kernel = InferOneHot},
    OneHot::Make};

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "kernels/cpu_target.h"
#include "kernels/kernel.h"
#include "kernels/tensor/number.h"

namespace headrace {
namespace {

template <typename To, typename From>
constexpr auto kConvert = [](const From* __restrict source, int64_t count, To* __restrict target) HEADRACE_LOOP {
  for (int64_t i = 0; i < count; ++i) target[i] = ConvertNumber<To>(source[i]);
};

// The type that holds every value of T: conversions go through it, so that there are three loops a type and not one
// for each pair of types.
template <typename T>
using WideOf = std::conditional_t<kIsHalf<T> || std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

constexpr int64_t kBlock = 512;  // elements that stay in the first cache

template <typename Wide>
void StoreBlock(const Wide* wide, int64_t count, DType dtype, uint8_t* target) {
  VisitNumber(dtype, [&](auto to) {
    using To = typename decltype(to)::type;
    RunOnCpu(kConvert<To, Wide>, wide, count, reinterpret_cast<To*>(target));
  });
}

template <typename From>
void Convert(const From* source, int64_t count, DType dtype, uint8_t* target) {
  WideOf<From> wide[kBlock];
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t size = std::min(kBlock, count - done);
    RunOnCpu(kConvert<WideOf<From>, From>, source + done, size, wide);
    StoreBlock(wide, size, dtype, target + done * static_cast<int64_t>(ItemSize(dtype)));
  }
}

class TypeCast : public UnaryKernel {
 public:
  explicit TypeCast(const ir::Attributes& attributes) : dtype_(attributes.Type("dtype")) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    const DType dtype = attributes.Type("dtype");
    if (ItemSize(dtype) == 0) return GraphError("cannot cast to ", DTypeName(dtype), "; dtype must be one of numbers");
    return std::make_unique<TypeCast>(attributes);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, RowRandom&) const override {
    if (input.dtype() == dtype_) return input;
    if (ItemSize(input.dtype()) == 0) {
      return GraphError("cannot cast ", input.TypeName(), " to ", DTypeName(dtype_), "; it needs numbers");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, Tensor::Allocate(dtype_, input.shape()));
    if (input.dtype() == DType::kUInt8 && dtype_ == DType::kFloat32) {
      // Takes the one way that every picture goes at once.
      RunOnCpu(kConvert<float, uint8_t>, dense.raw(), dense.elements(), output.mutable_data<float>());
      return output;
    }
    VisitNumber(input.dtype(), [&](auto from) {
      using From = typename decltype(from)::type;
      Convert(dense.data<From>(), dense.elements(), dtype_, output.mutable_raw());
    });
    return output;
  }

 private:
  DType dtype_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes& attributes,
                                                  absl::Span<const ir::ColumnType> inputs) {
  ir::ColumnType type = inputs[0];
  const DType dtype = attributes.Type("dtype");
  const bool from_text = IsVariableLength(type.dtype) && type.dtype != dtype;
  if (ItemSize(dtype) == 0 || from_text || !type.fields.empty()) {
    return GraphError("cannot cast ", ir::TypeName(type), " to ", DTypeName(dtype), "; both must be numbers");
  }
  type.dtype = dtype;
  return std::vector{type};
}

const KernelRegistration registration{
    {.name = "TypeCast",
     .summary = "Converts numbers to another type.",
     .doc =
         "Takes numbers of any type and shape and gives `dtype` of the same shape, as numpy.ndarray.astype: integers "
         "wrap, reals lose their fraction, 16-bit reals round to the nearest even, anything but zero is True. Where C "
         "and NumPy leave it open, a real beyond an integer type becomes the nearest value of it and NaN becomes 0.\n"
         "Errors: bytes or strings on either side.",
     .attributes = {{.name = "dtype", .type = ir::AttributeType::kDType, .doc = "The type of the result."}},
     .traits = {.pointwise = true},
     .python_module = "transforms",
     .example = "T.TypeCast('float16')",
     .infer_kernel = Infer,
     .is_kernel_identity =
         [](const ir::Attributes& attributes, absl::Span<const ir::ColumnType> inputs) {
           return inputs[0].dtype == attributes.Type("dtype");
         }},
    TypeCast::Make};

}  // namespace
}  // namespace headrace

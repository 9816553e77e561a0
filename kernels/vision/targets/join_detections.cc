#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

constexpr const char* kJoinDetectionsNeeds =
    "needs boxes, float32 or float64 of shape (n, 4), and float32 of shape (n, k), k from 1; ";

class JoinDetections : public Kernel {
 public:
  explicit JoinDetections(const ir::Attributes&) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    if (inputs.size() < 2) return GraphError(kJoinDetectionsNeeds, "got ", inputs.size(), " columns");
    const Tensor& boxes = inputs[0];
    const Tensor& rest = inputs[1];
    const bool are_boxes = (boxes.dtype() == DType::kFloat32 || boxes.dtype() == DType::kFloat64) &&
                           boxes.rank() == 2 && boxes.dim(1) == 4;
    const bool belong = rest.dtype() == DType::kFloat32 && rest.rank() == 2 && rest.dim(1) > 0;
    if (!are_boxes || !belong || boxes.dim(0) != rest.dim(0)) {
      return GraphError(kJoinDetectionsNeeds, "got ", boxes.TypeName(), " and ", rest.TypeName());
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor given, boxes.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor others, rest.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor objects, context.AllocateOutput(DType::kFloat32, {boxes.dim(0), rest.dim(1) + 4}));
    if (given.dtype() == DType::kFloat32) {
      Join<float>(given, others, objects.mutable_data<float>());
    } else {
      Join<double>(given, others, objects.mutable_data<float>());
    }
    return Tensors{std::move(objects)};
  }

 private:
  template <typename T>
  static void Join(const Tensor& boxes, const Tensor& rest, float* object) {
    const T* box = boxes.data<T>();
    const float* other = rest.data<float>();
    for (int64_t i = 0; i < boxes.dim(0); ++i) {
      *object++ = *other++;
      for (int k = 0; k < 4; ++k) *object++ = static_cast<float>(*box++);
      for (int64_t k = 1; k < rest.dim(1); ++k) *object++ = *other++;
    }
  }
};

absl::StatusOr<std::vector<ir::ColumnType>> InferJoinDetections(const ir::Attributes&,
                                                                absl::Span<const ir::ColumnType> inputs) {
  for (const ir::ColumnType& type : inputs) {
    if (!type.fields.empty() || (type.shape && type.shape->size() != 2)) {
      return GraphError(kJoinDetectionsNeeds, "got ", ir::TypeName(type));
    }
  }
  const auto known = [](const ir::ColumnType& type, size_t axis) {
    return type.shape ? (*type.shape)[axis] : ir::kUnknownDim;
  };
  const int64_t others = known(inputs[1], 1);
  const int64_t count = known(inputs[0], 0) == ir::kUnknownDim ? known(inputs[1], 0) : known(inputs[0], 0);
  return std::vector{
      ir::ColumnType::Of(DType::kFloat32, {count, others == ir::kUnknownDim ? ir::kUnknownDim : others + 4})};
}

const KernelRegistration join_detections_registration{
    {.name = "JoinDetections",
     .summary = "Puts boxes and their classes together into objects, as MXNet's iterators give them.",
     .doc =
         "Takes two columns, boxes, float32 or float64 of shape (n, 4), and float32 of shape (n, k), and gives float32 "
         "of shape (n, k + 4): for each object the first number of its row, its box, and the further numbers. With "
         "the boxes and classes of SplitDetections, its objects again.\n"
         "Errors: other types, and another number of rows.",
     .min_inputs = 2,
     .max_inputs = 2,
     .python_module = "transforms",
     .example = "T.JoinDetections()",
     .infer_kernel = InferJoinDetections},
    Makes<JoinDetections>()};

}  // namespace
}  // namespace headrace

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

bool IsPlane(const Tensor& ids) { return ids.dtype() == DType::kInt32 && ids.rank() == 2; }
bool IsList(const Tensor& values) { return values.dtype() == DType::kInt64 && values.rank() == 1; }

absl::Status NotSegments(std::string_view type) {
  return GraphError(
      "needs the number of each pixel's segment, int32 (H, W), then the number and the category of each "
      "segment, int64 (n,); got ",
      type);
}

// Pixels of one segment stand side by side, so that the table is rarely asked.
class SegmentCategories {
 public:
  absl::Status Add(int64_t segment, int64_t category) {
    if (segment == 0) return DataError("a segment has the number 0, which stands for pixels without a segment");
    if (category < 0 || category > 0x7fffffff) return DataError("a segment has the category ", category);
    if (categories_.emplace(segment, static_cast<int32_t>(category)).second) return absl::OkStatus();
    return DataError("two segments have the number ", segment);
  }
  void AddVoid(int32_t category) { categories_.emplace(0, category); }

  // False: there is no such segment.
  bool Find(int32_t segment, int32_t& category) {
    if (segment != last_) {
      const auto found = categories_.find(segment);
      if (found == categories_.end()) return false;
      last_ = segment;
      of_last_ = found->second;
    }
    category = of_last_;
    return true;
  }

 private:
  std::unordered_map<int64_t, int32_t, SeededHash> categories_;
  int64_t last_ = int64_t{1} << 32;  // no pixel's
  int32_t of_last_ = 0;
};

class PanopticCategories : public Kernel {
 public:
  explicit PanopticCategories(const ir::Attributes& attributes) : void_(static_cast<int32_t>(attributes.Int("void"))) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    if (!IsPlane(inputs[0])) return NotSegments(inputs[0].TypeName());
    for (const Tensor& list : inputs.subspan(1)) {
      if (!IsList(list)) return NotSegments(list.TypeName());
    }
    HEADRACE_ASSIGN_OR_RETURN(SegmentCategories categories, CategoriesOf(inputs[1], inputs[2]));
    HEADRACE_ASSIGN_OR_RETURN(const Tensor ids, inputs[0].Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kInt32, ids.shape()));
    const auto* const from = ids.data<int32_t>();
    auto* const to = output.mutable_data<int32_t>();
    for (int64_t i = 0; i < ids.elements(); ++i) {
      if (!categories.Find(from[i], to[i])) {
        return DataError("the image has pixels of segment ", from[i], ", which its annotation does not list");
      }
    }
    return Tensors{std::move(output)};
  }

 private:
  absl::StatusOr<SegmentCategories> CategoriesOf(const Tensor& segments, const Tensor& categories) const {
    if (segments.dim(0) != categories.dim(0)) {
      return DataError("there are ", segments.dim(0), " numbers of segments and ", categories.dim(0), " categories");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Tensor numbers, segments.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, categories.Contiguous());
    SegmentCategories table;
    for (int64_t i = 0; i < numbers.dim(0); ++i) {
      HEADRACE_RETURN_IF_ERROR(table.Add(numbers.data<int64_t>()[i], dense.data<int64_t>()[i]));
    }
    table.AddVoid(void_);
    return table;
  }

  int32_t void_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferPanopticCategories(const ir::Attributes&,
                                                                    absl::Span<const ir::ColumnType> inputs) {
  const auto fits = [](const ir::ColumnType& type, DType dtype, size_t rank) {
    const bool numbers = type.fields.empty() && (type.dtype == dtype || type.dtype == DType::kUnknown);
    return numbers && (!type.shape || type.shape->size() == rank);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool ids = i == 0;
    if (!fits(inputs[i], ids ? DType::kInt32 : DType::kInt64, ids ? 2 : 1)) return NotSegments(ir::TypeName(inputs[i]));
  }
  Shape shape = {ir::kUnknownDim, ir::kUnknownDim};
  if (inputs[0].shape) shape = {(*inputs[0].shape)[0], (*inputs[0].shape)[1]};
  return std::vector{ir::ColumnType::Of(DType::kInt32, shape)};
}

const KernelRegistration panoptic_categories_registration{
    {.name = "PanopticCategories",
     .summary = "Gives the category of each pixel of a panoptic image.",
     .doc = "Takes three columns: what V.PanopticIds gives, int32 of shape (H, W), and `segment_id` and `category` of "
            "headrace.datasets.Coco, int64 of shape (n,). Gives int32 of shape (H, W): the category of each pixel's "
            "segment, and `void` where there is no segment.\n"
            "Errors: other types; of the row, a pixel whose segment is not listed, a segment that is listed twice, "
            "and a category below 0.",
     .min_inputs = 3,
     .max_inputs = 3,
     .attributes = {{.name = "void",
                     .doc = "The value of pixels without a segment, 0 or more.",
                     .default_value = "255",
                     .minimum = 0,
                     .maximum = 2147483647}},
     .traits = {.keeps_classes = true},
     .python_module = "vision",
     .example = "V.PanopticCategories()",
     .infer_kernel = InferPanopticCategories},
    Makes<PanopticCategories>()};

}  // namespace
}  // namespace headrace

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/targets/outline_input.h"
#include "kernels/vision/targets/outline_painter.h"

namespace headrace {
namespace {

absl::Status NotLabels(std::string_view type) {
  return GraphError("needs the category of each object, int64 of shape (n,), as its second column; got ", type);
}

DType MapType(const ir::Attributes& attributes) {
  return attributes.String("dtype") == "uint8" ? DType::kUInt8 : DType::kInt64;
}

class DrawLabelMap : public Kernel {
 public:
  explicit DrawLabelMap(const ir::Attributes& attributes)
      : background_(attributes.Int("background")),
        dtype_(MapType(attributes)),
        max_pixels_(attributes.Int("max_pixels")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, inputs[0].Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(OutlineReader outlines, OpenOutlines(dense));
    const Tensor& categories = inputs[1];
    if (categories.dtype() != DType::kInt64 || categories.rank() != 1) return NotLabels(categories.TypeName());
    HEADRACE_ASSIGN_OR_RETURN(const Tensor labels, categories.Contiguous());
    if (labels.elements() != outlines.objects()) {
      return DataError("there are ", outlines.objects(), " outlines and ", labels.elements(),
                       " categories; keep both as the data set gives them");
    }
    if (dtype_ == DType::kUInt8) return Draw<uint8_t>(outlines, labels, context);
    return Draw<int64_t>(outlines, labels, context);
  }

 private:
  template <typename Pixel>
  absl::StatusOr<Tensors> Draw(OutlineReader& outlines, const Tensor& labels, KernelContext& context) const {
    const int64_t pixels = outlines.height() * outlines.width();
    if (max_pixels_ >= 0 && pixels > max_pixels_) {
      return DataError("the image has ", outlines.height(), " × ", outlines.width(),
                       " pixels, more than max_pixels = ", max_pixels_, "; if that is meant, raise it");
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor map, context.AllocateOutput(dtype_, {outlines.height(), outlines.width()}));
    auto* const values = map.mutable_data<Pixel>();
    std::fill_n(values, pixels, static_cast<Pixel>(background_));
    HEADRACE_ASSIGN_OR_RETURN(OutlinePainter painter,
                              OutlinePainter::Make(outlines.height(), outlines.width(), max_pixels_));
    Outline outline;
    for (int64_t object = 0; object < outlines.objects(); ++object) {
      const int64_t label = labels.data<int64_t>()[object];
      if (label != static_cast<Pixel>(label)) {
        return DataError("dtype=\"uint8\" holds categories from 0 to 255; write dtype=\"int64\" for category ", label);
      }
      HEADRACE_RETURN_IF_ERROR(outlines.ReadOutline(outline));
      HEADRACE_RETURN_IF_ERROR(painter.Paint(outline, static_cast<Pixel>(label), values));
    }
    HEADRACE_RETURN_IF_ERROR(outlines.CheckEnd());
    return Tensors{std::move(map)};
  }

  int64_t background_;
  DType dtype_;
  int64_t max_pixels_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferDrawLabelMap(const ir::Attributes& attributes,
                                                              absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckOutlinesType(inputs[0]));
  const ir::ColumnType& labels = inputs[1];
  const bool whole = labels.dtype == DType::kInt64 || labels.dtype == DType::kUnknown;
  if (!labels.fields.empty() || !whole || (labels.shape && labels.shape->size() != 1)) {
    return NotLabels(ir::TypeName(labels));
  }
  return std::vector{ir::ColumnType::Of(MapType(attributes), {ir::kUnknownDim, ir::kUnknownDim})};
}

const KernelRegistration draw_label_map_registration{
    {.name = "DrawLabelMap",
     .summary = "Draws the outlines of an image's objects as one map of their categories.",
     .doc = "Takes the columns `outlines` and `category` of headrace.datasets.Coco, uint8 of shape (k,) and int64 of "
            "shape (n,), and gives numbers of shape (H, W): of each pixel the category of the last object on it, or "
            "`background`. The pixels are those of V.DrawMasks.\n"
            "Errors: other types; of the row, bytes that are not outlines, another number of categories than of "
            "outlines, a category that the dtype does not hold, and more pixels than max_pixels.",
     .min_inputs = 2,
     .max_inputs = 2,
     .attributes = {{.name = "background",
                     .doc = "The value of pixels without an object, 0 to 255.",
                     .default_value = "255",
                     .minimum = 0,
                     .maximum = 255},
                    {.name = "dtype",
                     .type = ir::AttributeType::kString,
                     .doc = "The type of the map.",
                     .default_value = "'uint8'",
                     .choices = {"uint8", "int64"}},
                    MaxPixelsOfOutlines()},
     .traits = {.keeps_classes = true},
     .python_module = "vision",
     .example = "V.DrawLabelMap()",
     .infer_kernel = InferDrawLabelMap},
    Makes<DrawLabelMap>()};

}  // namespace
}  // namespace headrace

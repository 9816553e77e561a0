#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

// The patches of one axis.
struct Cuts {
  int64_t count;
  bool pads;

  // Pixels of each patch of an axis of so many pixels.
  int64_t Length(int64_t size) const { return pads ? (size + count - 1) / count : size / count; }
};

struct Grid {
  explicit Grid(const ir::Attributes& attributes) {
    const bool pads = attributes.String("slice_mode") == "pad";
    down = {attributes.Int("num_height"), pads};
    across = {attributes.Int("num_width"), pads};
  }
  size_t patches() const { return static_cast<size_t>(down.count * across.count); }
  // kUnknownDim where a side is not known. kGraph if a patch would have no pixel of the image's on its side.
  absl::Status Check(int64_t height, int64_t width) const {
    HEADRACE_RETURN_IF_ERROR(Check("num_height", down, "height", height));
    return Check("num_width", across, "width", width);
  }

  Cuts down;
  Cuts across;

 private:
  static absl::Status Check(std::string_view attribute, const Cuts& cuts, std::string_view side, int64_t size) {
    if (size == ir::kUnknownDim || cuts.count <= size) return absl::OkStatus();
    return GraphError(attribute, " is ", cuts.count, ", but the image's ", side, " is ", size,
                      "; there can be no more patches than pixels");
  }
};

class SlicePatches : public Kernel {
 public:
  explicit SlicePatches(const ir::Attributes& attributes) : grid_(attributes), fill_(attributes.Numbers("fill")) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    Tensors patches;
    for (const Tensor& input : inputs) HEADRACE_RETURN_IF_ERROR(Slice(input, context.output(), patches));
    return patches;
  }

 private:
  absl::Status Slice(const Tensor& input, OutputAllocator& output, Tensors& patches) const {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kFixedSize));
    HEADRACE_RETURN_IF_ERROR(grid_.Check(image.height, image.width));
    // Whether or not this size needs it.
    HEADRACE_RETURN_IF_ERROR(PixelOf("fill", fill_, image).status());
    const int64_t height = grid_.down.Length(image.height);
    const int64_t width = grid_.across.Length(image.width);
    for (int64_t i = 0; i < grid_.down.count; ++i) {
      for (int64_t j = 0; j < grid_.across.count; ++j) {
        HEADRACE_ASSIGN_OR_RETURN(Tensor patch, Patch(image, {i * height, j * width, height, width}, output));
        patches.push_back(std::move(patch));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Patch(const Image& image, const Window& window, OutputAllocator& output) const {
    const bool inside = window.top + window.height <= image.height && window.left + window.width <= image.width;
    if (!inside) return Windowed(image, window, Border::kConstant, fill_, output);
    return TensorOf(Cropped(image, window.top, window.left, window.height, window.width), output);
  }

  Grid grid_;
  std::vector<ir::Number> fill_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferSlicePatches(const ir::Attributes& attributes,
                                                              absl::Span<const ir::ColumnType> inputs) {
  const Grid grid(attributes);
  const auto length = [](const Cuts& cuts, int64_t size) { return size == ir::kUnknownDim ? size : cuts.Length(size); };
  std::vector<ir::ColumnType> patches;
  for (const ir::ColumnType& input : inputs) {
    HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(input, PixelTypes::kFixedSize));
    if (type.shape) {
      const int64_t height = (*type.shape)[0];
      const int64_t width = (*type.shape)[1];
      HEADRACE_RETURN_IF_ERROR(grid.Check(height, width));
      type = WithSize(std::move(type), length(grid.down, height), length(grid.across, width));
    }
    patches.insert(patches.end(), grid.patches(), type);
  }
  return patches;
}

ir::Attribute CountAttribute(std::string name, std::string_view of) {
  return {.name = std::move(name),
          .doc = Cat("How many patches there are ", of, ", 1 to 100."),
          .default_value = "1",
          .minimum = 1,
          .maximum = 100};
}

ir::Attribute Fill() {
  ir::Attribute attribute = FillAttribute();
  attribute.doc = "What pixels beyond the image hold: one number, or one per channel, in the units of the input.";
  return attribute;
}

const KernelRegistration slice_patches_registration{
    {.name = "SlicePatches",
     .summary = "Cuts an image into a grid of patches of equal size, a column each.",
     .doc =
         "Takes numbers of any type, of shape (H, W, C) or (H, W), and gives num_height * num_width columns of that "
         "type: the patches from left to right, then from top to bottom. Where a side cannot be divided, "
         "slice_mode='pad' makes patches of the length rounded up and fills what is beyond the image, right and "
         "below, with `fill`; 'drop' rounds down and leaves the last pixels out. Of several columns, such as an image "
         "and its mask, first come all patches of the first. MindSpore's SlicePatches.\n"
         "Errors: more patches along a side than it has pixels, another rank, an image without pixels, bytes or "
         "strings, and a fill that does not fit.",
     .max_inputs = -1,
     .attributes = {CountAttribute("num_height", "from top to bottom"),
                    CountAttribute("num_width", "from left to right"),
                    {.name = "slice_mode",
                     .type = ir::AttributeType::kString,
                     .doc = "What happens where a side cannot be divided.",
                     .default_value = "'pad'",
                     .choices = {"pad", "drop"}},
                    Fill()},
     .python_module = "vision",
     .example = "V.SlicePatches(2, 2)",
     .sample = {.attributes = {{"num_height", "2"}, {"num_width", "2"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferSlicePatches,
     .takes_layout = [](const ir::Attributes&, bool channels_first) { return !channels_first; },
     .clips = ir::Clips::kByFrame},
    Makes<SlicePatches>()};

}  // namespace
}  // namespace headrace

#include "kernels/vision/geometry/resize.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/geometric_kernel.h"
#include "kernels/vision/geometry/image_moves.h"
#include "kernels/vision/geometry/moving_registration.h"
#include "kernels/vision/geometry/resize_taps.h"
#include "kernels/vision/geometry/size_rule.h"
#include "kernels/vision/image/size_attribute.h"
#include "kernels/vision/pixels/resample.h"
#include "opencv2/imgproc.hpp"
#include "opencv2/imgproc/hal/hal.hpp"

namespace headrace {
namespace {

constexpr int64_t kMaxOpenCvChannels = 4;

int OpenCvInterpolation(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kNearest:
      return cv::INTER_NEAREST;
    case Interpolation::kBilinear:
      return cv::INTER_LINEAR;
    case Interpolation::kBicubic:
      return cv::INTER_CUBIC;
    case Interpolation::kArea:
      return cv::INTER_AREA;
    case Interpolation::kLanczos:
      return cv::INTER_LANCZOS4;
  }
  return cv::INTER_LINEAR;
}

int OpenCvDepth(DType dtype) {
  if (dtype == DType::kFloat32) return CV_32F;
  return dtype == DType::kUInt16 ? CV_16U : CV_8U;
}

absl::StatusOr<Tensor> ResizedByOpenCv(const Image& image, int64_t height, int64_t width, int interpolation,
                                       OutputAllocator& output) {
  if (image.channels > kMaxOpenCvChannels) {
    return GraphError("antialias=False resizes images of at most ", kMaxOpenCvChannels, " channels; got ",
                      image.tensor.TypeName());
  }
  if (image.height > kMostSide || image.width > kMostSide) {
    return GraphError("antialias=False resizes images of at most ", kMostSide, " pixels a side; got ",
                      image.tensor.TypeName());
  }
  HEADRACE_ASSIGN_OR_RETURN(Tensor resized, AllocateLike(image, height, width, output));
  const int64_t row = width * image.pixel_bytes();
  if (image.height == height && image.width == width) {
    for (int64_t y = 0; y < height; ++y) std::memcpy(resized.mutable_raw() + y * row, image.row(y), row);
    return resized;
  }
  const int type = CV_MAKETYPE(OpenCvDepth(image.dtype()), static_cast<int>(image.channels));
  const auto scale = [](int64_t to, int64_t from) { return static_cast<double>(to) / static_cast<double>(from); };
  try {
    // What cv::resize calls. That one is linked with OpenCV's OpenCL and its caches of programs, 0.7 MB.
    cv::hal::resize(type, image.pixels, static_cast<size_t>(image.row_stride), static_cast<int>(image.width),
                    static_cast<int>(image.height), resized.mutable_raw(), static_cast<size_t>(row),
                    static_cast<int>(width), static_cast<int>(height), scale(width, image.width),
                    scale(height, image.height), interpolation);
  } catch (const std::exception& error) {
    return InternalError("cv::resize of ", image.tensor.TypeName(), " failed: ", error.what());
  }
  return resized;
}

}  // namespace

Resizing Resizing::Of(const ir::Attributes& attributes) {
  Resizing resizing;
  resizing.antialias = attributes.Bool("antialias");
  const std::string& name = attributes.String("interpolation");
  if (name == "nearest") resizing.interpolation = Interpolation::kNearest;
  if (name == "bicubic") resizing.interpolation = Interpolation::kBicubic;
  if (name == "area") resizing.interpolation = Interpolation::kArea;
  if (name == "lanczos") resizing.interpolation = Interpolation::kLanczos;
  return resizing;
}

Filter FilterOf(Interpolation interpolation) {
  if (interpolation == Interpolation::kArea) return Filter::kBox;
  if (interpolation == Interpolation::kLanczos) return Filter::kLanczos;
  return interpolation == Interpolation::kBicubic ? Filter::kBicubic : Filter::kBilinear;
}

Interpolation BestInterpolation(ImageSize from, ImageSize to) {
  if (to.height > from.height && to.width > from.width) return Interpolation::kBicubic;
  if (to.height < from.height && to.width < from.width) return Interpolation::kArea;
  return Interpolation::kBilinear;
}

Window NeededToResize(int64_t source_height, int64_t source_width, int64_t height, int64_t width, const Window& part,
                      Resizing resizing) {
  if (!resizing.CanGivePart()) return {0, 0, source_height, source_width};
  const Filter filter = FilterOf(resizing.interpolation);
  const AxisRange rows = NeededAlongAxis(filter, source_height, height, {part.top, part.height});
  const AxisRange columns = NeededAlongAxis(filter, source_width, width, {part.left, part.width});
  return {rows.begin, columns.begin, rows.size, columns.size};
}

absl::StatusOr<Tensor> Resized(const SourcePart& source, int64_t height, int64_t width, const Window& part,
                               Resizing resizing, OutputAllocator& output) {
  if (resizing.CanGivePart()) return Resample(source, FilterOf(resizing.interpolation), height, width, part, output);
  if (resizing.antialias) return ResampleNearest(source.image, height, width, output);
  return ResizedByOpenCv(source.image, height, width, OpenCvInterpolation(resizing.interpolation), output);
}

ir::Attribute InterpolationAttribute() {
  return {.name = "interpolation",
          .type = ir::AttributeType::kString,
          .doc =
              "How new pixels are computed from old ones; area is the mean over the pixel's area; lanczos is a "
              "windowed sinc, of 3 pixels on either side with antialias, of 4 without, which may ring at edges.",
          .default_value = "'bilinear'",
          .choices = {"nearest", "bilinear", "bicubic", "area", "lanczos"}};
}

ir::Attribute InterpolationOrAuto(std::string_view meaning) {
  ir::Attribute attribute = InterpolationAttribute();
  Append(attribute.doc, " auto: ", meaning, ".");
  attribute.choices.push_back("auto");
  return attribute;
}

ir::Attribute AntialiasAttribute() {
  return {.name = "antialias",
          .type = ir::AttributeType::kBool,
          .doc =
              "True: Pillow's filters, bit for bit, which widen as the image shrinks; False: OpenCV's cv::resize, "
              "faster.",
          .default_value = "True"};
}

namespace {

// The sizes of the attributes: a single number is the shorter side, none leaves the longer one, and the aspect ratio is
// kept.
class TargetSizes {
 public:
  explicit TargetSizes(const ir::Attributes& attributes) {
    if (!attributes.IsNone("size")) size_ = attributes.Ints("size");
    if (!attributes.IsNone("max_size")) longest_ = attributes.Int("max_size");
  }

  static absl::Status Check(const ir::Attributes& attributes) {
    const bool sized = !attributes.IsNone("size");
    const bool limited = !attributes.IsNone("max_size");
    if (!sized && !limited) return GraphError("size and max_size are None; give one of them");
    if (!sized || !limited) return absl::OkStatus();
    const std::vector<int64_t> size = attributes.Ints("size");
    if (size.size() == 2)
      return GraphError("max_size is of use with one size alone, the shorter side's; two are given");
    if (attributes.Int("max_size") > size[0]) return absl::OkStatus();
    return GraphError("max_size must be greater than the shorter side's size; they are ", attributes.Int("max_size"),
                      " and ", size[0]);
  }

  bool fixed() const { return size_.size() == 2; }

  ImageSize Of(ImageSize image) const {
    if (fixed()) return {size_[0], size_[1]};
    const auto [height, width] = image;
    const auto [shorter, longer] = SidesOf(std::min(height, width), std::max(height, width));
    return height <= width ? ImageSize{shorter, longer} : ImageSize{longer, shorter};
  }

 private:
  struct Sides {
    int64_t shorter;
    int64_t longer;
  };
  // Truncates fractions as torchvision does.
  Sides SidesOf(int64_t shorter, int64_t longer) const {
    if (size_.empty()) return {std::max<int64_t>(longest_ * shorter / longer, 1), longest_};
    const Sides sides = {size_[0], std::max<int64_t>(size_[0] * longer / shorter, 1)};
    if (sides.longer <= longest_) return sides;
    return {std::max<int64_t>(longest_ * sides.shorter / sides.longer, 1), longest_};
  }

  std::vector<int64_t> size_;
  int64_t longest_ = std::numeric_limits<int64_t>::max();
};

class Resize : public GeometricKernel {
 public:
  explicit Resize(const ir::Attributes& attributes)
      : sizes_(attributes),
        resizing_(Resizing::Of(attributes)),
        chooses_(attributes.String("interpolation") == "auto") {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_RETURN_IF_ERROR(TargetSizes::Check(attributes));
    return std::make_unique<Resize>(attributes);
  }

  PixelTypes accepted() const override { return resizing_.accepted(); }
  absl::Status Plan(RowRandom&, MovePlan& plan) const override {
    const ImageSize image = {plan.height(), plan.width()};
    const ImageSize target = sizes_.Of(image);
    Resizing resizing = resizing_;
    if (chooses_) resizing.interpolation = BestInterpolation(image, target);
    plan.Resize(target.height, target.width, resizing);
    return absl::OkStatus();
  }

 private:
  TargetSizes sizes_;
  Resizing resizing_;
  bool chooses_;  // the interpolation, for each image
};

absl::StatusOr<std::vector<ir::ColumnType>> InferResize(const ir::Attributes& attributes,
                                                        absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(TargetSizes::Check(attributes));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], Resizing::Of(attributes).accepted()));
  const TargetSizes sizes(attributes);
  const std::optional<ImageSize> image = KnownSize(type);
  ImageSize target = {ir::kUnknownDim, ir::kUnknownDim};
  if (sizes.fixed() || image) target = sizes.Of(image.value_or(ImageSize{1, 1}));
  return std::vector{WithSize(type, target.height, target.width)};
}

ImageSize ResizedBy(const ir::Attributes& attributes, ImageSize image) { return TargetSizes(attributes).Of(image); }

const MovingRegistration resize_registration{
    {.name = "Resize",
     .summary = "Resizes an image to a height and width, or its shorter side to a length.",
     .doc =
         "Takes uint8, uint16 or float32, and numbers of any type where the nearest pixel is "
         "taken with antialias=True, of shape (H, W, C) or (H, W) and gives the same "
         "dtype with another height and width; values stay in the units of the input (whole numbers are rounded and "
         "clamped to the dtype's range).\n"
         "With antialias=True the result equals Image.resize of Pillow 13 bit for bit (NEAREST, BILINEAR, BICUBIC, BOX "
         "for area, and LANCZOS; float32 as mode F and uint16 as mode I;16, channel by channel, but clamped, and "
         "NEAREST "
         "as of bytes). With "
         "antialias=False it is OpenCV's "
         "cv::resize (INTER_NEAREST, INTER_LINEAR, INTER_CUBIC, INTER_AREA, INTER_LANCZOS4), for up to 4 channels.\n"
         "Errors: another dtype or rank, and an image without pixels.",
     .attributes = {{.name = "size",
                     .type = ir::AttributeType::kInts,
                     .doc = "(height, width), or one number: the shorter side, the longer side following in proportion "
                            "(truncated, as torchvision does); None: `max_size` is the longer side.",
                     .in_words = "a whole number or (height, width)",
                     .nullable = true,
                     .minimum = 1,
                     .maximum = kMostSide,
                     .lengths = {1, 2}},
                    InterpolationOrAuto("area if both sides shrink, bicubic if both grow, else bilinear"),
                    AntialiasAttribute(),
                    {.name = "max_size",
                     .doc =
                         "With one size: the most that the longer side may be, where the shorter one becomes shorter "
                         "than asked for; without: what the longer side becomes; None: anything.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 1,
                     .maximum = kMostSide}},
     .traits = {.geometric = true},
     .python_module = "vision",
     .example = "V.Resize((256, 256))",
     .sample = {.attributes = {{"size", "10"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferResize,
     .is_kernel_identity = KeepsSizeBy(ResizedBy),
     .companions = {{ir::CompanionRole::kDraws, "ResizeTaps"}},
     .on_device = ResizesByTaps()},
    Resize::Make};
const TapsRegistration resize_taps_registration{"Resize"};

}  // namespace
}  // namespace headrace

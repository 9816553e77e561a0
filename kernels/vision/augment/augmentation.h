// `Augment` applies what AutoAugment, RandAugment, TrivialAugmentWide and AugMix choose from: operations on an image,
// each with a magnitude. Definitions and magnitudes are torchvision's or timm's, pixels of uint8 Pillow's.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_AUGMENT_AUGMENTATION_H_
#define HEADRACE_KERNELS_VISION_AUGMENT_AUGMENTATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/output_allocator.h"
#include "core/philox.h"
#include "ir/attributes.h"
#include "ir/declaration.h"
#include "kernels/kernel.h"
#include "kernels/vision/geometry/warp.h"
#include "kernels/vision/image/image.h"

namespace headrace {

enum class Augmentation {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert,
  kSolarizeAdd,
};
// All but the last: AutoAugment and timm use Invert, timm SolarizeAdd.
inline constexpr uint64_t kUsualAugmentations = 14;

// An operation with its magnitude: shear as the tangent of its angle, translation in pixels, rotation in degrees
// counter-clockwise, factors less 1, bits, threshold of 0 … 255, what is added to values of 0 … 127.
struct Augmented {
  Augmentation what = Augmentation::kIdentity;
  double magnitude = 0;
  std::optional<WarpFilter> filter = {};  // else that of WarpOptions
  bool by_tangent = false;                // shears by it as it is, not by way of its angle, as torchvision does

  friend bool operator==(const Augmented&, const Augmented&) = default;
};
using AugmentedList = absl::InlinedVector<Augmented, 4>;

// The greatest magnitudes of a policy, in `bins` equal steps from zero.
struct MagnitudeSpace {
  int64_t bins;
  double shear;
  double translate_x;  // pixels
  double translate_y;
  double degrees;
  double factor;  // less 1
  double bits;    // lost
  double most_bits = 8;

  // AutoAugment's and RandAugment's, for an image of this size.
  static MagnitudeSpace Usual(int64_t bins, int64_t height, int64_t width);
  // TrivialAugment's wide one.
  static MagnitudeSpace Wide(int64_t bins);
  // AugMix's ten, for an image of this size.
  static MagnitudeSpace Mixed(int64_t height, int64_t width);

  // `negative`: for operations with a signed magnitude.
  Augmented Of(Augmentation what, int64_t bin, bool negative) const;
};

// The image after all of them. Values by tables and colours that follow each other are one pass over the pixels. May
// return the image. uint8, or float32 of 0 … 1, of 1 or 3 channels; the fill is in the same range.
absl::StatusOr<Tensor> Augment(const Tensor& image, absl::Span<const Augmented> list, const WarpOptions& options,
                               OutputAllocator& output);

// A kernel that changes an image by such operations.
class AugmentingKernel : public UnaryKernel {
 public:
  explicit AugmentingKernel(const ir::Attributes& attributes);
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const final;

 protected:
  // The image is as Augment takes it, and the fill suits it.
  virtual absl::StatusOr<Tensor> Change(const Tensor& image, const WarpOptions& options, RowRandom& random,
                                        OutputAllocator& output) const = 0;

 private:
  WarpFilter filter_;
  std::vector<ir::Number> fill_;
};

// One that draws a list for each image.
class AugmentationKernel : public AugmentingKernel {
 public:
  using AugmentingKernel::AugmentingKernel;
  virtual AugmentedList Draw(int64_t height, int64_t width, RowRandom& random) const = 0;

 protected:
  absl::StatusOr<Tensor> Change(const Tensor& image, const WarpOptions& options, RowRandom& random,
                                OutputAllocator& output) const final;
};

// A declaration whose attributes are `own`, then interpolation and fill.
ir::Declaration AugmentationDeclaration(std::string name, std::string summary, std::string says,
                                        std::vector<ir::Attribute> own, std::string_view filter = "nearest");
ir::Attribute MagnitudeBinsAttribute();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_AUGMENT_AUGMENTATION_H_

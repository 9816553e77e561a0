#include <optional>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/encodable_image.h"
#include "kernels/vision/codecs/growing_bytes.h"
#include "kernels/vision/codecs/png/png_encoder.h"

namespace headrace {
namespace {

constexpr int64_t kCounts[] = {1, 3, 4};
constexpr EncodableChannels kChannels = {kCounts, "1, 3 or 4", true};

class EncodePngKernel : public UnaryKernel {
 public:
  explicit EncodePngKernel(const ir::Attributes& attributes) {
    if (!attributes.IsNone("compression")) compression_ = static_cast<int>(attributes.Int("compression"));
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext&) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, EncodableImage(input, kChannels));
    GrowingBytes encoded;
    HEADRACE_RETURN_IF_ERROR(EncodePng(image, compression_, encoded));
    return Tensor::CopyBytes(DType::kBytes, encoded.written());
  }

 private:
  std::optional<int> compression_;
};

const KernelRegistration encode_png_registration{
    {.name = "EncodePng",
     .summary = "Encodes an image as a PNG.",
     .doc = "Takes uint8, 0 … 255, or uint16, 0 … 65535, of shape (H, W, 3), in the order red, green, blue, (H, W, 4) "
            "with alpha last, or (H, W, 1) or (H, W), and gives bytes of shape (): a PNG of 8 or 16 bits, not "
            "interlaced, from which V.Decode gives the same pixels, of 16 bits with mode='anydepth'.\n"
            "It is libpng with the settings of OpenCV's imencode, whose bytes it gives where both have the same libpng "
            "and zlib.\n"
            "Errors: another dtype, rank or number of channels, an image without pixels, and sides of more than "
            "1,000,000 pixels.",
     .attributes = {{.name = "compression",
                     .type = ir::AttributeType::kInt,
                     .doc = "zlib's level: 0, none, to 9, the smallest file; None: the fast settings, which look for "
                            "runs of equal differences only.",
                     .default_value = "None",
                     .nullable = true,
                     .minimum = 0,
                     .maximum = 9}},
     .traits = {.leaves_places = true},
     .python_module = "vision",
     .example = "V.EncodePng(compression=6)",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = [](const ir::Attributes&,
                        absl::Span<const ir::ColumnType> inputs) { return InferEncoded(inputs[0], kChannels); }},
    Makes<EncodePngKernel>()};

}  // namespace
}  // namespace headrace

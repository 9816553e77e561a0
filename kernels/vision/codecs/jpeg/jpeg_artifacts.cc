#include <string>
#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/encodable_image.h"
#include "kernels/vision/codecs/growing_bytes.h"
#include "kernels/vision/codecs/jpeg/jpeg.h"
#include "kernels/vision/codecs/jpeg/jpeg_encoder.h"

namespace headrace {
namespace {

// Qualities from the least to the greatest.
struct Qualities {
  static absl::StatusOr<Qualities> Of(const ir::Attributes& attributes) {
    const std::vector<int64_t>& given = attributes.Ints("quality");
    if (given.front() <= given.back()) return Qualities{given.front(), given.back()};
    return GraphError("quality begins at ", given.front(), " and ends at ", given.back(),
                      "; write the least one first");
  }

  int64_t least = 0;
  int64_t greatest = 0;
};

class JpegArtifacts : public UnaryKernel {
 public:
  explicit JpegArtifacts(Qualities qualities) : qualities_(qualities) {}

  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const ir::Attributes& attributes) {
    HEADRACE_ASSIGN_OR_RETURN(const Qualities qualities, Qualities::Of(attributes));
    return std::make_unique<JpegArtifacts>(qualities);
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, EncodableImage(input, kJpegChannels));
    GrowingBytes encoded;
    HEADRACE_RETURN_IF_ERROR(EncodeJpeg(image, Draw(context.random()), encoded));
    const auto all = [&context](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
      return WantedPart({0, 0, height, width}, &context.output());
    };
    DecodeOptions options;
    options.mode = image.channels == 1 ? PixelMode::kGrey : PixelMode::kRgb;
    std::string damage;
    HEADRACE_ASSIGN_OR_RETURN(const DecodedPart decoded, DecodeJpeg(encoded.written(), options, all, damage));
    return decoded.image.tensor.Reshape(input.shape());
  }

 private:
  int Draw(RowRandom& random) const {
    const auto count = static_cast<uint64_t>(qualities_.greatest - qualities_.least + 1);
    return static_cast<int>(qualities_.least + static_cast<int64_t>(random.Below(count)));
  }

  Qualities qualities_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes& attributes,
                                                  absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(Qualities::Of(attributes).status());
  HEADRACE_RETURN_IF_ERROR(InferEncoded(inputs[0], kJpegChannels).status());
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteWordOrFloat));
  type.dtype = DType::kUInt8;
  return std::vector{std::move(type)};
}

const KernelRegistration jpeg_artifacts_registration{
    {.name = "JPEG",
     .summary = "Makes an image look as if it had been a JPEG of low quality.",
     .doc = "Takes uint8 of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), 0 … 255, and gives "
            "the same type and shape: the image is encoded as EncodeJpeg does, with the chroma halved along both "
            "axes, and decoded. The quality is drawn uniformly among the whole numbers of `quality`. torchvision's "
            "JPEG, with the pixels of Pillow's save and open.\n"
            "Errors: another dtype, rank or number of channels, an image without pixels, and sides of more than 65,500 "
            "pixels.",
     .attributes = {{.name = "quality",
                     .type = ir::AttributeType::kInts,
                     .doc = "The least and the greatest quality, or one number: 1, the most artifacts, to 100.",
                     .minimum = 1,
                     .maximum = 100,
                     .lengths = {1, 2}}},
     .traits = {.random = true, .leaves_places = true},
     .python_module = "vision",
     .example = "V.JPEG((20, 80))",
     .sample = {.attributes = {{"quality", "(20, 80)"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = Infer,
     .clips = ir::Clips::kByFrame},
    JpegArtifacts::Make};

}  // namespace
}  // namespace headrace

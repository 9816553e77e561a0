#include <vector>

#include "core/error.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/encodable_image.h"
#include "kernels/vision/codecs/growing_bytes.h"
#include "kernels/vision/codecs/jpeg/jpeg_encoder.h"

namespace headrace {
namespace {

class EncodeJpegKernel : public UnaryKernel {
 public:
  explicit EncodeJpegKernel(const ir::Attributes& attributes) : quality_(static_cast<int>(attributes.Int("quality"))) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext&) const override {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, EncodableImage(input, kJpegChannels));
    GrowingBytes encoded;
    HEADRACE_RETURN_IF_ERROR(EncodeJpeg(image, quality_, encoded));
    return Tensor::CopyBytes(DType::kBytes, encoded.written());
  }

 private:
  int quality_;
};

const KernelRegistration encode_jpeg_registration{
    {.name = "EncodeJpeg",
     .summary = "Encodes an image as a JPEG.",
     .doc = "Takes uint8 of shape (H, W, 3), in the order red, green, blue, or (H, W, 1) or (H, W), 0 … 255, and gives "
            "bytes of shape (): a baseline JPEG, grey or YCbCr with the chroma halved along both axes (4:2:0).\n"
            "It is libjpeg-turbo with the settings of OpenCV's imencode, so that the bytes are those of "
            "cv2.imencode('.jpg', …) of OpenCV 4 for the same pixels, where that was built with libjpeg-turbo.\n"
            "Errors: another dtype, rank or number of channels, an image without pixels, and sides of more than 65,500 "
            "pixels.",
     .attributes = {{.name = "quality",
                     .type = ir::AttributeType::kInt,
                     .doc = "libjpeg's quality: 1, the smallest file, to 100, the best image.",
                     .default_value = "95",
                     .minimum = 1,
                     .maximum = 100}},
     .traits = {.leaves_places = true},
     .python_module = "vision",
     .example = "V.EncodeJpeg(quality=90)",
     .sample = {.inputs = {ir::SampleInput::kImage}},
     .infer_kernel = [](const ir::Attributes&,
                        absl::Span<const ir::ColumnType> inputs) { return InferEncoded(inputs[0], kJpegChannels); }},
    Makes<EncodeJpegKernel>()};

}  // namespace
}  // namespace headrace

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/row_warning.h"
#include "core/stop_signal.h"
#include "ir/graph.pb.h"
#include "kernels/kernel.h"
#include "kernels/vision/codecs/decode/foreign_format.h"
#include "kernels/vision/codecs/decode/size_of_image.h"
#include "kernels/vision/codecs/jpeg/jpeg.h"
#include "kernels/vision/codecs/jpeg/jpeg_device.h"
#include "kernels/vision/codecs/jpeg/lossless_jpeg.h"
#include "kernels/vision/codecs/png/png.h"
#include "kernels/vision/codecs/whole/bmp.h"
#include "kernels/vision/codecs/whole/gif.h"
#include "kernels/vision/codecs/whole/pnm.h"
#include "kernels/vision/codecs/whole/tiff.h"
#include "kernels/vision/codecs/whole/webp.h"

namespace headrace {
namespace {

constexpr size_t kShownBytes = 8;

constexpr EncodedFormat kJpeg = {"JPEG", ".jpg"};

// Formats that are decoded whole.
struct ImageFormat {
  EncodedFormat format;
  bool (*looks_like)(std::string_view bytes);
  absl::StatusOr<DecodedPart> (*decode)(std::string_view bytes, const DecodeOptions& options, const ChoosePart& choose);
};
constexpr ImageFormat kWholeFormats[] = {
    {{"PNG", ".png"}, LooksLikePng, DecodePng}, {{"WebP", ".webp"}, LooksLikeWebp, DecodeWebp},
    {{"GIF", ".gif"}, LooksLikeGif, DecodeGif}, {{"TIFF", ".tif"}, LooksLikeTiff, DecodeTiff},
    {{"BMP", ".bmp"}, LooksLikeBmp, DecodeBmp}, {{"PNM", ".pnm"}, LooksLikePnm, DecodePnm}};

// "starts with 47 49 46 38 39 61 ('GIF89a')".
std::string DescribeStart(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  std::string text;
  for (const char byte : bytes.substr(0, kShownBytes)) {
    const uint8_t value = static_cast<uint8_t>(byte);
    if (!hex.empty()) hex += ' ';
    hex += kDigits[value >> 4];
    hex += kDigits[value & 15];
    text += value >= 0x20 && value < 0x7f ? byte : '.';
  }
  return Cat("starts with ", hex, " ('", text, "')");
}

absl::Status NoSuchFormat(std::string_view bytes) {
  constexpr std::string_view kNone = "not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM";
  const std::string start = Cat(": ", DescribeStart(bytes), ", ", bytes.size(), " bytes in all");
  const std::optional<ForeignFormat> foreign = ForeignFormatOf(bytes);
  if (!foreign.has_value()) return DataError(kNone, start);
  return DataError(kNone, ", but ", foreign->name, start, "; ", foreign->advice);
}

// A byte string, or the same bytes as a vector of uint8.
absl::StatusOr<std::string_view> EncodedBytes(const Tensor& input) {
  if (input.dtype() == DType::kBytes && input.rank() == 0) return input.bytes_value();
  if (input.dtype() == DType::kUInt8 && input.rank() == 1) {
    return std::string_view(reinterpret_cast<const char*>(input.raw()), input.bytes());
  }
  return GraphError("needs one encoded image, bytes of shape () or uint8 of shape (N,); got ", input.TypeName());
}

constexpr std::string_view kNvJpeg = "nvjpeg";
constexpr std::string_view kLibjpegTurbo = "libjpeg-turbo";

absl::Status CheckAttributes(const ir::Attributes& attributes) {
  const int64_t scale = attributes.Int("scale");
  if (scale != 1 && scale != 2 && scale != 4 && scale != 8) {
    return GraphError("scale is ", scale, "; it must be 1, 2, 4 or 8");
  }
  if (scale > 1 && attributes.String("decoder") == kNvJpeg) {
    return GraphError("nvJPEG decodes images in their own size: leave scale=", scale, " out, or decoder=\"nvjpeg\"");
  }
  return absl::OkStatus();
}

class Decode : public DecodeKernel {
 public:
  explicit Decode(const DecodeOptions& options) : options_(options) {}
  Decode(const ir::Attributes& attributes, std::shared_ptr<JpegDevice> device)
      : options_(SizeOfImageOptions(attributes)),
        device_(std::move(device)),
        decoders_({.own = attributes.String("decoder") != kLibjpegTurbo, .device = device_.get()}) {
    const std::string& mode = attributes.String("mode");
    if (mode == "L") options_.mode = PixelMode::kGrey;
    if (mode == "unchanged") options_.mode = PixelMode::kUnchanged;
    if (mode == "any") options_.mode = PixelMode::kAny;
    if (mode == "anydepth") options_.mode = PixelMode::kAnyDepth;
    options_.scale = static_cast<int>(attributes.Int("scale"));
  }

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    const auto all = [&](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
      return WantedPart({0, 0, height, width}, &context.output(), context.notes());
    };
    HEADRACE_ASSIGN_OR_RETURN(const DecodedPart whole, ApplyPart(input, all));
    return whole.image.tensor;
  }

  bool may_warn() const override { return true; }
  bool counts_work() const override { return true; }

  absl::StatusOr<DecodedPart> ApplyPart(const Tensor& input, const ChoosePart& choose) const override {
    if (StopSignal::Raised()) return StopSignal::Error();
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(const std::string_view bytes, EncodedBytes(dense));
    if (bytes.empty()) return DataError("the image is empty: 0 bytes");
    if (LooksLikeJpeg(bytes)) return JpegPart(bytes, choose);
    for (const ImageFormat& format : kWholeFormats) {
      if (format.looks_like(bytes)) return WholePart(format, bytes, choose);
    }
    return NoSuchFormat(bytes);
  }

 private:
  absl::StatusOr<DecodedPart> JpegPart(std::string_view bytes, const ChoosePart& choose) const {
    std::string damage;
    absl::StatusOr<DecodedPart> part = DecodeJpeg(bytes, options_, choose, damage, decoders_);
    if (!part.ok() && KindOf(part.status()) == ErrorKind::kData && IsLosslessJpeg(bytes)) {
      return WholePart({{"lossless JPEG", ".jpg"}, IsLosslessJpeg, DecodeLosslessJpeg}, bytes, choose);
    }
    if (part.ok() && !damage.empty()) {
      RowWarning::Raise(Cat("the JPEG is damaged; its pixels are what libjpeg recovers (", damage, ")"));
    }
    return part;
  }

  absl::StatusOr<DecodedPart> WholePart(const ImageFormat& format, std::string_view bytes,
                                        const ChoosePart& choose) const {
    if (options_.scale > 1) {
      return DataError("only a JPEG can be decoded smaller, and this is a ", format.format.name,
                       ": leave scale out and use Resize; got scale=", options_.scale);
    }
    return format.decode(bytes, options_, choose);
  }

  DecodeOptions options_;
  std::shared_ptr<JpegDevice> device_;
  JpegDecoders decoders_;
};

absl::StatusOr<std::vector<ir::ColumnType>> Infer(const ir::Attributes& attributes,
                                                  absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_RETURN_IF_ERROR(CheckAttributes(attributes));
  const ir::ColumnType& input = inputs[0];
  const bool encoded = input.dtype == DType::kBytes && (!input.shape || input.shape->empty());
  const bool vector = input.dtype == DType::kUInt8 && (!input.shape || input.shape->size() == 1);
  const bool unknown = input.dtype == DType::kUnknown && input.fields.empty();
  if (!encoded && !vector && !unknown) {
    return GraphError("needs one encoded image, bytes of shape () or uint8 of shape (N,); got ", ir::TypeName(input));
  }
  const std::string& mode = attributes.String("mode");
  int64_t channels = 3;
  if (mode == "L") channels = 1;
  const bool any_depth = mode == "unchanged" || mode == "anydepth";
  if (any_depth || mode == "any") channels = ir::kUnknownDim;
  // 16 bits show in the file alone.
  const DType dtype = any_depth ? DType::kUnknown : DType::kUInt8;
  return std::vector{ir::ColumnType::Of(dtype, {ir::kUnknownDim, ir::kUnknownDim, channels})};
}

// Version 1 resolved palettes and kept 8 of 16 bits in every mode.
absl::Status Upgrade(int /*from*/, std::vector<std::pair<std::string, ir::proto::Value>>& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name != "mode" || value.text() != "unchanged") continue;
    return GraphError("mode='unchanged' keeps palette indices and 16 bits since version 2");
  }
  return absl::OkStatus();
}

const KernelRegistration decode_registration{
    {.name = "Decode",
     .version = 2,
     .summary = "Decodes a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM into an image.",
     .doc =
         "Takes encoded bytes of shape () (or uint8 of shape (N,)) and gives uint8 of shape (H, W, C), 0 … 255, in the "
         "order red, green, blue. The modes unchanged and anydepth give uint16, 0 … 65535, for a PNG, TIFF or PNM of "
         "16 bits, and other types for some TIFFs, so their type is known only from the row.\n"
         "JPEG may be baseline, progressive, grey, YCbCr, RGB, and CMYK and YCCK by Pillow's formula; pixels are those "
         "of libjpeg-turbo with its default settings, and equal Pillow's. Headrace's own decoder takes sequential "
         "JPEGs "
         "of 8 bits with Huffman codes, grey or YCbCr, with all components in one scan; for a crop it passes over the "
         "rest without decoding it. libjpeg-turbo decodes all others, and those with damage. "
         "decoder=\"libjpeg-turbo\" leaves all of them to libjpeg-turbo, to compare the two: pixels, errors and "
         "warnings are the same, so states and caches of one fit the other. `explain()` counts which decoder made how "
         "many images. Lossless JPEG of Huffman codes may be grey or RGB of up to 8 bits. PNG goes through libpng: "
         "every colour type and depth, interlaced or not; of 16 bits the higher 8 are kept, except by these two modes, "
         "and palettes are resolved, "
         "except by mode='unchanged'; colour profiles and gamma are not applied.\n"
         "WebP goes through libwebp: lossy and lossless, and the first frame of an animation. GIF goes through giflib: "
         "the first frame on its canvas. BMP may have 1 to 32 bits, run lengths, and alpha where its header has a mask "
         "for it. PNM is P1 to P6. TIFF goes through libtiff: the first image, in strips or tiles, with any "
         "compression that libtiff reads. Their pixels equal Pillow's, too. These formats, PNG and lossless JPEG are "
         "decoded whole, even where a crop follows.\n"
         "A TIFF may have grey or RGB of 1 to 16 bits, palettes of 1 to 8, CMYK of 8 or 16, YCbCr and CIE L*a*b* of "
         "8, which become RGB, and grey or RGB of signed numbers, of floats, and of 32 and 64 bits. Signed numbers, "
         "floats and 32 and 64 bits have no range that could become 0 … 255: the modes unchanged and anydepth give "
         "them in their own type (int16, int32, float32 and so on), and the others refuse them. 9 to 15 bits are "
         "scaled to 16, except by unchanged. Colours that were multiplied by their alpha are divided by it, except by "
         "unchanged. Several bands of grey are given by unchanged alone, and bands beside RGB are left out by the "
         "others.\n"
         "scale=2, 4 or 8 reduces a JPEG's height and width while it is decoded, which costs less than decoding and "
         "resizing; the pixels are those of libjpeg-turbo's scaled transform, not those of Resize, so it is used only "
         "if you choose it. `max_pixels` counts the image's own pixels.\n"
         "decoder=\"nvjpeg\" decodes on the GPU cuda:0, into the host's memory, the JPEGs whose markers say that "
         "nvJPEG can: those of 8 bits, with Huffman codes, baseline in one scan or progressive, grey or YCbCr "
         "sampled 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1 or 4:1:0, whole, and of at most 67108864 pixels. The CPU decodes "
         "all others, and those in which nvJPEG finds damage, with its own pixels, errors and warnings. Which one "
         "decodes depends on the file alone. `mode` and `orientation` mean the same, L is the luma of nvJPEG's red, "
         "green and blue, and a crop is cut out of the whole image. Without an NVIDIA driver, a GPU or nvJPEG "
         "(`pip install nvidia-nvjpeg`) it is an UnsupportedError, and a fault of the GPU or a lack of its memory a "
         "ResourceError: neither is left to the CPU.\n"
         "Errors: empty bytes; bytes of none of these formats; an image of more than `max_pixels`, refused from its "
         "header; scale > 1 for another format than JPEG; wrong headers or tables; a JPEG component without its first "
         "scan; data too short for the image; a JPEG without its end marker that lacks pixels; damage in another "
         "format; a BMP or TIFF of a kind that is not listed here; what a TIFF's samples "
         "and tiles unpack to, if it is more than an image of `max_pixels`. Damaged data of a JPEG that has its end "
         "marker give "
         "the pixels that libjpeg recovers, and a warning that `explain()` counts and names. Faults that lose no pixel "
         "(stray bytes between segments, a missing end marker after the last row) are accepted.",
     .attributes = {{.name = "mode",
                     .type = ir::AttributeType::kString,
                     .doc = "RGB: 3 channels, alpha dropped, grey repeated; L: 1 channel, Pillow's luma; unchanged: "
                            "what the file holds, as masks need it: palette indices 1 (uint8), grey 1, grey and alpha "
                            "2, colour 3, colour and alpha 4 (CMYK and YCbCr become RGB), more for a TIFF of more "
                            "bands, 16 bits as uint16, alpha that colours were multiplied by as it is; grey of fewer "
                            "than 8 bits is scaled to 0 … 255; any: what an encoder takes: grey 1 channel, colour 3, "
                            "either with alpha 4, palettes resolved, 8 bits; anydepth: the same, but 16 bits stay "
                            "16.",
                     .default_value = "'RGB'",
                     .choices = {"RGB", "L", "unchanged", "any", "anydepth"}},
                    {.name = "orientation",
                     .type = ir::AttributeType::kBool,
                     .doc = "Turns and mirrors the image as its EXIF orientation says, in a TIFF its orientation tag: "
                            "a PNG's eXIf chunk, wherever it is, or the older text \"Raw profile type exif\".",
                     .default_value = "False"},
                    MaxPixelsAttribute(),
                    {.name = "scale",
                     .type = ir::AttributeType::kInt,
                     .doc = "Decodes a JPEG to 1/scale of its height and width, rounded up: 1, 2, 4 or 8.",
                     .default_value = "1",
                     .minimum = 1,
                     .maximum = 8},
                    {.name = "decoder",
                     .type = ir::AttributeType::kString,
                     .doc = "cpu: with libjpeg-turbo's pixels, by Headrace's own decoder for JPEGs of common kinds "
                            "and by libjpeg-turbo for all others; libjpeg-turbo: by libjpeg-turbo alone; nvjpeg: "
                            "NVIDIA's nvJPEG on the GPU cuda:0 for JPEGs of common kinds, whose pixels then differ by "
                            "a few levels; the CPU decodes all others.",
                     .default_value = "'cpu'",
                     .choices = {"cpu", "libjpeg-turbo", "nvjpeg"},
                     .hashed_as = {{std::string(kLibjpegTurbo), "cpu"}}}},
     .traits = {.decodes = true},
     .python_module = "vision",
     .example = "V.Decode()",
     .sample = {.inputs = {ir::SampleInput::kEncoded}},
     .infer_kernel = Infer,
     .upgrade = Upgrade},
    [](const ir::Attributes& attributes) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      HEADRACE_RETURN_IF_ERROR(CheckAttributes(attributes));
      std::shared_ptr<JpegDevice> device;
      if (attributes.String("decoder") == kNvJpeg) {
        HEADRACE_ASSIGN_OR_RETURN(device, NvJpegDevice());
      }
      return std::make_unique<Decode>(attributes, std::move(device));
    }};

}  // namespace

bool IsEncoded(DType dtype, int rank) {
  return (dtype == DType::kBytes && rank == 0) || (dtype == DType::kUInt8 && rank == 1);
}

absl::StatusOr<ImageSize> SizeOfEncoded(const Tensor& encoded, const DecodeOptions& options) {
  std::optional<ImageSize> size;
  const auto note = [&size](int64_t height, int64_t width) -> absl::StatusOr<WantedPart> {
    size = {height, width};
    // Ends the decoding.
    return InternalError("only the size is wanted");
  };
  const absl::Status status = Decode(options).ApplyPart(encoded, note).status();
  if (size.has_value()) return *size;
  return status;
}

const EncodedFormat* FormatOfEncoded(std::string_view bytes) {
  if (LooksLikeJpeg(bytes)) return &kJpeg;
  for (const ImageFormat& each : kWholeFormats) {
    if (each.looks_like(bytes)) return &each.format;
  }
  return nullptr;
}

}  // namespace headrace

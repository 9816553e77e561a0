#include "kernels/vision/image/image.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

bool Accepts(PixelTypes accepted, DType dtype) {
  if (accepted == PixelTypes::kFixedSize) return ItemSize(dtype) > 0;
  if (accepted == PixelTypes::kByteWordOrFloat && dtype == DType::kUInt16) return true;
  return dtype == DType::kUInt8 || dtype == DType::kFloat32;
}

std::string_view InWords(PixelTypes accepted) {
  if (accepted == PixelTypes::kFixedSize) return "numbers";
  return accepted == PixelTypes::kByteWordOrFloat ? "uint8, uint16 or float32" : "uint8 or float32";
}

absl::Status NotAnImage(PixelTypes accepted, std::string_view got) {
  const std::string_view hint =
      got.starts_with("bytes") ? "; put Decode() before it to turn encoded bytes into an image" : "";
  return GraphError("needs an image, ", InWords(accepted), " of shape (H, W, C) or (H, W); got ", got, hint);
}

absl::Status NoPixels(std::string_view got) { return GraphError("got an image without pixels: ", got); }

bool RowsAreDense(const Tensor& tensor, int64_t channels) {
  if (tensor.contiguous()) return true;
  const int64_t item = static_cast<int64_t>(ItemSize(tensor.dtype()));
  if (tensor.rank() == 3 && tensor.stride(2) != item) return false;
  return tensor.stride(1) == item * channels;
}

}  // namespace

absl::Status CheckImage(const Tensor& tensor, PixelTypes accepted) {
  const bool has_rank = tensor.rank() == 2 || tensor.rank() == 3;
  if (!has_rank || !Accepts(accepted, tensor.dtype())) return NotAnImage(accepted, tensor.TypeName());
  if (tensor.elements() == 0) return NoPixels(tensor.TypeName());
  return absl::OkStatus();
}

absl::StatusOr<Image> ImageOf(const Tensor& tensor, PixelTypes accepted) {
  HEADRACE_RETURN_IF_ERROR(CheckImage(tensor, accepted));
  Image image;
  image.height = tensor.dim(0);
  image.width = tensor.dim(1);
  image.channels = tensor.rank() == 3 ? tensor.dim(2) : 1;
  if (RowsAreDense(tensor, image.channels)) {
    image.tensor = tensor;
  } else {
    HEADRACE_ASSIGN_OR_RETURN(image.tensor, tensor.Contiguous());
  }
  image.pixels = image.tensor.raw();
  image.row_stride = image.tensor.stride(0);
  return image;
}

Image Cropped(const Image& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  Image crop = image;
  crop.pixels = image.row(top) + left * image.pixel_bytes();
  crop.height = height;
  crop.width = width;
  return crop;
}

absl::StatusOr<Tensor> AllocateLike(const Image& image, int64_t height, int64_t width, OutputAllocator& output) {
  Shape shape = {height, width};
  if (image.tensor.rank() == 3) shape.push_back(image.channels);
  return output.Allocate(image.dtype(), shape);
}

absl::StatusOr<ir::ColumnType> ImageTypeOf(const ir::ColumnType& type, PixelTypes accepted) {
  const bool dtype_fits = type.dtype == DType::kUnknown || Accepts(accepted, type.dtype);
  const bool rank_fits = !type.shape || type.shape->size() == 2 || type.shape->size() == 3;
  if (!dtype_fits || !rank_fits || !type.fields.empty()) return NotAnImage(accepted, ir::TypeName(type));
  const bool empty = type.shape && std::find(type.shape->begin(), type.shape->end(), 0) != type.shape->end();
  if (empty) return NoPixels(ir::TypeName(type));
  return type;
}

bool AlwaysAnImage(const ir::ColumnType& type, PixelTypes accepted) {
  if (!type.fully_known() || !Accepts(accepted, type.dtype) || ElementCount(*type.shape) == 0) return false;
  return type.shape->size() == 2 || type.shape->size() == 3;
}

ir::ColumnType WithSize(ir::ColumnType type, int64_t height, int64_t width) {
  if (!type.shape) return type;
  (*type.shape)[0] = height;
  (*type.shape)[1] = width;
  return type;
}

}  // namespace headrace

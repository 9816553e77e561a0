#include "io/formats/ndarray/array_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV1 = 0xF993fac8;  // the first with dimensions of 64 bits
constexpr uint32_t kV2 = 0xF993fac9;  // and a storage type
constexpr uint32_t kV3 = 0xF993faca;  // and arrays without dimensions, as NumPy has them
constexpr uint32_t kMostDimensions = 32;
constexpr int64_t kMostElements = int64_t{1} << 48;
constexpr int32_t kDense = 0;
constexpr int32_t kCpu = 1;

// By MXNet's number.
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kUInt8, DType::kInt32,
                            DType::kInt8,    DType::kInt64,   DType::kBool,    DType::kInt16, DType::kUInt16,
                            DType::kUInt32,  DType::kUInt64,  DType::kBFloat16};

class ArrayFileParser {
 public:
  ArrayFileParser(std::string_view bytes, std::string_view path) : bytes_(bytes), path_(path) {}

  absl::StatusOr<std::vector<NamedArray>> Parse() {
    uint64_t magic = 0;
    uint64_t reserved = 0;
    if (!Take(magic) || !Take(reserved) || magic != kListMagic) {
      return DataError(path_, " is not a file of arrays as mx.nd.save writes: it does not begin with 12 01");
    }
    HEADRACE_ASSIGN_OR_RETURN(const size_t count, TakeCount("arrays", sizeof(uint32_t)));
    // Grows with what is there, not with what is claimed.
    std::vector<NamedArray> arrays;
    for (size_t i = 0; i < count; ++i) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor array, TakeArray());
      arrays.emplace_back().array = std::move(array);
    }
    HEADRACE_RETURN_IF_ERROR(TakeNames(arrays));
    if (at_ < bytes_.size()) return Wrong("the names of the arrays end, and the file goes on");
    return arrays;
  }

 private:
  template <typename T>
  bool Take(T& value) {
    if (bytes_.size() - at_ < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }

  template <typename... Parts>
  absl::Status Wrong(const Parts&... parts) const {
    return DataError(path_, ", byte ", at_, ": ", parts...);
  }

  // How many of something follow that take at least so many bytes each.
  absl::StatusOr<size_t> TakeCount(std::string_view what, size_t least_bytes) {
    uint64_t count = 0;
    if (!Take(count)) return Wrong("the file ends before the number of ", what);
    if (count > (bytes_.size() - at_) / least_bytes) {
      return Wrong("the file claims ", count, " ", what, ", more than fit into the ", bytes_.size() - at_,
                   " bytes that follow");
    }
    return static_cast<size_t>(count);
  }

  absl::Status TakeNames(std::vector<NamedArray>& arrays) {
    HEADRACE_ASSIGN_OR_RETURN(const size_t names, TakeCount("names", sizeof(uint64_t)));
    if (names != 0 && names != arrays.size())
      return Wrong("the file has ", arrays.size(), " arrays and ", names, " names");
    for (size_t i = 0; i < names; ++i) {
      HEADRACE_ASSIGN_OR_RETURN(const size_t length, TakeCount("bytes of a name", 1));
      arrays[i].name = bytes_.substr(at_, length);
      at_ += length;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> TakeArray() {
    uint32_t version = 0;
    if (!Take(version)) return Wrong("the file ends before an array");
    const bool has_storage = version == kV2 || version == kV3;
    int32_t storage = kDense;
    if (has_storage && !Take(storage)) return Wrong("the file ends within the head of an array");
    if (storage != kDense) {
      return UnsupportedError(path_, ", byte ", at_, ": sparse arrays (storage type ", storage, ") are not read");
    }
    HEADRACE_ASSIGN_OR_RETURN(const Shape shape,
                              has_storage || version == kV1 ? TakeShape<int64_t>() : TakeShapeOf<uint32_t>(version));
    if (shape.empty() && version != kV3) return Wrong("an array without dimensions");
    int32_t device_type = 0;
    int32_t device = 0;
    int32_t type = 0;
    if (!Take(device_type) || !Take(device) || !Take(type)) return Wrong("the file ends within the head of an array");
    if (type < 0 || type >= static_cast<int32_t>(std::size(kTypes)))
      return Wrong("an array of the unknown type ", type);
    return TakeValues(kTypes[type], shape);
  }

  template <typename Dimension>
  absl::StatusOr<Shape> TakeShape() {
    uint32_t dimensions = 0;
    if (!Take(dimensions)) return Wrong("the file ends within the head of an array");
    return TakeShapeOf<Dimension>(dimensions);
  }

  template <typename Dimension>
  absl::StatusOr<Shape> TakeShapeOf(uint32_t dimensions) {
    if (dimensions > kMostDimensions) return Wrong("an array of ", dimensions, " dimensions, or none at all");
    Shape shape;
    int64_t elements = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
      Dimension size = 0;
      if (!Take(size)) return Wrong("the file ends within the head of an array");
      const auto dim = static_cast<int64_t>(size);
      if (dim < 0 || dim > kMostElements / elements) {
        return Wrong("an array with the impossible dimension ", size);
      }
      elements *= std::max<int64_t>(dim, 1);
      shape.push_back(dim);
    }
    return shape;
  }

  absl::StatusOr<Tensor> TakeValues(DType dtype, const Shape& shape) {
    const size_t size = static_cast<size_t>(ElementCount(shape)) * ItemSize(dtype);
    if (size > bytes_.size() - at_) {
      return Wrong("an array of ", size, " bytes begins here, and only ", bytes_.size() - at_, " bytes are left");
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor array, Tensor::Allocate(dtype, shape));
    if (size > 0) std::memcpy(array.mutable_raw(), bytes_.data() + at_, size);
    at_ += size;
    return array;
  }

  const std::string_view bytes_;
  const std::string_view path_;
  size_t at_ = 0;
};

template <typename T>
void Put(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::optional<int32_t> NumberOf(DType dtype) {
  const auto* const found = std::find(std::begin(kTypes), std::end(kTypes), dtype);
  if (found == std::end(kTypes)) return std::nullopt;
  return static_cast<int32_t>(found - std::begin(kTypes));
}

absl::Status PutArray(const Tensor& array, std::string& bytes) {
  const std::optional<int32_t> type = NumberOf(array.dtype());
  if (!type.has_value()) return UnsupportedError("files of arrays hold no ", DTypeName(array.dtype()));
  Put(array.rank() == 0 ? kV3 : kV2, bytes);
  Put(kDense, bytes);
  Put(static_cast<uint32_t>(array.rank()), bytes);
  for (const int64_t dim : array.shape()) Put(dim, bytes);
  Put(kCpu, bytes);
  Put(int32_t{0}, bytes);
  Put(*type, bytes);
  const size_t begin = bytes.size();
  bytes.resize(begin + array.bytes());
  if (array.bytes() > 0) array.CopyTo(&bytes[begin]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<NamedArray>> ParseArrayFile(std::string_view bytes, std::string_view path) {
  return ArrayFileParser(bytes, path).Parse();
}

absl::StatusOr<std::string> FormatArrayFile(absl::Span<const NamedArray> arrays) {
  std::string bytes;
  Put(kListMagic, bytes);
  Put(uint64_t{0}, bytes);
  Put(static_cast<uint64_t>(arrays.size()), bytes);
  for (const NamedArray& each : arrays) HEADRACE_RETURN_IF_ERROR(PutArray(each.array, bytes));
  const bool named =
      std::any_of(arrays.begin(), arrays.end(), [](const NamedArray& each) { return !each.name.empty(); });
  Put(static_cast<uint64_t>(named ? arrays.size() : 0), bytes);
  for (size_t i = 0; named && i < arrays.size(); ++i) {
    Put(static_cast<uint64_t>(arrays[i].name.size()), bytes);
    bytes += arrays[i].name;
  }
  return bytes;
}

}  // namespace headrace

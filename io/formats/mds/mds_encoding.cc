#include "io/formats/mds/mds_encoding.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>

#include "core/error.h"
#include "core/number_at.h"

namespace headrace {
namespace {

constexpr size_t kMostMdsAxes = 32;
constexpr size_t kMostShownEncoding = 60;

struct DTypeCode {
  uint8_t code;
  DType dtype;
};
constexpr DTypeCode kDTypeCodes[] = {{8, DType::kUInt8},  {9, DType::kInt8},     {16, DType::kUInt16},
                                     {17, DType::kInt16}, {18, DType::kFloat16}, {32, DType::kUInt32},
                                     {33, DType::kInt32}, {34, DType::kFloat32}, {64, DType::kUInt64},
                                     {65, DType::kInt64}, {66, DType::kFloat64}};

struct Plain {
  std::string_view name;
  MdsEncoding::Kind kind;
  DType dtype;
};
constexpr Plain kPlain[] = {{"bytes", MdsEncoding::Kind::kBytes, DType::kBytes},
                            {"jpeg", MdsEncoding::Kind::kBytes, DType::kBytes},
                            {"png", MdsEncoding::Kind::kBytes, DType::kBytes},
                            {"str", MdsEncoding::Kind::kText, DType::kString},
                            {"json", MdsEncoding::Kind::kText, DType::kString},
                            {"str_decimal", MdsEncoding::Kind::kText, DType::kString},
                            {"int", MdsEncoding::Kind::kNumber, DType::kInt64},
                            {"str_int", MdsEncoding::Kind::kWholeText, DType::kInt64},
                            {"str_float", MdsEncoding::Kind::kRealText, DType::kFloat64},
                            {"ndarray", MdsEncoding::Kind::kArray, DType::kUnknown},
                            {"pil", MdsEncoding::Kind::kPixels, DType::kUInt8}};

bool IsNumberOfMds(DType dtype) {
  return std::any_of(std::begin(kDTypeCodes), std::end(kDTypeCodes),
                     [&](const DTypeCode& each) { return each.dtype == dtype; });
}

absl::Status EncodingError(std::string_view text) {
  const std::string_view shown = text.substr(0, kMostShownEncoding);
  if (text == "pkl") {
    return UnsupportedError(
        "its encoding is pkl, pickled objects, which may run any code and are never read; leave "
        "the column out by columns=, or write it as json or ndarray");
  }
  return UnsupportedError("its encoding is ", shown, ", which is not read; leave the column out by columns=");
}

// "3,4"; false: it is not a shape.
bool ParseMdsShape(std::string_view text, Shape& shape) {
  while (!text.empty() && shape.size() < kMostMdsAxes) {
    int64_t size = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (wrong != std::errc() || size < 0 || size > (int64_t{1} << 32)) return false;
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return true;
    if (text[0] != ',' || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  return false;
}

// Of what comes after "ndarray:".
bool ParseArrayEncoding(std::string_view text, MdsEncoding& encoding) {
  const std::string_view dtype = text.substr(0, text.find(':'));
  const std::optional<DType> found = DTypeFromName(dtype);
  if (!found.has_value() || !IsNumberOfMds(*found)) return false;
  encoding.kind = MdsEncoding::Kind::kArray;
  encoding.dtype = *found;
  if (dtype.size() == text.size()) return true;
  encoding.shaped = true;
  return ParseMdsShape(text.substr(dtype.size() + 1), encoding.shape);
}

absl::Status CutArray() { return DataError("the array ends within its shape"); }

// Takes the dtype and the shape off the bytes.
absl::Status TakeHead(std::string_view& bytes, MdsArray& array) {
  if (array.dtype == DType::kUnknown) {
    if (bytes.empty()) return CutArray();
    const auto code = static_cast<uint8_t>(bytes[0]);
    const auto* const found = std::find_if(std::begin(kDTypeCodes), std::end(kDTypeCodes),
                                           [&](const DTypeCode& each) { return each.code == code; });
    if (found == std::end(kDTypeCodes))
      return DataError("the array has a dtype of the code ", int{code}, ", which is not known");
    array.dtype = found->dtype;
    bytes.remove_prefix(1);
  }
  if (bytes.empty()) return CutArray();
  const auto form = static_cast<uint8_t>(bytes[0]);
  bytes.remove_prefix(1);
  const size_t axes = form / 4;
  const size_t size_bytes = size_t{1} << (form % 4);
  if (axes > kMostMdsAxes) return DataError("the array has ", axes, " axes; at most ", kMostMdsAxes, " are read");
  if (bytes.size() < axes * size_bytes) return CutArray();
  for (size_t axis = 0; axis < axes; ++axis) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + axis * size_bytes, size_bytes);
    if (size > (uint64_t{1} << 32)) return DataError("the array's axis ", axis, " has ", size, " elements");
    array.shape.push_back(static_cast<int64_t>(size));
  }
  bytes.remove_prefix(axes * size_bytes);
  return absl::OkStatus();
}

// Takes what a picture says of itself off the bytes.
absl::Status TakePictureHead(std::string_view& bytes, MdsArray& array) {
  constexpr size_t kHead = 12;
  if (bytes.size() < kHead) return DataError("the picture ends within its head");
  const auto width = NumberAt<uint32_t>(bytes, 0);
  const auto height = NumberAt<uint32_t>(bytes, 4);
  const auto mode_bytes = NumberAt<uint32_t>(bytes, 8);
  if (mode_bytes > bytes.size() - kHead) return DataError("the picture ends within its head");
  const std::string_view mode = bytes.substr(kHead, mode_bytes);
  const int64_t channels = mode == "L" ? 1 : mode == "RGB" ? 3 : mode == "RGBA" ? 4 : 0;
  if (channels == 0) {
    return DataError("the picture is of the mode ", mode.substr(0, kMostShownEncoding),
                     ", and L, RGB and RGBA are read; convert it before it is written");
  }
  array.dtype = DType::kUInt8;
  array.shape = {height, width, channels};
  bytes.remove_prefix(kHead + mode_bytes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MdsEncoding> ParseMdsEncoding(std::string_view text) {
  constexpr std::string_view kArray = "ndarray:";
  MdsEncoding encoding;
  const auto* const plain =
      std::find_if(std::begin(kPlain), std::end(kPlain), [&](const Plain& each) { return each.name == text; });
  if (plain != std::end(kPlain)) {
    encoding.kind = plain->kind;
    encoding.dtype = plain->dtype;
    return encoding;
  }
  if (text.substr(0, kArray.size()) == kArray) {
    if (ParseArrayEncoding(text.substr(kArray.size()), encoding)) return encoding;
    return EncodingError(text);
  }
  const std::optional<DType> dtype = DTypeFromName(text);
  if (!dtype.has_value() || !IsNumberOfMds(*dtype)) return EncodingError(text);
  encoding.kind = MdsEncoding::Kind::kNumber;
  encoding.dtype = *dtype;
  return encoding;
}

absl::StatusOr<MdsArray> ParseMdsArray(const MdsEncoding& encoding, std::string_view bytes) {
  MdsArray array{encoding.dtype, encoding.shape};
  if (encoding.kind == MdsEncoding::Kind::kPixels) {
    HEADRACE_RETURN_IF_ERROR(TakePictureHead(bytes, array));
  } else if (!encoding.shaped) {
    HEADRACE_RETURN_IF_ERROR(TakeHead(bytes, array));
  }
  // A size of 0 makes all others count for nothing.
  const bool empty = std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
  uint64_t wanted = empty ? 0 : ItemSize(array.dtype);
  for (const int64_t size : array.shape) {
    if (empty) break;
    if (wanted > bytes.size()) break;
    wanted *= static_cast<uint64_t>(size);
  }
  if (wanted != bytes.size()) {
    return DataError("the array has ", bytes.size(), " bytes of elements, which do not make ", DTypeName(array.dtype),
                     " ", ShapeName(array.shape));
  }
  array.data = bytes;
  return array;
}

}  // namespace headrace

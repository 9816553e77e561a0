#include "io/formats/npy/npy_array.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "core/error.h"
#include "io/formats/npy/npy_head.h"

namespace headrace {
namespace {

// How many bytes the elements have; nullopt: more than 63 bits count.
std::optional<int64_t> BytesOfElements(const NpyArray& array) {
  auto bytes = static_cast<int64_t>(ItemSize(array.dtype));
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) return 0;
  for (const int64_t size : array.shape) {
    if (bytes > std::numeric_limits<int64_t>::max() / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

void CopyElement(const char* source, size_t bytes, bool swapped, char* target) {
  if (swapped) {
    std::reverse_copy(source, source + bytes, target);
  } else {
    std::memcpy(target, source, bytes);
  }
}

// Goes over the elements in the order in which they stand, and puts each at its place.
void CopyFortran(const NpyArray& array, char* target) {
  const size_t bytes = ItemSize(array.dtype);
  const size_t axes = array.shape.size();
  std::vector<int64_t> steps(axes, static_cast<int64_t>(bytes)), at(axes, 0);
  for (size_t axis = axes; axis-- > 1;) steps[axis - 1] = steps[axis] * array.shape[axis];
  int64_t place = 0;
  for (size_t source = 0; source < array.data.size(); source += bytes) {
    CopyElement(array.data.data() + source, bytes, array.swapped, target + place);
    for (size_t axis = 0; axis < axes; ++axis) {
      place += steps[axis];
      if (++at[axis] < array.shape[axis]) break;
      place -= steps[axis] * array.shape[axis];
      at[axis] = 0;
    }
  }
}

void CopyElements(const NpyArray& array, char* target) {
  // The other axes of an array that has none may be of any size.
  if (array.data.empty()) return;
  if (array.fortran && array.shape.size() > 1) {
    CopyFortran(array, target);
    return;
  }
  const size_t size = ItemSize(array.dtype);
  if (!array.swapped) {
    std::memcpy(target, array.data.data(), array.data.size());
    return;
  }
  for (size_t at = 0; at < array.data.size(); at += size) CopyElement(array.data.data() + at, size, true, target + at);
}

}  // namespace

absl::StatusOr<NpyArray> ParseNpy(std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const size_t begin, NpyHeadBytes(bytes));
  HEADRACE_ASSIGN_OR_RETURN(const NpyHead head, ParseNpyHead(bytes));
  if (head.record) return DataError("the array holds records of several fields; save each field as an array");
  const FixedField& element = head.fields[0];
  if (element.storage != FixedStorage::kNumber) {
    return DataError("the array is of the type ", head.descr,
                     ", which is neither bool nor a number of up to 64 bits; convert it");
  }
  NpyArray array{element.dtype, head.shape, element.swapped, head.fortran, bytes.substr(begin)};
  const std::optional<int64_t> wanted = BytesOfElements(array);
  if (!wanted.has_value() || *wanted > static_cast<int64_t>(array.data.size())) {
    return DataError("the array has ", array.data.size(), " bytes of elements, and ", DTypeName(array.dtype), " ",
                     ShapeName(array.shape), " needs more: it was cut off");
  }
  array.data = array.data.substr(0, static_cast<size_t>(*wanted));
  return array;
}

void CopyNpy(const NpyArray& array, void* target) {
  char* const bytes = static_cast<char*>(target);
  CopyElements(array, bytes);
  if (array.dtype != DType::kBool) return;
  // Whatever byte a file has for true.
  for (size_t i = 0; i < array.data.size(); ++i) bytes[i] = static_cast<char>(bytes[i] != 0);
}

}  // namespace headrace

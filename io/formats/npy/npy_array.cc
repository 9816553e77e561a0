#include "io/formats/npy/npy_array.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kMostNpyAxes = 32;
constexpr size_t kMostShownDescr = 60;

struct NpyType {
  std::string_view name;  // after the byte order
  DType dtype;
};
constexpr NpyType kNpyTypes[] = {{"b1", DType::kBool},    {"i1", DType::kInt8},    {"i2", DType::kInt16},
                                 {"i4", DType::kInt32},   {"i8", DType::kInt64},   {"u1", DType::kUInt8},
                                 {"u2", DType::kUInt16},  {"u4", DType::kUInt32},  {"u8", DType::kUInt64},
                                 {"f2", DType::kFloat16}, {"f4", DType::kFloat32}, {"f8", DType::kFloat64}};

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

// Reads the header, a dict in Python's notation: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class NpyHeader {
 public:
  NpyHeader(std::string_view text, NpyArray& array) : text_(text), array_(array) {}

  absl::Status Read() {
    if (!Take('{')) return Damaged();
    while (!Take('}')) {
      std::string_view key;
      if (!TakeText(key) || !Take(':')) return Damaged();
      HEADRACE_RETURN_IF_ERROR(ReadValue(key));
      if (!Take(',') && Next() != '}') return Damaged();
    }
    return seen_ == kAll ? absl::OkStatus() : Damaged();
  }

 private:
  enum Seen { kDescr = 1, kOrder = 2, kShape = 4, kAll = 7 };

  static absl::Status Damaged() { return DataError("the header of the array is damaged"); }

  char Next() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_[0];
  }
  bool Take(char byte) {
    const bool there = Next() == byte;
    if (there) text_.remove_prefix(1);
    return there;
  }
  bool TakeWord(std::string_view word) {
    Next();
    const bool there = text_.substr(0, word.size()) == word;
    if (there) text_.remove_prefix(word.size());
    return there;
  }
  bool TakeText(std::string_view& text) {
    const char quote = Next();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    text = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  absl::Status ReadValue(std::string_view key) {
    const int seen = key == "descr" ? kDescr : key == "fortran_order" ? kOrder : key == "shape" ? kShape : 0;
    if (seen == 0 || (seen_ & seen) != 0) return Damaged();
    seen_ |= seen;
    if (seen == kDescr) return ReadDescr();
    if (seen == kShape) return ReadShape();
    array_.fortran = TakeWord("True");
    return array_.fortran || TakeWord("False") ? absl::OkStatus() : Damaged();
  }

  absl::Status ReadDescr() {
    if (Next() == '[') return DataError("the array holds records of several fields; save each field as an array");
    std::string_view descr;
    if (!TakeText(descr) || descr.empty()) return Damaged();
    const std::string_view kind = descr.substr(1);
    if (kind.substr(0, 1) == "O") {
      return DataError("the array holds pickled objects, which may run any code and are never read; save numbers");
    }
    const auto* const found = std::find_if(std::begin(kNpyTypes), std::end(kNpyTypes),
                                           [&](const NpyType& type) { return type.name == kind; });
    if (std::string_view("<>|=").find(descr[0]) == std::string_view::npos || found == std::end(kNpyTypes)) {
      return DataError("the array is of the type ", descr.substr(0, kMostShownDescr),
                       ", which is neither bool nor a number of up to 64 bits; convert it");
    }
    array_.dtype = found->dtype;
    array_.swapped = descr[0] == '>' && ItemSize(found->dtype) > 1;
    return absl::OkStatus();
  }

  absl::Status ReadShape() {
    if (!Take('(')) return Damaged();
    while (!Take(')')) {
      Next();
      int64_t size = 0;
      const auto [end, wrong] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (wrong != std::errc() || size < 0) return Damaged();
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      // Python 2 wrote long numbers so.
      if (!text_.empty() && text_[0] == 'L') text_.remove_prefix(1);
      if (array_.shape.size() == kMostNpyAxes) return DataError("the array has more than ", kMostNpyAxes, " axes");
      array_.shape.push_back(size);
      if (!Take(',') && Next() != ')') return Damaged();
    }
    return absl::OkStatus();
  }

  std::string_view text_;
  NpyArray& array_;
  int seen_ = 0;
};

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
  if (array.fortran && array.shape.size() > 1) {
    CopyFortran(array, target);
    return;
  }
  const size_t size = ItemSize(array.dtype);
  if (!array.swapped) {
    if (!array.data.empty()) std::memcpy(target, array.data.data(), array.data.size());
    return;
  }
  for (size_t at = 0; at < array.data.size(); at += size) CopyElement(array.data.data() + at, size, true, target + at);
}

}  // namespace

absl::StatusOr<NpyArray> ParseNpy(std::string_view bytes) {
  constexpr size_t kVersionAt = kNpyMagic.size();
  constexpr size_t kLengthAt = kVersionAt + 2;
  if (bytes.substr(0, kVersionAt) != kNpyMagic || bytes.size() < kLengthAt) {
    return DataError("it is not an array of NumPy (.npy)");
  }
  const char version = bytes[kVersionAt];
  if (version < 1 || version > 3) return DataError("the array is of version ", int{version}, " of .npy, not 1 to 3");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t begin = kLengthAt + length_bytes;
  if (bytes.size() < begin) return DataError("the array ends within its header");
  const uint64_t length = LittleEndian(bytes.substr(kLengthAt, length_bytes));
  if (length > bytes.size() - begin) return DataError("the array ends within its header");
  NpyArray array;
  HEADRACE_RETURN_IF_ERROR(NpyHeader(bytes.substr(begin, length), array).Read());
  array.data = bytes.substr(begin + length);
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

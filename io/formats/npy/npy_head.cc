#include "io/formats/npy/npy_head.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "core/utf8.h"

namespace headrace {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kVersionAt = kNpyMagic.size();
constexpr size_t kLengthAt = kVersionAt + 2;
constexpr size_t kMostNpyAxes = 32;
constexpr size_t kMostShownDescr = 60;
constexpr int64_t kMostElementBytes = int64_t{1} << 40;

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

absl::Status Damaged() { return DataError("the header of the array is damaged"); }

absl::Status TypeError(std::string_view descr) {
  return DataError("the array is of the type ", descr.substr(0, kMostShownDescr),
                   ", which is neither bool nor a number of up to 64 bits, text or bytes; convert it");
}

// "S12": a type of so many bytes or characters; false: another one.
bool TakeSizedType(std::string_view kind, FixedField& field) {
  int64_t size = 0;
  const auto [end, wrong] = std::from_chars(kind.data() + 1, kind.data() + kind.size(), size);
  const int64_t most = kMostElementBytes / 4;
  if (wrong != std::errc() || end != kind.data() + kind.size() || size < 1 || size > most) return false;
  field.dtype = DType::kBytes;
  field.value_bytes = size;
  switch (kind[0]) {
    case 'S':
    case 'a':
      field.storage = FixedStorage::kPaddedBytes;
      return true;
    case 'V':
      field.storage = FixedStorage::kBytes;
      return true;
    case 'U':
      field.storage = FixedStorage::kUtf32;
      field.dtype = DType::kString;
      field.value_bytes = 4 * size;
      return true;
    default:
      return false;
  }
}

// Of a type as "<f4".
absl::Status TakeType(std::string_view descr, FixedField& field) {
  if (descr.empty()) return Damaged();
  const std::string_view kind = descr.substr(1);
  if (kind.substr(0, 1) == "O") {
    return DataError("the array holds pickled objects, which may run any code and are never read; save numbers");
  }
  if (std::string_view("<>|=").find(descr[0]) == std::string_view::npos || kind.empty()) return TypeError(descr);
  field.swapped = descr[0] == '>';
  const auto* const found =
      std::find_if(std::begin(kNpyTypes), std::end(kNpyTypes), [&](const NpyType& type) { return type.name == kind; });
  if (found == std::end(kNpyTypes)) return TakeSizedType(kind, field) ? absl::OkStatus() : TypeError(descr);
  field.dtype = found->dtype;
  field.value_bytes = static_cast<int64_t>(ItemSize(found->dtype));
  field.swapped = field.swapped && field.value_bytes > 1;
  return absl::OkStatus();
}

// Reads the header, a dict in Python's notation: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class NpyHeadReader {
 public:
  // `latin`: its characters are bytes of Latin-1, else of UTF-8.
  NpyHeadReader(std::string_view text, bool latin, NpyHead& head) : text_(text), latin_(latin), head_(head) {}

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
    if (seen == kShape) return ReadShape(head_.shape);
    head_.fortran = TakeWord("True");
    return head_.fortran || TakeWord("False") ? absl::OkStatus() : Damaged();
  }

  absl::Status ReadDescr() {
    if (Take('[')) return ReadRecord();
    FixedField field;
    std::string_view descr;
    if (!TakeText(descr)) return Damaged();
    HEADRACE_RETURN_IF_ERROR(TakeType(descr, field));
    head_.descr = descr;
    head_.element_bytes = field.value_bytes;
    head_.fields.push_back(std::move(field));
    return absl::OkStatus();
  }

  // [('a', '<i4'), ('b', '<f4', (2, 3)), ('', '|V4')]: the last one is between fields.
  absl::Status ReadRecord() {
    head_.record = true;
    while (!Take(']')) {
      FixedField field;
      HEADRACE_RETURN_IF_ERROR(ReadField(field));
      field.offset = head_.element_bytes;
      const std::optional<int64_t> bytes = BytesOf(field);
      if (!bytes.has_value()) return Damaged();
      head_.element_bytes += *bytes;
      if (!field.name.empty()) {
        if (!names_.insert(field.name).second) return DataError("the field \"", field.name, "\" comes twice");
        head_.fields.push_back(std::move(field));
      }
      if (!Take(',') && Next() != ']') return Damaged();
    }
    return head_.fields.empty() ? Damaged() : absl::OkStatus();
  }

  std::optional<int64_t> BytesOf(const FixedField& field) const {
    int64_t bytes = field.value_bytes;
    for (const int64_t size : field.shape) {
      if (size > 0 && bytes > kMostElementBytes / size) return std::nullopt;
      bytes *= size;
    }
    if (head_.element_bytes > kMostElementBytes - bytes) return std::nullopt;
    return bytes;
  }

  absl::Status ReadField(FixedField& field) {
    std::string_view name, descr;
    if (!Take('(')) return Damaged();
    // A title comes before the name, in brackets.
    if (Take('(')) {
      if (!TakeText(name) || !Take(',') || !TakeText(name) || !Take(')')) return Damaged();
    } else if (!TakeText(name)) {
      return Damaged();
    }
    HEADRACE_ASSIGN_OR_RETURN(field.name, NameOf(name));
    if (!Take(',')) return Damaged();
    if (Next() == '[') {
      return DataError("the field \"", field.name, "\" is itself a record; save its fields as fields of the array");
    }
    if (!TakeText(descr)) return Damaged();
    HEADRACE_RETURN_IF_ERROR(TakeType(descr, field));
    if (Take(',') && Next() == '(') HEADRACE_RETURN_IF_ERROR(ReadShape(field.shape));
    return Take(')') ? absl::OkStatus() : Damaged();
  }

  absl::StatusOr<std::string> NameOf(std::string_view bytes) const {
    if (bytes.find('\\') != std::string_view::npos) {
      return DataError("the name of the field \"", bytes, "\" has a backslash or is escaped; rename it");
    }
    if (!latin_) {
      if (!IsUtf8(bytes)) return Damaged();
      return std::string(bytes);
    }
    std::string name;
    for (const char byte : bytes) AppendUtf8(name, static_cast<uint8_t>(byte));
    return name;
  }

  absl::Status ReadShape(Shape& shape) {
    if (!Take('(')) return Damaged();
    while (!Take(')')) {
      Next();
      int64_t size = 0;
      const auto [end, wrong] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (wrong != std::errc() || size < 0) return Damaged();
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      // Python 2 wrote long numbers so.
      if (!text_.empty() && text_[0] == 'L') text_.remove_prefix(1);
      if (shape.size() == kMostNpyAxes) return DataError("the array has more than ", kMostNpyAxes, " axes");
      shape.push_back(size);
      if (!Take(',') && Next() != ')') return Damaged();
    }
    return absl::OkStatus();
  }

  std::string_view text_;
  const bool latin_;
  NpyHead& head_;
  std::unordered_set<std::string, SeededHash> names_;
  int seen_ = 0;
};

// Of the number in front of the header.
size_t LengthBytes(char version) { return version == 1 ? 2 : 4; }

}  // namespace

absl::StatusOr<size_t> NpyHeadBytes(std::string_view first) {
  if (first.substr(0, kVersionAt) != kNpyMagic || first.size() < kLengthAt) {
    return DataError("it is not an array of NumPy (.npy)");
  }
  const char version = first[kVersionAt];
  if (version < 1 || version > 3) return DataError("the array is of version ", int{version}, " of .npy, not 1 to 3");
  const size_t begin = kLengthAt + LengthBytes(version);
  if (first.size() < begin) return DataError("the array ends within its header");
  return begin + LittleEndian(first.substr(kLengthAt, LengthBytes(version)));
}

absl::StatusOr<NpyHead> ParseNpyHead(std::string_view bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const size_t length, NpyHeadBytes(bytes));
  if (length > bytes.size()) return DataError("the array ends within its header");
  const char version = bytes[kVersionAt];
  const size_t begin = kLengthAt + LengthBytes(version);
  NpyHead head;
  HEADRACE_RETURN_IF_ERROR(NpyHeadReader(bytes.substr(begin, length - begin), version < 3, head).Read());
  return head;
}

}  // namespace headrace

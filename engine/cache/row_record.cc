#include "engine/cache/row_record.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace headrace {
namespace {

// A record: the number of tensors; of each its dtype, rank, dimensions, and the bytes of its payload; then the
// payloads. Numbers are 64 bits wide, little-endian. A payload of byte strings begins with the end of each.
constexpr size_t kWord = sizeof(uint64_t);
constexpr uint64_t kMostColumns = 1 << 16;
constexpr uint64_t kMostAxes = 64;
constexpr uint64_t kLeastHead = 3 * kWord;

size_t Aligned(size_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

size_t HeadBytes(absl::Span<const Tensor> row) {
  size_t words = 1;
  for (const Tensor& tensor : row) words += 3 + static_cast<size_t>(tensor.rank());
  return words * kWord;
}

size_t PayloadBytes(const Tensor& tensor) {
  if (!IsVariableLength(tensor.dtype())) return tensor.bytes();
  return tensor.bytes() + kWord * static_cast<size_t>(tensor.elements());
}

void PutWord(uint8_t*& at, uint64_t word) {
  std::memcpy(at, &word, kWord);
  at += kWord;
}

void WritePayload(const Tensor& tensor, uint8_t* target) {
  if (!IsVariableLength(tensor.dtype())) {
    tensor.CopyTo(target);
    return;
  }
  uint64_t end = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) PutWord(target, end += tensor.bytes_at(i).size());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const std::string_view bytes = tensor.bytes_at(i);
    if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
    target += bytes.size();
  }
}

// Takes words from the front of what is left; 0 once there are none, which `good` tells.
struct WordReader {
  absl::Span<const uint8_t> left;
  bool good = true;

  uint64_t Next() {
    uint64_t word = 0;
    good &= left.size() >= kWord;
    if (!good) return 0;
    std::memcpy(&word, left.data(), kWord);
    left.remove_prefix(kWord);
    return word;
  }
};

struct TensorHead {
  DType dtype = DType::kUnknown;
  Shape shape;
  size_t payload = 0;
};

bool ReadHead(WordReader& words, TensorHead& head) {
  const uint64_t dtype = words.Next();
  const uint64_t rank = words.Next();
  if (dtype == 0 || dtype > static_cast<uint64_t>(DType::kString) || rank > kMostAxes) return false;
  head.dtype = static_cast<DType>(dtype);
  // Of a tensor without the axes that have no elements: strides must fit, too, where there is nothing to step over.
  int64_t bytes = IsVariableLength(head.dtype) ? int64_t{kWord} : static_cast<int64_t>(ItemSize(head.dtype));
  bool empty = false;
  for (uint64_t axis = 0; axis < rank; ++axis) {
    const auto dim = static_cast<int64_t>(words.Next());
    if (dim < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(1, dim), &bytes)) return false;
    empty |= dim == 0;
    head.shape.push_back(dim);
  }
  if (empty) bytes = 0;
  head.payload = words.Next();
  const auto least = static_cast<uint64_t>(bytes);
  return words.good && (IsVariableLength(head.dtype) ? head.payload >= least : head.payload == least);
}

// Any other byte in a bool is undefined behaviour for the reader.
bool AreBools(absl::Span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte <= 1; });
}

absl::StatusOr<Tensor> ReadStrings(const TensorHead& head, absl::Span<const uint8_t> payload,
                                   const std::function<BufferRef(size_t)>& hold) {
  WordReader ends{payload};
  const size_t count = static_cast<size_t>(ElementCount(head.shape));
  const char* bytes = reinterpret_cast<const char*>(payload.data()) + count * kWord;
  const size_t length = payload.size() - count * kWord;
  std::vector<std::string_view> elements;
  size_t begin = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t end = ends.Next();
    if (end < begin || end > length) return DataError("a record's byte strings do not fit into it");
    elements.emplace_back(bytes + begin, end - begin);
    begin = end;
  }
  if (begin != length) return DataError("a record's byte strings do not fill it");
  if (!head.shape.empty()) return Tensor::CopyBytesArray(head.dtype, head.shape, elements);
  return Tensor::ViewBytes(head.dtype, hold(length), bytes, elements[0].size());
}

}  // namespace

size_t RecordBytes(absl::Span<const Tensor> row) {
  size_t bytes = HeadBytes(row);
  for (const Tensor& tensor : row) bytes = Aligned(bytes) + PayloadBytes(tensor);
  return bytes;
}

void WriteRecord(absl::Span<const Tensor> row, uint8_t* target) {
  uint8_t* head = target;
  size_t at = HeadBytes(row);
  PutWord(head, row.size());
  for (const Tensor& tensor : row) {
    PutWord(head, static_cast<uint64_t>(tensor.dtype()));
    PutWord(head, static_cast<uint64_t>(tensor.rank()));
    for (const int64_t dim : tensor.shape()) PutWord(head, static_cast<uint64_t>(dim));
    PutWord(head, PayloadBytes(tensor));
    // Leaves no byte of the gap unsaid, so that equal rows are equal records.
    std::memset(target + at, 0, Aligned(at) - at);
    at = Aligned(at);
    WritePayload(tensor, target + at);
    at += PayloadBytes(tensor);
  }
}

absl::StatusOr<std::vector<Tensor>> ReadRecord(absl::Span<const uint8_t> record,
                                               const std::function<BufferRef(size_t bytes)>& hold) {
  const auto bad = [] { return DataError("these bytes are no record of a row"); };
  WordReader words{record};
  const uint64_t count = words.Next();
  if (!words.good || count > std::min(kMostColumns, words.left.size() / kLeastHead)) return bad();
  std::vector<TensorHead> heads(count);
  for (TensorHead& head : heads) {
    if (!ReadHead(words, head)) return bad();
  }
  size_t at = record.size() - words.left.size();
  std::vector<Tensor> row;
  for (const TensorHead& head : heads) {
    at = Aligned(at);
    if (at > record.size() || head.payload > record.size() - at) return bad();
    const absl::Span<const uint8_t> payload = record.subspan(at, head.payload);
    at += head.payload;
    if (!IsVariableLength(head.dtype)) {
      if (head.dtype == DType::kBool && !AreBools(payload)) return bad();
      row.push_back(Tensor::View(head.dtype, head.shape, hold(payload.size()), payload.data()));
      continue;
    }
    HEADRACE_ASSIGN_OR_RETURN(Tensor strings, ReadStrings(head, payload, hold));
    row.push_back(std::move(strings));
  }
  return row;
}

}  // namespace headrace

#include "ops/source/mindrecord/mind_array.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/formats/mindrecord/packed_integers.h"

namespace headrace {
namespace {

bool IsPacked(const MindField& field, bool packed) { return packed && IsInteger(field.dtype); }

absl::Status OfArray(const MindField& field, const absl::Status& error) {
  return Reworded(error, Cat("the array \"", field.name, "\": ", error.message()));
}

absl::StatusOr<int64_t> ElementsOf(const MindField& field, bool packed, std::string_view bytes) {
  if (IsPacked(field, packed)) {
    HEADRACE_ASSIGN_OR_RETURN(const PackedIntegers integers, PackedIntegers::Of(bytes));
    return integers.size();
  }
  const size_t item = ItemSize(field.dtype);
  if (bytes.size() % item == 0) return static_cast<int64_t>(bytes.size() / item);
  return DataError("its ", bytes.size(), " bytes are no whole number of ", DTypeName(field.dtype));
}

// Of an array of so many elements.
absl::StatusOr<Shape> ShapeOfRow(const MindField& field, int64_t elements) {
  Shape shape = field.shape;
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& size : shape) {
    if (size < 0) {
      unknown = &size;
    } else {
      known *= size;
    }
  }
  const bool fits = unknown == nullptr ? elements == known : elements % known == 0;
  if (!fits) return DataError("it has ", elements, " elements, which do not make the shape ", ShapeName(field.shape));
  if (unknown != nullptr) *unknown = elements / known;
  return shape;
}

absl::Status CopyArray(const MindField& field, bool packed, std::string_view bytes, uint8_t* target) {
  if (!IsPacked(field, packed)) {
    if (!bytes.empty()) std::memcpy(target, bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  HEADRACE_ASSIGN_OR_RETURN(const PackedIntegers integers, PackedIntegers::Of(bytes));
  return field.dtype == DType::kInt32 ? integers.CopyTo(reinterpret_cast<int32_t*>(target))
                                      : integers.CopyTo(reinterpret_cast<int64_t*>(target));
}

// The elements of each row before the first that is damaged.
std::vector<int64_t> CountElements(const MindField& field, bool packed, size_t rows, BytesOfRow bytes_of,
                                   absl::Status& wrong) {
  std::vector<int64_t> counts;
  counts.reserve(rows);
  for (size_t row = 0; row < rows; ++row) {
    const absl::StatusOr<int64_t> elements = ElementsOf(field, packed, bytes_of(row));
    const absl::Status fits = elements.ok() ? ShapeOfRow(field, *elements).status() : elements.status();
    if (!fits.ok()) {
      wrong = OfArray(field, fits);
      break;
    }
    counts.push_back(*elements);
  }
  return counts;
}

// Returns how many rows could be copied.
size_t CopyArrays(const MindField& field, bool packed, absl::Span<const int64_t> counts, BytesOfRow bytes_of,
                  uint8_t* target, absl::Status& wrong) {
  for (size_t row = 0; row < counts.size(); ++row) {
    if (absl::Status copied = CopyArray(field, packed, bytes_of(row), target); !copied.ok()) {
      wrong = OfArray(field, copied);
      return row;
    }
    target += static_cast<size_t>(counts[row]) * ItemSize(field.dtype);
  }
  return counts.size();
}

// Arrays that are end to end in the buffer.
BlockColumn ViewArrays(const MindField& field, absl::Span<const int64_t> counts, const BufferRef& buffer) {
  const bool alike = std::all_of(field.shape.begin(), field.shape.end(), [](int64_t size) { return size >= 0; });
  if (alike && counts.size() > 1) {
    Shape stacked = {static_cast<int64_t>(counts.size())};
    stacked.insert(stacked.end(), field.shape.begin(), field.shape.end());
    return BlockColumn::Stacked(Tensor::View(field.dtype, stacked, buffer, buffer->data()));
  }
  BlockColumn column;
  const uint8_t* at = buffer->data();
  for (const int64_t elements : counts) {
    column.Append(Tensor::View(field.dtype, *ShapeOfRow(field, elements), buffer, at));
    at += static_cast<size_t>(elements) * ItemSize(field.dtype);
  }
  return column;
}

}  // namespace

size_t MindArrayColumn(const MindField& field, bool packed, size_t rows, BytesOfRow bytes_of, BlockColumn& column,
                       absl::Status& wrong) {
  const std::vector<int64_t> counts = CountElements(field, packed, rows, bytes_of, wrong);
  size_t bytes = 0;
  for (const int64_t elements : counts) bytes += static_cast<size_t>(elements) * ItemSize(field.dtype);
  const BufferRef buffer = BufferPool::Current().Allocate(bytes);
  if (!buffer) {
    wrong = ResourceError("no memory for ", bytes, " bytes of the array \"", field.name, "\"");
    return 0;
  }
  const size_t good = CopyArrays(field, packed, counts, bytes_of, buffer->data(), wrong);
  if (good > 0) column = ViewArrays(field, absl::MakeConstSpan(counts).first(good), buffer);
  return good;
}

}  // namespace headrace

#include "engine/device/device_layout.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

// Of a column within the memory of its batch.
constexpr size_t kAlignment = 256;

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t ValueBytes(const Tensor& source, const DeviceTail& tail) {
  return static_cast<size_t>(source.elements()) * ItemSize(tail.table.dtype());
}

ByteMapping MappingOf(const Tensor& source, const DeviceTail& tail) {
  const Shape& shape = source.shape();
  const size_t rank = shape.size();
  ByteMapping mapping{};
  mapping.channels = static_cast<uint32_t>(shape[rank - 1]);
  mapping.width = static_cast<uint32_t>(shape[rank - 2]);
  mapping.height = static_cast<uint32_t>(shape[rank - 3]);
  mapping.pictures = static_cast<uint64_t>(source.elements()) / mapping.values_of_picture();
  mapping.planes = tail.planes ? 1 : 0;
  return mapping;
}

}  // namespace

void DeviceLayout::Add(size_t column, Tensor source) {
  bytes_ += Aligned(source.bytes());
  columns_.push_back({column, std::move(source), nullptr, std::nullopt});
}

void DeviceLayout::Add(size_t column, Tensor source, const DeviceTail& tail, std::optional<Tensor> marks) {
  bytes_ += Aligned(ValueBytes(source, tail)) + Aligned(source.bytes()) + Aligned(tail.table.bytes());
  if (marks.has_value()) bytes_ += Aligned(marks->bytes());
  columns_.push_back({column, std::move(source), &tail, std::move(marks)});
}

size_t DeviceLayout::bytes() const { return std::max(bytes_, kAlignment); }

void DeviceLayout::Place(uint8_t* memory, const BufferRef& keeper, absl::Span<Tensor> row) {
  const auto copy = [&](const Tensor& source) {
    if (source.bytes() > 0) copies_.push_back({memory, source.raw(), source.bytes()});
    return std::exchange(memory, memory + Aligned(source.bytes()));
  };
  for (const Column& column : columns_) {
    const Tensor& source = column.source;
    if (column.tail == nullptr) {
      row[column.number] = Tensor::View(source.dtype(), source.shape(), keeper, copy(source));
      continue;
    }
    const Tensor& table = column.tail->table;
    uint8_t* const values = std::exchange(memory, memory + Aligned(ValueBytes(source, *column.tail)));
    row[column.number] = Tensor::View(table.dtype(), column.tail->ShapeOf(source.shape()), keeper, values);
    if (source.bytes() == 0) continue;
    ByteMapping mapping = MappingOf(source, *column.tail);
    mapping.values = values;
    mapping.bytes = copy(source);
    mapping.table = copy(table);
    if (column.marks.has_value()) mapping.marks = copy(*column.marks);
    mappings_.push_back({mapping, ItemSize(table.dtype())});
  }
}

std::vector<Tensor> DeviceLayout::sources() const {
  std::vector<Tensor> sources;
  for (const Column& column : columns_) {
    sources.push_back(column.source);
    if (column.marks.has_value()) sources.push_back(*column.marks);
  }
  return sources;
}

}  // namespace headrace

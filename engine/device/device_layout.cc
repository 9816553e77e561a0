#include "engine/device/device_layout.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

// Of a column within the memory of its batch.
constexpr size_t kAlignment = 256;

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t ValueBytes(const Tensor& source, const DeviceTail& tail) {
  return static_cast<size_t>(ElementCount(tail.ShapeOf(source.shape()))) * ItemSize(tail.table.dtype());
}

ByteMapping MappingOf(const Tensor& source, const DeviceTail& tail) {
  const Shape& shape = source.shape();
  const size_t rank = shape.size();
  ByteMapping mapping{};
  mapping.channels = static_cast<uint32_t>(shape[rank - 1]);
  mapping.byte_width = static_cast<uint32_t>(shape[rank - 2]);
  mapping.byte_height = static_cast<uint32_t>(shape[rank - 3]);
  mapping.width = tail.resizes() ? tail.width : mapping.byte_width;
  mapping.height = tail.resizes() ? tail.height : mapping.byte_height;
  mapping.images = static_cast<uint64_t>(source.elements()) / mapping.bytes_of_image();
  mapping.planes = tail.planes ? 1 : 0;
  mapping.mixing = tail.mixing;
  return mapping;
}

}  // namespace

void DeviceLayout::Add(size_t column, Tensor source) {
  bytes_ += Aligned(source.bytes());
  columns_.push_back({column, std::move(source), nullptr, {}});
}

void DeviceLayout::Add(size_t column, Tensor source, const DeviceTail& tail, DrawnTensors drawn) {
  bytes_ += Aligned(ValueBytes(source, tail)) + Aligned(source.bytes()) + Aligned(tail.table.bytes());
  for (const std::optional<Tensor>& each : drawn) {
    if (each.has_value()) bytes_ += Aligned(each->bytes());
  }
  columns_.push_back({column, std::move(source), &tail, std::move(drawn)});
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
    const void* drawn[kDrawnKinds] = {};
    for (size_t kind = 0; kind < kDrawnKinds; ++kind) {
      if (column.drawn[kind].has_value()) drawn[kind] = copy(*column.drawn[kind]);
    }
    mapping.taps = static_cast<const int32_t*>(drawn[static_cast<size_t>(Drawn::kTaps)]);
    if (column.tail->resizes()) {
      const auto numbers = static_cast<uint32_t>(column.drawn[static_cast<size_t>(Drawn::kTaps)]->shape().back());
      mapping.weights = (numbers - 1) / (mapping.height + mapping.width) - 2;
    }
    mapping.marks = static_cast<const uint8_t*>(drawn[static_cast<size_t>(Drawn::kMarks)]);
    mapping.erased = static_cast<const ImageBox*>(drawn[static_cast<size_t>(Drawn::kErased)]);
    mapping.mixed = static_cast<const MixedImage*>(drawn[static_cast<size_t>(Drawn::kMixed)]);
    mappings_.push_back({mapping, ItemSize(table.dtype())});
  }
}

std::vector<Tensor> DeviceLayout::sources() const {
  std::vector<Tensor> sources;
  for (const Column& column : columns_) {
    sources.push_back(column.source);
    for (const std::optional<Tensor>& drawn : column.drawn) {
      if (drawn.has_value()) sources.push_back(*drawn);
    }
  }
  return sources;
}

}  // namespace headrace

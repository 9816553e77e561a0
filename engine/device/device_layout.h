// `DeviceLayout` places the columns of a batch in its memory on a device, one aligned place after the other, with the
// copies and mappings that fill them. A column with a tail has a place for its values, and one for each of what they
// are made of: its bytes, the table, and what was drawn for each image.
// Threads: used by one thread, for one batch.
#ifndef HEADRACE_ENGINE_DEVICE_DEVICE_LAYOUT_H_
#define HEADRACE_ENGINE_DEVICE_DEVICE_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/tensor.h"
#include "engine/device/device.h"
#include "engine/device/device_tail.h"

namespace headrace {

class DeviceLayout {
 public:
  // A row-major tensor of numbers, which is copied as it is.
  void Add(size_t column, Tensor source);
  // What was drawn for each of its images, as the tail's `drawn`.
  using DrawnTensors = std::array<std::optional<Tensor>, kDrawnKinds>;
  // One with the tail, which outlives the layout.
  void Add(size_t column, Tensor source, const DeviceTail& tail, DrawnTensors drawn);

  bool empty() const { return columns_.empty(); }
  // Of the whole batch.
  size_t bytes() const;
  // Places the columns at `memory`: their tensors replace those of `row`, and refer to `keeper`.
  void Place(uint8_t* memory, const BufferRef& keeper, absl::Span<Tensor> row);
  // After Place.
  DeviceFill fill() const { return {copies_, mappings_}; }
  // What is copied, which must stay until the fill is done.
  std::vector<Tensor> sources() const;

 private:
  struct Column {
    size_t number;
    Tensor source;
    const DeviceTail* tail;  // null: it is copied as it is
    DrawnTensors drawn;
  };

  std::vector<Column> columns_;
  size_t bytes_ = 0;
  std::vector<DeviceCopy> copies_;
  std::vector<DeviceMapping> mappings_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_DEVICE_DEVICE_LAYOUT_H_

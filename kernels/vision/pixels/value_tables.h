// `ValueTables` holds steps that map bytes to bytes, as one table of 256 values for each channel: however long the
// chain, a value costs one look-up, and each step's rounding is kept.
// Threads: filled by one thread; const afterwards, and safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_VALUE_TABLES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_VALUE_TABLES_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "kernels/vision/image/pixel_step.h"

namespace headrace {

class ValueTables : public PixelStep {
 public:
  // Maps each value to itself.
  explicit ValueTables(int64_t channels);
  // `step` is by value and gives uint8 for uint8.
  void Then(const PixelStep& step, const PixelFacts& facts);

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override { return before; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override;

 private:
  using Table = std::array<uint8_t, 256>;
  absl::InlinedVector<Table, 3> tables_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_VALUE_TABLES_H_

// `FilterRows` and `FilterColumns` are the two passes of a separable filter: each value of the result is a weighted sum
// of neighbours. uint8 is computed in 22-bit fixed point, float32 is summed in double, in the order of the neighbours,
// and so is uint16, which is rounded to the nearest and clamped; the bits are the same on every CPU.
// Threads: pure functions; safe from any thread.
#ifndef HEADRACE_KERNELS_VISION_PIXELS_RESAMPLE_PASSES_H_
#define HEADRACE_KERNELS_VISION_PIXELS_RESAMPLE_PASSES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace {

// The input of each output position along an axis: `count[i]` neighbours from `first[i]` on, weighted by weights[i *
// taps …].
struct FilterTaps {
  int taps = 0;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<double> weights;

  // A thread keeps memory for up to this many, so that a row needs no allocation.
  static constexpr size_t kMostKept = size_t{1} << 15;
};

// As uint8 is computed: 1, and a weight.
inline constexpr int32_t kFixedOne = 1 << 22;
int32_t FixedWeight(double weight);

// Rows of pixels, `stride` bytes apart.
struct PixelRun {
  const uint8_t* pixels = nullptr;
  int64_t stride = 0;
  int64_t width = 0;  // pixels
  int64_t channels = 0;
};

// Filters each of `rows` rows along itself; the results are contiguous.
void FilterRows(const PixelRun& source, int64_t rows, const FilterTaps& taps, uint8_t* target);
void FilterRows(const PixelRun& source, int64_t rows, const FilterTaps& taps, float* target);
void FilterRows(const PixelRun& source, int64_t rows, const FilterTaps& taps, uint16_t* target);

// Weighted sums of whole rows, one for each position of the taps.
void FilterColumns(const PixelRun& source, const FilterTaps& taps, uint8_t* target);
void FilterColumns(const PixelRun& source, const FilterTaps& taps, float* target);
void FilterColumns(const PixelRun& source, const FilterTaps& taps, uint16_t* target);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_VISION_PIXELS_RESAMPLE_PASSES_H_

#include "benchmarks/antialias_loop.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "benchmarks/cpu_clones.h"

namespace headrace {
namespace {

constexpr int kBlock = 32;  // elements summed at once

// A vector of one pixel; the fourth lane is unused.
typedef float Four __attribute__((vector_size(16)));

// One row from `count` rows of bytes.
HEADRACE_CPU_CLONES void SumRows(const uint8_t* rows, size_t row_bytes, const float* weights, int count, int elements,
                                 float* sum) {
  int x = 0;
  for (; x + kBlock <= elements; x += kBlock) {
    float sums[kBlock] = {};
    for (int k = 0; k < count; ++k) {
      const uint8_t* row = rows + k * row_bytes + x;
      for (int i = 0; i < kBlock; ++i) sums[i] += static_cast<float>(row[i]) * weights[k];
    }
    std::memcpy(sum + x, sums, sizeof(sums));
  }
  for (; x < elements; ++x) {
    sum[x] = 0;
    for (int k = 0; k < count; ++k) sum[x] += static_cast<float>(rows[k * row_bytes + x]) * weights[k];
  }
}

// One row of the result, from a row of pixels.
HEADRACE_CPU_CLONES void SumAlongRow(const float* row, const int* first, const float* weights, int taps,
                                     const float* scale, const float* shift, float* planes) {
  constexpr size_t kPlane = size_t{AntialiasLoop::kSide} * AntialiasLoop::kSide;
  const Four scales = {scale[0], scale[1], scale[2]};
  const Four shifts = {shift[0], shift[1], shift[2]};
  for (int x = 0; x < AntialiasLoop::kSide; ++x, weights += taps) {
    const float* pixel = row + 3 * first[x];
    Four sum = {};
    for (int k = 0; k < taps; ++k) {
      Four values;
      std::memcpy(&values, pixel + 3 * k, sizeof(values));
      sum += values * weights[k];
    }
    sum = sum * scales + shifts;
    for (int c = 0; c < 3; ++c) planes[c * kPlane + x] = sum[c];
  }
}

}  // namespace

void AntialiasLoop::MakeAxis(int in_size, int out_size, Axis& axis) {
  const int begin = static_cast<int>(std::nearbyint((out_size - kSide) / 2.0));
  const double scale = static_cast<double>(in_size) / out_size;
  const double support = std::max(scale, 1.0);
  const auto first_of = [&](double center) { return std::max(static_cast<int>(center - support + 0.5), 0); };
  const auto last_of = [&](double center) { return std::min(static_cast<int>(center + support + 0.5), in_size); };
  axis.begin = first_of((begin + 0.5) * scale);
  axis.size = last_of((begin + kSide - 0.5) * scale) - axis.begin;
  axis.taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  axis.first.resize(kSide);
  axis.count.resize(kSide);
  axis.weights.assign(static_cast<size_t>(kSide) * axis.taps, 0.0f);
  for (int i = 0; i < kSide; ++i) {
    const double center = (begin + i + 0.5) * scale;
    const int first = first_of(center);
    axis.first[i] = first - axis.begin;
    axis.count[i] = last_of(center) - first;
    float* weights = &axis.weights[static_cast<size_t>(i) * axis.taps];
    double total = 0;
    for (int k = 0; k < axis.count[i]; ++k) {
      const double weight = std::max(1 - std::abs((first + k + 0.5 - center) / support), 0.0);
      weights[k] = static_cast<float>(weight);
      total += weight;
    }
    for (int k = 0; k < axis.count[i]; ++k) weights[k] = static_cast<float>(weights[k] / total);
  }
}

Box AntialiasLoop::Plan(int width, int height) {
  const int shorter = std::min(width, height);
  MakeAxis(width, kShorterSide * width / shorter, columns_);
  MakeAxis(height, kShorterSide * height / shorter, rows_);
  return {columns_.begin, rows_.begin, columns_.size, rows_.size};
}

void AntialiasLoop::Run(const Pixels& pixels, const float* scale, const float* shift, float* planes) {
  const int elements = columns_.size * 3;
  // With room for the values read with weights of zero.
  row_.assign(elements + 3 * columns_.taps + 4, 0.0f);
  for (int y = 0; y < kSide; ++y) {
    SumRows(pixels.data + rows_.first[y] * pixels.row_bytes, pixels.row_bytes,
            &rows_.weights[static_cast<size_t>(y) * rows_.taps], rows_.count[y], elements, row_.data());
    SumAlongRow(row_.data(), columns_.first.data(), columns_.weights.data(), columns_.taps, scale, shift,
                planes + static_cast<size_t>(y) * kSide);
  }
}

}  // namespace headrace

#include "kernels/vision/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/error.h"
#include "kernels/cpu_target.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace {
namespace {

constexpr int kPrecisionBits = 32 - 8 - 2;
constexpr int kHalf = 1 << (kPrecisionBits - 1);
constexpr int kBlock = 32;  // elements of a row summed at once

double Support(Filter filter) {
  if (filter == Filter::kBox) return 0.5;
  return filter == Filter::kBilinear ? 1.0 : 2.0;
}

double Weight(Filter filter, double x) {
  if (filter == Filter::kBox) return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
  x = std::abs(x);
  if (filter == Filter::kBilinear) return x < 1.0 ? 1.0 - x : 0.0;
  constexpr double kA = -0.5;
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

// How positions of the output fall on an axis of the input.
struct Axis {
  Axis(Filter filter, int64_t in, int64_t out)
      : in_size(static_cast<int>(in)), scale(static_cast<double>(in) / static_cast<double>(out)) {
    const double filter_scale = std::max(scale, 1.0);
    support = Support(filter) * filter_scale;
    inverse = 1.0 / filter_scale;
  }
  double Center(int64_t at) const { return (static_cast<double>(at) + 0.5) * scale; }
  int First(int64_t at) const { return std::max(static_cast<int>(Center(at) - support + 0.5), 0); }
  // The first that is not read any more.
  int Last(int64_t at) const { return std::min(static_cast<int>(Center(at) + support + 0.5), in_size); }

  int in_size;
  double scale;
  double support;
  double inverse;
};

// Weights as the arithmetic of T wants them: fixed point for uint8, double for float.
template <typename T>
using WeightOf = std::conditional_t<std::is_same_v<T, uint8_t>, int32_t, double>;

std::vector<int32_t> FixedPoint(const std::vector<double>& weights) {
  std::vector<int32_t> fixed(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    fixed[i] = static_cast<int32_t>((weights[i] < 0 ? -0.5 : 0.5) + weights[i] * (1 << kPrecisionBits));
  }
  return fixed;
}

template <typename T>
struct Sum;

template <>
struct Sum<uint8_t> {
  using type = int32_t;
  static constexpr int32_t kStart = kHalf;
  HEADRACE_LOOP static uint8_t Store(int32_t sum) {
    return static_cast<uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
  }
};

template <>
struct Sum<float> {
  using type = double;
  static constexpr double kStart = 0.0;
  HEADRACE_LOOP static float Store(double sum) { return static_cast<float>(sum); }
};

// One output row of the pass along rows. `kChannels` 0: any number, given by `channels`.
template <typename T, int kChannels>
constexpr auto kAlongRow = [](const T* source, const int* first, const int* count, const WeightOf<T>* weights, int taps,
                              int64_t width, int64_t channels, T* target) HEADRACE_LOOP {
  using S = typename Sum<T>::type;
  if constexpr (kChannels > 0) channels = kChannels;
  for (int64_t x = 0; x < width; ++x) {
    const T* pixel = source + first[x] * channels;
    const WeightOf<T>* weight = weights + x * taps;
    if constexpr (kChannels > 0) {
      S sums[kChannels];
      for (int c = 0; c < kChannels; ++c) sums[c] = Sum<T>::kStart;
      for (int i = 0; i < count[x]; ++i) {
        for (int c = 0; c < kChannels; ++c) sums[c] += static_cast<S>(pixel[i * kChannels + c]) * weight[i];
      }
      for (int c = 0; c < kChannels; ++c) target[x * kChannels + c] = Sum<T>::Store(sums[c]);
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      S sum = Sum<T>::kStart;
      for (int i = 0; i < count[x]; ++i) sum += static_cast<S>(pixel[i * channels + c]) * weight[i];
      target[x * channels + c] = Sum<T>::Store(sum);
    }
  }
};

#if defined(__x86_64__)
// The pass along rows for two rows of 3-channel bytes at once: a vector holds the three sums of both. Reads a byte
// beyond each pixel, so `width` ends before positions that reach the row's last.
HEADRACE_AVX2 void AlongTwoRowsOf3(const uint8_t* upper, const uint8_t* lower, const FilterTaps& taps,
                                   const int32_t* weights, int64_t width, uint8_t* upper_target,
                                   uint8_t* lower_target) {
  const __m256i half = _mm256_set1_epi32(kHalf);
  for (int64_t x = 0; x < width; ++x) {
    const int32_t* weight = weights + x * taps.taps;
    const int64_t begin = static_cast<int64_t>(taps.first[x]) * 3;
    __m256i sums = half;
    for (int64_t i = 0; i < taps.count[x]; ++i) {
      uint32_t above, below;
      std::memcpy(&above, upper + begin + i * 3, sizeof(above));
      std::memcpy(&below, lower + begin + i * 3, sizeof(below));
      const __m128i bytes = _mm_insert_epi32(_mm_cvtsi32_si128(static_cast<int>(above)), static_cast<int>(below), 1);
      sums = _mm256_add_epi32(sums, _mm256_mullo_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_set1_epi32(weight[i])));
    }
    sums = _mm256_srai_epi32(sums, kPrecisionBits);
    // Packing clamps to 0 … 255, within each half.
    sums = _mm256_packus_epi16(_mm256_packus_epi32(sums, sums), sums);
    const uint32_t above = static_cast<uint32_t>(_mm256_extract_epi32(sums, 0));
    const uint32_t below = static_cast<uint32_t>(_mm256_extract_epi32(sums, 4));
    std::memcpy(upper_target + x * 3, &above, 3);
    std::memcpy(lower_target + x * 3, &below, 3);
  }
}
#endif

// One output row of the pass along columns: whole rows weighted and summed.
template <typename T>
constexpr auto kAlongColumn = [](const uint8_t* source, int64_t stride, int count, const WeightOf<T>* weights,
                                 int64_t elements, T* target) HEADRACE_LOOP {
  using S = typename Sum<T>::type;
  int64_t x = 0;
  for (; x + kBlock <= elements; x += kBlock) {
    S sums[kBlock];
    for (int i = 0; i < kBlock; ++i) sums[i] = Sum<T>::kStart;
    for (int k = 0; k < count; ++k) {
      const T* row = reinterpret_cast<const T*>(source + k * stride) + x;
      for (int i = 0; i < kBlock; ++i) sums[i] += static_cast<S>(row[i]) * weights[k];
    }
    for (int i = 0; i < kBlock; ++i) target[x + i] = Sum<T>::Store(sums[i]);
  }
  for (; x < elements; ++x) {
    S sum = Sum<T>::kStart;
    for (int k = 0; k < count; ++k) {
      sum += static_cast<S>(reinterpret_cast<const T*>(source + k * stride)[x]) * weights[k];
    }
    target[x] = Sum<T>::Store(sum);
  }
};

template <typename T>
std::vector<WeightOf<T>> WeightsFor(const FilterTaps& taps) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return FixedPoint(taps.weights);
  } else {
    return taps.weights;
  }
}

template <typename T>
using RowLoop = void (*)(const T*, const int*, const int*, const WeightOf<T>*, int, int64_t, int64_t, T*);

template <typename T, int kChannels>
void AlongRow(const T* source, const int* first, const int* count, const WeightOf<T>* weights, int taps, int64_t width,
              int64_t channels, T* target) {
  RunOnCpu(kAlongRow<T, kChannels>, source, first, count, weights, taps, width, channels, target);
}

template <typename T>
RowLoop<T> RowLoopFor(int64_t channels) {
  if (channels == 1) return AlongRow<T, 1>;
  return channels == 3 ? AlongRow<T, 3> : AlongRow<T, 0>;
}

// Positions before the first that reads the row's last pixel.
int64_t PositionsBeforeTheEnd(const FilterTaps& taps, int64_t in_width) {
  int64_t positions = static_cast<int64_t>(taps.first.size());
  while (positions > 0 && taps.first[positions - 1] + taps.count[positions - 1] >= in_width) --positions;
  return positions;
}

// Pairs of rows, as many as there are; returns the rows done.
int64_t AlongPairsOfRows(const Image& image, int64_t first_row, int64_t rows, const FilterTaps& taps,
                         const std::vector<int32_t>& weights, int64_t width, uint8_t* target) {
  int64_t y = 0;
#if defined(__x86_64__)
  if (!HasAvx2() || image.channels != 3) return 0;
  const int64_t safe = PositionsBeforeTheEnd(taps, image.width);
  for (; y + 2 <= rows; y += 2) {
    const uint8_t* sources[] = {image.row(first_row + y), image.row(first_row + y + 1)};
    uint8_t* targets[] = {target + y * width * 3, target + (y + 1) * width * 3};
    AlongTwoRowsOf3(sources[0], sources[1], taps, weights.data(), safe, targets[0], targets[1]);
    for (int i = 0; i < 2; ++i) {
      AlongRow<uint8_t, 3>(sources[i], taps.first.data() + safe, taps.count.data() + safe,
                           weights.data() + safe * taps.taps, taps.taps, width - safe, 3, targets[i] + safe * 3);
    }
  }
#endif
  return y;
}

template <typename T>
void AlongRows(const Image& image, int64_t first_row, int64_t rows, const FilterTaps& taps, int64_t width, T* target) {
  const std::vector<WeightOf<T>> weights = WeightsFor<T>(taps);
  const RowLoop<T> loop = RowLoopFor<T>(image.channels);
  int64_t y = 0;
  if constexpr (std::is_same_v<T, uint8_t>) {
    y = AlongPairsOfRows(image, first_row, rows, taps, weights, width, target);
  }
  for (; y < rows; ++y) {
    loop(reinterpret_cast<const T*>(image.row(first_row + y)), taps.first.data(), taps.count.data(), weights.data(),
         taps.taps, width, image.channels, target + y * width * image.channels);
  }
}

template <typename T>
void AlongColumns(const uint8_t* source, int64_t stride, int64_t skipped_rows, const FilterTaps& taps, int64_t height,
                  int64_t elements, T* target) {
  const std::vector<WeightOf<T>> weights = WeightsFor<T>(taps);
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* rows = source + (taps.first[y] - skipped_rows) * stride;
    const WeightOf<T>* weight = weights.data() + y * taps.taps;
    RunOnCpu(kAlongColumn<T>, rows, stride, taps.count[y], weight, elements, target + y * elements);
  }
}

void CopyRows(const Image& image, uint8_t* target) {
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) std::memcpy(target + y * row_bytes, image.row(y), row_bytes);
}

// Pillow 13 takes the columns first where the height shrinks by more than twice what the width does; earlier versions
// never did. Rounding between the passes makes the order show.
bool ColumnsFirst(const SourcePart& source, int64_t height, int64_t width) {
  const int64_t shrink = source.height - height;
  return shrink > 0 && shrink > 2 * (source.width - width);
}

// What both passes are made from; taps count from where the image lies in the source.
struct Passes {
  const Image& image;
  FilterTaps rows;           // of each row of the result, along a column
  FilterTaps columns;        // of each column of the result, along a row
  AxisRange needed_columns;  // of the image
  int64_t height;            // of the result
  int64_t width;
};

template <typename T>
absl::Status RowsThenColumns(const Passes& passes, T* target) {
  const Image& image = passes.image;
  const int64_t elements = passes.width * image.channels;
  // Filters along rows only those that the second pass will read.
  const int64_t first_row = passes.rows.first.front();
  const int64_t rows = passes.rows.first.back() + passes.rows.count.back() - first_row;
  HEADRACE_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(image.dtype(), {rows, elements}));
  AlongRows<T>(image, first_row, rows, passes.columns, passes.width, between.mutable_data<T>());
  AlongColumns<T>(between.raw(), elements * sizeof(T), first_row, passes.rows, passes.height, elements, target);
  return absl::OkStatus();
}

template <typename T>
absl::Status ColumnsThenRows(Passes& passes, T* target) {
  const Image& image = passes.image;
  const AxisRange& needed = passes.needed_columns;
  const int64_t elements = needed.size * image.channels;
  HEADRACE_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(image.dtype(), {passes.height, elements}));
  AlongColumns<T>(image.pixels + needed.begin * image.pixel_bytes(), image.row_stride, 0, passes.rows, passes.height,
                  elements, between.mutable_data<T>());
  Image lower = image;
  lower.pixels = between.raw();
  lower.height = passes.height;
  lower.width = needed.size;
  lower.row_stride = elements * static_cast<int64_t>(sizeof(T));
  for (int& first : passes.columns.first) first -= static_cast<int>(needed.begin);
  AlongRows<T>(lower, 0, passes.height, passes.columns, passes.width, target);
  return absl::OkStatus();
}

template <typename T>
absl::Status ResampleTo(const SourcePart& source, Filter filter, int64_t height, int64_t width, const Window& part,
                        T* target) {
  const Image& image = source.image;
  const AxisRange rows = {part.top, part.height};
  const AxisRange columns = {part.left, part.width};
  const Origin& origin = source.origin;
  if (source.height == height) {
    AlongRows<T>(image, part.top - origin.top, part.height,
                 MakeFilterTaps(filter, source.width, width, columns, origin.left), part.width, target);
    return absl::OkStatus();
  }
  if (source.width == width) {
    AlongColumns<T>(image.pixels + (part.left - origin.left) * image.pixel_bytes(), image.row_stride, 0,
                    MakeFilterTaps(filter, source.height, height, rows, origin.top), part.height,
                    part.width * image.channels, target);
    return absl::OkStatus();
  }
  AxisRange needed = NeededAlongAxis(filter, source.width, width, columns);
  needed.begin -= origin.left;
  Passes passes = {image,
                   MakeFilterTaps(filter, source.height, height, rows, origin.top),
                   MakeFilterTaps(filter, source.width, width, columns, origin.left),
                   needed,
                   part.height,
                   part.width};
  if (ColumnsFirst(source, height, width)) return ColumnsThenRows(passes, target);
  return RowsThenColumns(passes, target);
}

// Where each new pixel's centre lies; -1 cannot occur. Adds up as Pillow does, so that rounding falls alike.
std::vector<int64_t> NearestIndices(int64_t in_size, int64_t out_size) {
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  std::vector<int64_t> indices(out_size);
  double at = scale * 0.5;
  for (int64_t& index : indices) {
    index = std::min(static_cast<int64_t>(at), in_size - 1);
    at += scale;
  }
  return indices;
}

template <int kBytes>
void GatherPixels(const uint8_t* row, const std::vector<int64_t>& columns, int64_t pixel_bytes, uint8_t* target) {
  if constexpr (kBytes > 0) pixel_bytes = kBytes;
  for (const int64_t x : columns) {
    std::memcpy(target, row + x * pixel_bytes, pixel_bytes);
    target += pixel_bytes;
  }
}

}  // namespace

AxisRange NeededAlongAxis(Filter filter, int64_t in_size, int64_t out_size, AxisRange out) {
  if (in_size == out_size) return out;
  const Axis axis(filter, in_size, out_size);
  const int64_t begin = axis.First(out.begin);
  return {begin, axis.Last(out.begin + out.size - 1) - begin};
}

FilterTaps MakeFilterTaps(Filter filter, int64_t in_size, int64_t out_size, AxisRange out, int64_t in_begin) {
  const Axis axis(filter, in_size, out_size);
  FilterTaps result;
  result.taps = static_cast<int>(std::ceil(axis.support)) * 2 + 1;
  result.first.resize(out.size);
  result.count.resize(out.size);
  result.weights.resize(out.size * result.taps);
  for (int64_t i = 0; i < out.size; ++i) {
    const int first = axis.First(out.begin + i);
    const int count = axis.Last(out.begin + i) - first;
    result.first[i] = first - static_cast<int>(in_begin);
    result.count[i] = count;
    double* weights = &result.weights[i * result.taps];
    const double center = axis.Center(out.begin + i);
    double total = 0.0;
    for (int k = 0; k < count; ++k) {
      weights[k] = Weight(filter, (k + first - center + 0.5) * axis.inverse);
      total += weights[k];
    }
    if (total == 0.0) continue;
    for (int k = 0; k < count; ++k) weights[k] /= total;
  }
  return result;
}

absl::StatusOr<Tensor> Resample(const SourcePart& source, Filter filter, int64_t height, int64_t width,
                                const Window& part) {
  const Image& image = source.image;
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, part.height, part.width));
  if (source.height == height && source.width == width) {
    CopyRows(Cropped(image, part.top - source.origin.top, part.left - source.origin.left, part.height, part.width),
             output.mutable_raw());
    return output;
  }
  if (image.dtype() == DType::kUInt8) {
    HEADRACE_RETURN_IF_ERROR(ResampleTo<uint8_t>(source, filter, height, width, part, output.mutable_raw()));
  } else {
    HEADRACE_RETURN_IF_ERROR(ResampleTo<float>(source, filter, height, width, part, output.mutable_data<float>()));
  }
  return output;
}

absl::StatusOr<Tensor> ResampleNearest(const Image& image, int64_t height, int64_t width) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, height, width));
  const std::vector<int64_t> rows = NearestIndices(image.height, height);
  const std::vector<int64_t> columns = NearestIndices(image.width, width);
  const int64_t row_bytes = width * image.pixel_bytes();
  uint8_t* target = output.mutable_raw();
  for (int64_t y = 0; y < height; ++y, target += row_bytes) {
    if (y > 0 && rows[y] == rows[y - 1]) {
      std::memcpy(target, target - row_bytes, row_bytes);
    } else if (image.pixel_bytes() == 3) {
      GatherPixels<3>(image.row(rows[y]), columns, 3, target);
    } else {
      GatherPixels<0>(image.row(rows[y]), columns, image.pixel_bytes(), target);
    }
  }
  return output;
}

}  // namespace headrace

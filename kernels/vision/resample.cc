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
bool ColumnsFirst(const Image& image, int64_t height, int64_t width) {
  const int64_t shrink = image.height - height;
  return shrink > 0 && shrink > 2 * (image.width - width);
}

template <typename T>
absl::Status RowsThenColumns(const Image& image, Filter filter, int64_t height, int64_t width, T* target) {
  const FilterTaps columns = MakeFilterTaps(filter, image.height, height);
  const int64_t elements = width * image.channels;
  // Filters along rows only those that the second pass will read.
  const int64_t first_row = columns.first.front();
  const int64_t rows = columns.first.back() + columns.count.back() - first_row;
  HEADRACE_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(image.dtype(), {rows, elements}));
  AlongRows<T>(image, first_row, rows, MakeFilterTaps(filter, image.width, width), width, between.mutable_data<T>());
  AlongColumns<T>(between.raw(), elements * sizeof(T), first_row, columns, height, elements, target);
  return absl::OkStatus();
}

template <typename T>
absl::Status ColumnsThenRows(const Image& image, Filter filter, int64_t height, int64_t width, T* target) {
  const int64_t elements = image.width * image.channels;
  HEADRACE_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(image.dtype(), {height, elements}));
  AlongColumns<T>(image.pixels, image.row_stride, 0, MakeFilterTaps(filter, image.height, height), height, elements,
                  between.mutable_data<T>());
  Image lower = image;
  lower.pixels = between.raw();
  lower.height = height;
  lower.row_stride = elements * static_cast<int64_t>(sizeof(T));
  AlongRows<T>(lower, 0, height, MakeFilterTaps(filter, image.width, width), width, target);
  return absl::OkStatus();
}

template <typename T>
absl::Status ResampleTo(const Image& image, Filter filter, int64_t height, int64_t width, T* target) {
  if (image.height == height) {
    AlongRows<T>(image, 0, height, MakeFilterTaps(filter, image.width, width), width, target);
    return absl::OkStatus();
  }
  if (image.width == width) {
    AlongColumns<T>(image.pixels, image.row_stride, 0, MakeFilterTaps(filter, image.height, height), height,
                    width * image.channels, target);
    return absl::OkStatus();
  }
  if (ColumnsFirst(image, height, width)) return ColumnsThenRows(image, filter, height, width, target);
  return RowsThenColumns(image, filter, height, width, target);
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

FilterTaps MakeFilterTaps(Filter filter, int64_t in_size, int64_t out_size) {
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double filter_scale = std::max(scale, 1.0);
  const double support = Support(filter) * filter_scale;
  const double inverse = 1.0 / filter_scale;
  FilterTaps result;
  result.taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  result.first.resize(out_size);
  result.count.resize(out_size);
  result.weights.resize(out_size * result.taps);
  for (int64_t i = 0; i < out_size; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const int first = std::max(static_cast<int>(center - support + 0.5), 0);
    const int last = std::min(static_cast<int>(center + support + 0.5), static_cast<int>(in_size));
    result.first[i] = first;
    result.count[i] = last - first;
    double* weights = &result.weights[i * result.taps];
    double total = 0.0;
    for (int k = 0; k < last - first; ++k) {
      weights[k] = Weight(filter, (k + first - center + 0.5) * inverse);
      total += weights[k];
    }
    if (total == 0.0) continue;
    for (int k = 0; k < last - first; ++k) weights[k] /= total;
  }
  return result;
}

absl::StatusOr<Tensor> Resample(const Image& image, Filter filter, int64_t height, int64_t width) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor output, AllocateLike(image, height, width));
  if (image.height == height && image.width == width) {
    CopyRows(image, output.mutable_raw());
    return output;
  }
  if (image.dtype() == DType::kUInt8) {
    HEADRACE_RETURN_IF_ERROR(ResampleTo<uint8_t>(image, filter, height, width, output.mutable_raw()));
  } else {
    HEADRACE_RETURN_IF_ERROR(ResampleTo<float>(image, filter, height, width, output.mutable_data<float>()));
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

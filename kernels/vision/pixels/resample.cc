#include "kernels/vision/pixels/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "absl/types/span.h"
#include "core/error.h"
#include "kernels/vision/pixels/pixels_of_three.h"

namespace headrace {
namespace {

double Support(Filter filter) {
  if (filter == Filter::kBox) return 0.5;
  if (filter == Filter::kLanczos) return 3.0;
  return filter == Filter::kBilinear ? 1.0 : 2.0;
}

double Sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double Weight(Filter filter, double x) {
  if (filter == Filter::kBox) return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
  if (filter == Filter::kLanczos) return x >= -3.0 && x < 3.0 ? Sinc(x) * Sinc(x / 3) : 0.0;
  x = std::abs(x);
  if (filter == Filter::kBilinear) return x < 1.0 ? 1.0 - x : 0.0;
  constexpr double kA = -0.5;
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

// Maps positions of the output to an axis of the input.
struct Axis {
  Axis(Filter filter, int64_t in, int64_t out)
      : in_size(static_cast<int>(in)), scale(static_cast<double>(in) / static_cast<double>(out)) {
    const double filter_scale = std::max(scale, 1.0);
    support = Support(filter) * filter_scale;
    inverse = 1.0 / filter_scale;
  }
  int taps() const { return static_cast<int>(std::ceil(support)) * 2 + 1; }
  double Center(int64_t at) const { return (static_cast<double>(at) + 0.5) * scale; }
  int First(int64_t at) const { return std::max(static_cast<int>(Center(at) - support + 0.5), 0); }
  // One past the last that is read.
  int Last(int64_t at) const { return std::min(static_cast<int>(Center(at) + support + 0.5), in_size); }

  int in_size;
  double scale;
  double support;
  double inverse;
};

PixelRun RunOf(const Image& image) { return {image.pixels, image.row_stride, image.width, image.channels}; }

void CopyRows(const Image& image, uint8_t* target) {
  const int64_t row_bytes = image.width * image.pixel_bytes();
  for (int64_t y = 0; y < image.height; ++y) std::memcpy(target + y * row_bytes, image.row(y), row_bytes);
}

// The inputs of both passes; positions of taps count from the image's offset in the source.
struct Passes {
  const Image& image;
  FilterTaps& rows;          // for each row of the result, along a column
  FilterTaps& columns;       // for each column of the result, along a row
  AxisRange needed_columns;  // of the image
  int64_t height;            // of the result
  int64_t width;
};

template <typename T>
int64_t RowBytes(int64_t elements) {
  return elements * static_cast<int64_t>(sizeof(T));
}

template <typename T>
absl::Status RowsThenColumns(const Passes& passes, T* target) {
  const Image& image = passes.image;
  const int64_t elements = passes.width * image.channels;
  // Filters along rows only the rows that the second pass will read.
  const int64_t first_row = passes.rows.first.front();
  const int64_t rows = passes.rows.first.back() + passes.rows.count.back() - first_row;
  HEADRACE_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(image.dtype(), {rows, elements}));
  PixelRun source = RunOf(image);
  source.pixels = image.row(first_row);
  FilterRows(source, rows, passes.columns, between.mutable_data<T>());
  for (int& first : passes.rows.first) first -= static_cast<int>(first_row);
  FilterColumns({between.raw(), RowBytes<T>(elements), passes.width, image.channels}, passes.rows, target);
  return absl::OkStatus();
}

template <typename T>
absl::Status ColumnsThenRows(const Passes& passes, T* target) {
  const Image& image = passes.image;
  const AxisRange& needed = passes.needed_columns;
  const int64_t elements = needed.size * image.channels;
  HEADRACE_ASSIGN_OR_RETURN(Tensor between, Tensor::Allocate(image.dtype(), {passes.height, elements}));
  FilterColumns({image.pixels + needed.begin * image.pixel_bytes(), image.row_stride, needed.size, image.channels},
                passes.rows, between.mutable_data<T>());
  for (int& first : passes.columns.first) first -= static_cast<int>(needed.begin);
  FilterRows({between.raw(), RowBytes<T>(elements), needed.size, image.channels}, passes.height, passes.columns,
             target);
  return absl::OkStatus();
}

enum class Along { kRow, kColumn };

// In the thread's own memory, or in `large` if that would keep too much.
FilterTaps& TapsFor(Along along, Filter filter, int64_t in_size, int64_t out_size, AxisRange out, int64_t in_begin,
                    FilterTaps& large) {
  thread_local FilterTaps kept[2];
  const size_t weights = static_cast<size_t>(out.size) * Axis(filter, in_size, out_size).taps();
  FilterTaps& taps = weights <= FilterTaps::kMostKept ? kept[along == Along::kRow ? 0 : 1] : large;
  MakeFilterTaps(filter, in_size, out_size, out, in_begin, taps);
  return taps;
}

template <typename T>
absl::Status ResampleTo(const SourcePart& source, Filter filter, int64_t height, int64_t width, const Window& part,
                        T* target) {
  const Image& image = source.image;
  const AxisRange columns = {part.left, part.width};
  const PartOffset& offset = source.offset;
  FilterTaps large[2];
  const auto along_row = [&]() -> FilterTaps& {
    return TapsFor(Along::kRow, filter, source.width, width, columns, offset.left, large[0]);
  };
  const auto along_column = [&]() -> FilterTaps& {
    return TapsFor(Along::kColumn, filter, source.height, height, {part.top, part.height}, offset.top, large[1]);
  };
  if (source.height == height) {
    PixelRun run = RunOf(image);
    run.pixels = image.row(part.top - offset.top);
    FilterRows(run, part.height, along_row(), target);
    return absl::OkStatus();
  }
  if (source.width == width) {
    PixelRun run = RunOf(image);
    run.pixels += (part.left - offset.left) * image.pixel_bytes();
    run.width = part.width;
    FilterColumns(run, along_column(), target);
    return absl::OkStatus();
  }
  AxisRange needed = NeededAlongAxis(filter, source.width, width, columns);
  needed.begin -= offset.left;
  const Passes passes = {image, along_column(), along_row(), needed, part.height, part.width};
  if (FiltersColumnsFirst(source.height, source.width, height, width)) return ColumnsThenRows(passes, target);
  return RowsThenColumns(passes, target);
}

// The source pixel at each new pixel's centre; -1 cannot occur. Adds up as Pillow does, so that rounding is the same.
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

void GatherPixels(const uint8_t* row, absl::Span<const int64_t> columns, int64_t pixel_bytes, uint8_t* target) {
  for (const int64_t x : columns) {
    std::memcpy(target, row + x * pixel_bytes, pixel_bytes);
    target += pixel_bytes;
  }
}

// Bytes of wider rows have no numbers of 32 bits.
constexpr int64_t kMostOfWords = int64_t{1} << 30;

// Of columns that ascend, in a row of pixels of three bytes: where each begins, as far as a word can be read there.
std::vector<uint32_t> BytesOfWords(absl::Span<const int64_t> columns, int64_t width) {
  const auto last = std::lower_bound(columns.begin(), columns.end(), width - 1);
  std::vector<uint32_t> bytes;
  for (auto at = columns.begin(); at != last; ++at) bytes.push_back(static_cast<uint32_t>(3 * *at));
  return bytes;
}

// Of words where one can be read.
void GatherPixelsOfThree(const uint8_t* row, absl::Span<const int64_t> columns, absl::Span<const uint32_t> words,
                         uint8_t* target) {
  size_t i = 0;
  for (; i + 4 <= words.size(); i += 4) {
    StoreFourPixels(ThreeBytesAt(row + words[i]), ThreeBytesAt(row + words[i + 1]), ThreeBytesAt(row + words[i + 2]),
                    ThreeBytesAt(row + words[i + 3]), target + 3 * i);
  }
  GatherPixels(row, columns.subspan(i), 3, target + 3 * i);
}

}  // namespace

AxisRange NeededAlongAxis(Filter filter, int64_t in_size, int64_t out_size, AxisRange out) {
  if (in_size == out_size) return out;
  const Axis axis(filter, in_size, out_size);
  const int64_t begin = axis.First(out.begin);
  return {begin, axis.Last(out.begin + out.size - 1) - begin};
}

int TapsOf(Filter filter, int64_t in_size, int64_t out_size) { return Axis(filter, in_size, out_size).taps(); }

bool FiltersColumnsFirst(int64_t source_height, int64_t source_width, int64_t height, int64_t width) {
  const int64_t shrink = source_height - height;
  return shrink > 0 && shrink > 2 * (source_width - width);
}

void MakeFilterTaps(Filter filter, int64_t in_size, int64_t out_size, AxisRange out, int64_t in_begin,
                    FilterTaps& taps) {
  const Axis axis(filter, in_size, out_size);
  taps.taps = axis.taps();
  taps.first.resize(out.size);
  taps.count.resize(out.size);
  taps.weights.resize(out.size * taps.taps);
  for (int64_t i = 0; i < out.size; ++i) {
    const int first = axis.First(out.begin + i);
    const int count = axis.Last(out.begin + i) - first;
    taps.first[i] = first - static_cast<int>(in_begin);
    taps.count[i] = count;
    double* weights = &taps.weights[i * taps.taps];
    const double center = axis.Center(out.begin + i);
    double total = 0.0;
    for (int k = 0; k < count; ++k) {
      weights[k] = Weight(filter, (k + first - center + 0.5) * axis.inverse);
      total += weights[k];
    }
    if (total == 0.0) continue;
    for (int k = 0; k < count; ++k) weights[k] /= total;
  }
}

absl::StatusOr<Tensor> Resample(const SourcePart& source, Filter filter, int64_t height, int64_t width,
                                const Window& part, OutputAllocator& output) {
  const Image& image = source.image;
  HEADRACE_ASSIGN_OR_RETURN(Tensor resampled, AllocateLike(image, part.height, part.width, output));
  if (source.height == height && source.width == width) {
    CopyRows(Cropped(image, part.top - source.offset.top, part.left - source.offset.left, part.height, part.width),
             resampled.mutable_raw());
    return resampled;
  }
  if (image.dtype() == DType::kUInt8) {
    HEADRACE_RETURN_IF_ERROR(ResampleTo<uint8_t>(source, filter, height, width, part, resampled.mutable_raw()));
  } else if (image.dtype() == DType::kUInt16) {
    HEADRACE_RETURN_IF_ERROR(
        ResampleTo<uint16_t>(source, filter, height, width, part, resampled.mutable_data<uint16_t>()));
  } else {
    HEADRACE_RETURN_IF_ERROR(ResampleTo<float>(source, filter, height, width, part, resampled.mutable_data<float>()));
  }
  return resampled;
}

absl::StatusOr<Tensor> ResampleNearest(const Image& image, int64_t height, int64_t width, OutputAllocator& output) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor resampled, AllocateLike(image, height, width, output));
  const std::vector<int64_t> rows = NearestIndices(image.height, height);
  const std::vector<int64_t> columns = NearestIndices(image.width, width);
  const bool three = image.pixel_bytes() == 3 && image.width <= kMostOfWords;
  const std::vector<uint32_t> words = three ? BytesOfWords(columns, image.width) : std::vector<uint32_t>();
  const int64_t row_bytes = width * image.pixel_bytes();
  uint8_t* target = resampled.mutable_raw();
  for (int64_t y = 0; y < height; ++y, target += row_bytes) {
    if (y > 0 && rows[y] == rows[y - 1]) {
      std::memcpy(target, target - row_bytes, row_bytes);
    } else if (three) {
      GatherPixelsOfThree(image.row(rows[y]), columns, words, target);
    } else {
      GatherPixels(image.row(rows[y]), columns, image.pixel_bytes(), target);
    }
  }
  return resampled;
}

}  // namespace headrace

#include "kernels/vision/geometry/warp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/image/window.h"

namespace headrace {
namespace {

// What all ways of resampling read and write.
struct Canvas {
  const Image& image;
  const std::vector<uint8_t>& fill;  // one pixel
  int64_t height;
  int64_t width;
  int64_t pixel_bytes;
  uint8_t* pixels;  // dense

  uint8_t* row(int64_t y) const { return pixels + y * width * pixel_bytes; }
};

// The pixel that holds a coordinate; -1 before the image, at most `size` after it.
int64_t PixelAt(double coordinate, int64_t size) {
  if (!(coordinate >= 0)) return -1;
  return coordinate < static_cast<double>(size) ? static_cast<int64_t>(coordinate) : size;
}

template <typename Put>
void ForPixelBytes(int64_t pixel_bytes, const Put& put) {
  if (pixel_bytes == 3) return put([](uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 3); });
  if (pixel_bytes == 1) return put([](uint8_t* to, const uint8_t* from) { *to = *from; });
  put([pixel_bytes](uint8_t* to, const uint8_t* from) { std::memcpy(to, from, static_cast<size_t>(pixel_bytes)); });
}

// --- The nearest pixel ---

// 16 bits after the point.
int64_t Fixed(double value) { return static_cast<int64_t>(std::floor(value * 65536.0 + 0.5)); }

// The steps 0 … count at which start + step · i is in [0, limit).
struct Run {
  int64_t begin = 0;
  int64_t end = 0;
};
int64_t CeilOf(int64_t a, int64_t b) { return a / b + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0); }
Run RunInside(int64_t start, int64_t step, int64_t limit, int64_t count) {
  if (step == 0) return start >= 0 && start < limit ? Run{0, count} : Run{0, 0};
  int64_t begin = step > 0 ? CeilOf(-start, step) : CeilOf(limit - 1 - start, step);
  int64_t end = step > 0 ? CeilOf(limit - start, step) : CeilOf(-1 - start, step);
  begin = std::clamp<int64_t>(begin, 0, count);
  end = std::clamp<int64_t>(end, begin, count);
  return {begin, end};
}

Run Common(Run a, Run b) {
  const int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// The pixels of a row that are taken at evenly spaced positions, with 16 bits after the point.
class EvenRow {
 public:
  EvenRow(const Canvas& canvas, int64_t first_x, int64_t first_y, int64_t across_x, int64_t across_y)
      : canvas_(canvas), first_x_(first_x), first_y_(first_y), across_x_(across_x), across_y_(across_y) {}

  // Those that lie in the image's first columns, so many.
  Run Inside(int64_t columns) const {
    return Common(RunInside(first_x_, across_x_, columns << 16, canvas_.width),
                  RunInside(first_y_, across_y_, canvas_.image.height << 16, canvas_.width));
  }
  template <typename Copy>
  void Take(Run run, uint8_t* row, const Copy& copy) const {
    int64_t at_x = first_x_ + run.begin * across_x_;
    int64_t at_y = first_y_ + run.begin * across_y_;
    for (int64_t x = run.begin; x < run.end; ++x, at_x += across_x_, at_y += across_y_) {
      copy(row + x * canvas_.pixel_bytes, canvas_.image.row(at_y >> 16) + (at_x >> 16) * canvas_.pixel_bytes);
    }
  }

 private:
  const Canvas& canvas_;
  int64_t first_x_;
  int64_t first_y_;
  int64_t across_x_;
  int64_t across_y_;
};

// Three bytes as a word with the byte after them, which takes half as long. That byte is read where the pixel is not
// the last of its row, and written where the next pixel is written later.
void TakePixelsOfThree(const EvenRow& even, Run inside, int64_t columns, uint8_t* row) {
  const Run words = Common(even.Inside(columns - 1), {inside.begin, std::max(inside.begin, inside.end - 1)});
  const auto three = [](uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 3); };
  if (words.begin == words.end) return even.Take(inside, row, three);
  even.Take({inside.begin, words.begin}, row, three);
  even.Take(words, row, [](uint8_t* to, const uint8_t* from) { std::memcpy(to, from, 4); });
  even.Take({words.end, inside.end}, row, three);
}

void NearestByFixedPoint(const Canvas& canvas, const std::array<double, 8>& m) {
  const Image& image = canvas.image;
  const int64_t across_x = Fixed(m[0]);
  const int64_t across_y = Fixed(m[3]);
  const int64_t down_x = Fixed(m[1]);
  const int64_t down_y = Fixed(m[4]);
  const int64_t first_x = Fixed(m[2] + m[0] * 0.5 + m[1] * 0.5);
  const int64_t first_y = Fixed(m[5] + m[3] * 0.5 + m[4] * 0.5);
  for (int64_t y = 0; y < canvas.height; ++y) {
    const EvenRow even(canvas, first_x + y * down_x, first_y + y * down_y, across_x, across_y);
    const Run inside = even.Inside(image.width);
    uint8_t* const row = canvas.row(y);
    FillRun(canvas.fill, inside.begin, row);
    if (canvas.pixel_bytes == 3) {
      TakePixelsOfThree(even, inside, image.width, row);
    } else {
      ForPixelBytes(canvas.pixel_bytes, [&](auto copy) { even.Take(inside, row, copy); });
    }
    FillRun(canvas.fill, canvas.width - inside.end, row + inside.end * canvas.pixel_bytes);
  }
}

// Where rows stay rows.
void NearestByColumns(const Canvas& canvas, const std::array<double, 8>& m) {
  const Image& image = canvas.image;
  std::vector<int64_t> columns;
  double at = m[2] + m[0] * 0.5;
  for (int64_t x = 0; x < canvas.width; ++x, at += m[0]) columns.push_back(PixelAt(at, image.width));
  at = m[5] + m[4] * 0.5;
  ForPixelBytes(canvas.pixel_bytes, [&](auto copy) {
    for (int64_t y = 0; y < canvas.height; ++y, at += m[4]) {
      uint8_t* const row = canvas.row(y);
      const int64_t from = PixelAt(at, image.height);
      FillRun(canvas.fill, canvas.width, row);
      if (from < 0 || from >= image.height) continue;
      for (int64_t x = 0; x < canvas.width; ++x) {
        const int64_t column = columns[static_cast<size_t>(x)];
        if (column < 0 || column >= image.width) continue;
        copy(row + x * canvas.pixel_bytes, image.row(from) + column * canvas.pixel_bytes);
      }
    }
  });
}

// Where fixed point does not reach: adds step to step.
void NearestBySteps(const Canvas& canvas, const std::array<double, 8>& m) {
  const Image& image = canvas.image;
  double first_x = m[2] + m[1] * 0.5 + m[0] * 0.5;
  double first_y = m[5] + m[4] * 0.5 + m[3] * 0.5;
  ForPixelBytes(canvas.pixel_bytes, [&](auto copy) {
    for (int64_t y = 0; y < canvas.height; ++y, first_x += m[1], first_y += m[4]) {
      uint8_t* const row = canvas.row(y);
      FillRun(canvas.fill, canvas.width, row);
      double at_x = first_x;
      double at_y = first_y;
      for (int64_t x = 0; x < canvas.width; ++x, at_x += m[0], at_y += m[3]) {
        const int64_t column = PixelAt(at_x, image.width);
        const int64_t from = PixelAt(at_y, image.height);
        if (column < 0 || column >= image.width || from < 0 || from >= image.height) continue;
        copy(row + x * canvas.pixel_bytes, image.row(from) + column * canvas.pixel_bytes);
      }
    }
  });
}

bool FitsFixedPoint(const std::array<double, 8>& m, int64_t height, int64_t width) {
  for (const int64_t x : {int64_t{0}, width}) {
    for (const int64_t y : {int64_t{0}, height}) {
      const auto at_x = static_cast<double>(x);
      const auto at_y = static_cast<double>(y);
      if (!(std::fabs(at_x * m[0] + at_y * m[1] + m[2]) < 32768.0)) return false;
      if (!(std::fabs(at_x * m[3] + at_y * m[4] + m[5]) < 32768.0)) return false;
    }
  }
  return true;
}

// --- Any filter, at the point that belongs to each pixel's middle ---

struct Point {
  double x;
  double y;
};

Point MiddleOf(int64_t x, int64_t y) { return {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5}; }

template <bool kProjective>
struct MapOf {
  Point operator()(int64_t x, int64_t y) const {
    const Point at = MiddleOf(x, y);
    const double to_x = m[0] * at.x + m[1] * at.y + m[2];
    const double to_y = m[3] * at.x + m[4] * at.y + m[5];
    if (!kProjective) return {to_x, to_y};
    const double w = m[6] * at.x + m[7] * at.y + 1;
    return {to_x / w, to_y / w};
  }

  const std::array<double, 8>& m;
};

struct PlaceOf {
  Point operator()(int64_t x, int64_t y) const {
    const Point at = MiddleOf(x, y);
    const int64_t i = y * width + x;
    return {at.x + static_cast<double>(field.x[i]), at.y + static_cast<double>(field.y[i])};
  }

  const DisplacementField& field;
  int64_t width;
};

bool Inside(Point point, const Image& image) {
  return point.x >= 0 && point.x < static_cast<double>(image.width) && point.y >= 0 &&
         point.y < static_cast<double>(image.height);
}

// Without a call of the C library, which is what std::floor is on the oldest CPUs.
int64_t FloorOf(double value) {
  const auto whole = static_cast<int64_t>(value);
  return value < static_cast<double>(whole) ? whole - 1 : whole;
}

// In the order of Pillow's operations, and in the type of the values where it computes in that: whole numbers for
// bytes.
template <typename V>
double Linear(V a, V b, double part) {
  return a + (b - a) * part;
}
template <typename V>
double Cubic(V a, V b, V c, V d, double part) {
  const double p1 = b;
  const double p2 = -a + c;
  const double p3 = 2 * (a - b) + c - d;
  const double p4 = -a + b - c + d;
  return p1 + part * (p2 + part * (p3 + part * p4));
}

template <typename T>
struct Arithmetic {
  using Value = T;
};
template <>
struct Arithmetic<uint8_t> {
  using Value = int;
};
template <>
struct Arithmetic<uint16_t> {
  using Value = int;
};

// What a value becomes that does not leave the type's range: cut off in bytes, as Pillow does.
uint8_t Stored(double value, uint8_t) { return static_cast<uint8_t>(value); }
uint16_t Stored(double value, uint16_t) { return static_cast<uint16_t>(value + 0.5); }
float Stored(double value, float) { return static_cast<float>(value); }
template <typename T>
T Clamped(double value, T) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
  return value <= 0 ? T{0} : value >= kMost ? std::numeric_limits<T>::max() : Stored(value, T{});
}
float Clamped(double value, float) { return static_cast<float>(value); }

// kChannels: those of the image, or 0 for any number.
template <int64_t kChannels>
int64_t ChannelsOf(const Image& image) {
  return kChannels > 0 ? kChannels : image.channels;
}

template <typename T, int64_t kChannels>
void Sample(const Canvas& canvas, Point point, uint8_t* target,
            std::integral_constant<WarpFilter, WarpFilter::kNearest>) {
  const auto x = static_cast<int64_t>(point.x);
  const auto y = static_cast<int64_t>(point.y);
  std::memcpy(target, canvas.image.row(y) + x * canvas.pixel_bytes, static_cast<size_t>(canvas.pixel_bytes));
}

template <typename T, int64_t kChannels>
void Sample(const Canvas& canvas, Point point, uint8_t* target,
            std::integral_constant<WarpFilter, WarpFilter::kBilinear>) {
  using Value = typename Arithmetic<T>::Value;
  const Image& image = canvas.image;
  const int64_t channels = ChannelsOf<kChannels>(image);
  const auto left = FloorOf(point.x - 0.5);
  const auto top = FloorOf(point.y - 0.5);
  const double part_x = point.x - 0.5 - static_cast<double>(left);
  const double part_y = point.y - 0.5 - static_cast<double>(top);
  const T* const above = reinterpret_cast<const T*>(image.row(std::max<int64_t>(top, 0)));
  const bool has_below = top + 1 < image.height;
  const T* const below = has_below ? reinterpret_cast<const T*>(image.row(top + 1)) : above;
  const int64_t x0 = std::max<int64_t>(left, 0) * channels;
  const int64_t x1 = std::min(left + 1, image.width - 1) * channels;
  for (int64_t c = 0; c < channels; ++c) {
    const double first = Linear<Value>(above[x0 + c], above[x1 + c], part_x);
    const double second = has_below ? Linear<Value>(below[x0 + c], below[x1 + c], part_x) : first;
    reinterpret_cast<T*>(target)[c] = Stored(Linear<double>(first, second, part_y), T{});
  }
}

template <typename T, int64_t kChannels>
void Sample(const Canvas& canvas, Point point, uint8_t* target,
            std::integral_constant<WarpFilter, WarpFilter::kBicubic>) {
  using Value = typename Arithmetic<T>::Value;
  const Image& image = canvas.image;
  const int64_t channels = ChannelsOf<kChannels>(image);
  const auto middle_x = FloorOf(point.x - 0.5);
  const auto middle_y = FloorOf(point.y - 0.5);
  const double part_x = point.x - 0.5 - static_cast<double>(middle_x);
  const double part_y = point.y - 0.5 - static_cast<double>(middle_y);
  int64_t columns[4];
  for (int64_t i = 0; i < 4; ++i) {
    columns[i] = std::clamp<int64_t>(middle_x - 1 + i, 0, image.width - 1) * channels;
  }
  for (int64_t c = 0; c < channels; ++c) {
    double rows[4];
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t y = middle_y - 1 + i;
      // A row that is not there repeats the one above it; the first is the nearest one.
      if (i > 0 && (y < 0 || y >= image.height)) {
        rows[i] = rows[i - 1];
        continue;
      }
      const T* const row = reinterpret_cast<const T*>(image.row(std::clamp<int64_t>(y, 0, image.height - 1))) + c;
      rows[i] = Cubic<Value>(row[columns[0]], row[columns[1]], row[columns[2]], row[columns[3]], part_x);
    }
    reinterpret_cast<T*>(target)[c] = Clamped(Cubic<double>(rows[0], rows[1], rows[2], rows[3], part_y), T{});
  }
}

template <typename T, int64_t kChannels, WarpFilter kFilter, typename PointOf>
void SampleEach(const Canvas& canvas, const PointOf& point_of) {
  for (int64_t y = 0; y < canvas.height; ++y) {
    uint8_t* target = canvas.row(y);
    for (int64_t x = 0; x < canvas.width; ++x, target += canvas.pixel_bytes) {
      const Point point = point_of(x, y);
      if (Inside(point, canvas.image)) {
        Sample<T, kChannels>(canvas, point, target, std::integral_constant<WarpFilter, kFilter>());
      } else {
        std::memcpy(target, canvas.fill.data(), static_cast<size_t>(canvas.pixel_bytes));
      }
    }
  }
}

template <WarpFilter kFilter, typename PointOf>
void SampleAs(const Canvas& canvas, const PointOf& point_of) {
  if (canvas.image.dtype() == DType::kFloat32) return SampleEach<float, 0, kFilter>(canvas, point_of);
  if (canvas.image.dtype() == DType::kUInt16) return SampleEach<uint16_t, 0, kFilter>(canvas, point_of);
  if (canvas.image.channels == 3) return SampleEach<uint8_t, 3, kFilter>(canvas, point_of);
  SampleEach<uint8_t, 0, kFilter>(canvas, point_of);
}

template <WarpFilter kFilter>
void SampleBy(const Canvas& canvas, const PlaneMap& map) {
  if (map.projective) return SampleAs<kFilter>(canvas, MapOf<true>{map.m});
  SampleAs<kFilter>(canvas, MapOf<false>{map.m});
}

void TakeNearest(const Canvas& canvas, const PlaneMap& map) {
  if (map.projective) return SampleBy<WarpFilter::kNearest>(canvas, map);
  if (map.m[1] == 0 && map.m[3] == 0) return NearestByColumns(canvas, map.m);
  if (FitsFixedPoint(map.m, canvas.height, canvas.width)) return NearestByFixedPoint(canvas, map.m);
  NearestBySteps(canvas, map.m);
}

}  // namespace

WarpFilter WarpFilterOf(std::string_view name) {
  return name == "bilinear" ? WarpFilter::kBilinear : name == "bicubic" ? WarpFilter::kBicubic : WarpFilter::kNearest;
}

absl::StatusOr<Tensor> Warped(const Image& image, const PlaneMap& map, int64_t height, int64_t width,
                              const WarpOptions& options, OutputAllocator& output) {
  HEADRACE_RETURN_IF_ERROR(CheckImage(image.tensor, WarpedTypes(options.filter)));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> fill, PixelOf("fill", options.fill, image));
  HEADRACE_ASSIGN_OR_RETURN(Tensor result, AllocateLike(image, height, width, output));
  const Canvas canvas = {image, fill, height, width, image.pixel_bytes(), result.mutable_raw()};
  switch (options.filter) {
    case WarpFilter::kNearest:
      TakeNearest(canvas, map);
      break;
    case WarpFilter::kBilinear:
      SampleBy<WarpFilter::kBilinear>(canvas, map);
      break;
    case WarpFilter::kBicubic:
      SampleBy<WarpFilter::kBicubic>(canvas, map);
      break;
  }
  return result;
}

absl::StatusOr<Tensor> Displaced(const Image& image, const DisplacementField& field, const WarpOptions& options,
                                 OutputAllocator& output) {
  HEADRACE_RETURN_IF_ERROR(CheckImage(image.tensor, WarpedTypes(options.filter)));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<uint8_t> fill, PixelOf("fill", options.fill, image));
  HEADRACE_ASSIGN_OR_RETURN(Tensor result, AllocateLike(image, image.height, image.width, output));
  const Canvas canvas = {image, fill, image.height, image.width, image.pixel_bytes(), result.mutable_raw()};
  const PlaceOf place_of = {field, image.width};
  switch (options.filter) {
    case WarpFilter::kNearest:
      SampleAs<WarpFilter::kNearest>(canvas, place_of);
      break;
    case WarpFilter::kBilinear:
      SampleAs<WarpFilter::kBilinear>(canvas, place_of);
      break;
    case WarpFilter::kBicubic:
      SampleAs<WarpFilter::kBicubic>(canvas, place_of);
      break;
  }
  return result;
}

ir::Attribute WarpFilterAttribute(std::string_view default_value) {
  return {.name = "interpolation",
          .type = ir::AttributeType::kString,
          .doc = "How a value between pixels is made; nearest takes numbers of any type.",
          .default_value = Cat("'", default_value, "'"),
          .choices = {"nearest", "bilinear", "bicubic"}};
}

ir::Attribute WarpFillAttribute() {
  return {.name = "fill",
          .type = ir::AttributeType::kFloats,
          .doc = "What pixels from beyond the image hold: one number, or one per channel, in the units of the input.",
          .default_value = "0",
          .length = ir::ListLength::OfChannels(),
          .keeps_whole = true};
}

absl::StatusOr<ir::ColumnType> InferWarped(const ir::Attributes& attributes, const ir::ColumnType& input,
                                           bool keeps_size) {
  const WarpFilter filter = WarpFilterOf(attributes.String("interpolation"));
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(input, WarpedTypes(filter)));
  return keeps_size ? type : WithSize(type, ir::kUnknownDim, ir::kUnknownDim);
}

}  // namespace headrace

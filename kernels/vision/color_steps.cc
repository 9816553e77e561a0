#include "kernels/vision/color_steps.h"

#include <cstring>
#include <numeric>
#include <string_view>

#include "core/error.h"
#include "kernels/vision/blend_values.h"
#include "kernels/vision/image.h"
#include "kernels/vision/turn_hue.h"

namespace headrace {
namespace {

absl::Status CheckColor(DType dtype, int64_t channels, std::string_view got) {
  if (dtype != DType::kUInt8 && dtype != DType::kUnknown) {
    return GraphError("needs uint8 pixels, 0 … 255: put it before Normalize, Rescale and TypeCast; got ", got);
  }
  if (channels == 1 || channels == 3 || channels == ir::kUnknownDim) return absl::OkStatus();
  return GraphError("needs an image of 1 channel or 3 (red, green, blue); got ", got);
}

class ColorStep : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const final {
    HEADRACE_RETURN_IF_ERROR(
        CheckColor(before.dtype, before.channels, Cat(DTypeName(before.dtype), " of ", before.channels, " channels")));
    return before;
  }
};

class Brightness : public ColorStep {
 public:
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    BlendWithValue(row.values, row.count(), 0, static_cast<float>(facts.factor), target);
  }
};

class Contrast : public ColorStep {
 public:
  size_t counts() const override { return 1; }
  void AddCounts(const PixelRow& row, absl::Span<int64_t> counts) const override {
    counts[0] += row.channels == 3 ? SumLuma(row.values, row.pixels)
                                   : std::accumulate(row.values, row.values + row.pixels, int64_t{0});
  }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    const double mean = static_cast<double>(facts.counts[0]) / static_cast<double>(facts.pixels);
    BlendWithValue(row.values, row.count(), static_cast<uint8_t>(mean + 0.5), static_cast<float>(facts.factor), target);
  }
};

class Saturation : public ColorStep {
 public:
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    if (row.channels == 3) return BlendWithLuma(row.values, row.pixels, static_cast<float>(facts.factor), target);
    std::memcpy(target, row.values, static_cast<size_t>(row.pixels));
  }
};

class Hue : public ColorStep {
 public:
  bool by_value() const override { return false; }
  void Run(const PixelRow& row, const PixelFacts& facts, uint8_t* target) const override {
    const auto turn = static_cast<uint8_t>(static_cast<int>(facts.factor * 255));
    if (row.channels == 3) return TurnHue(row.values, row.pixels, turn, target);
    std::memcpy(target, row.values, static_cast<size_t>(row.pixels));
  }
};

}  // namespace

const PixelStep& BrightnessStep() {
  static const Brightness step;
  return step;
}

const PixelStep& ContrastStep() {
  static const Contrast step;
  return step;
}

const PixelStep& SaturationStep() {
  static const Saturation step;
  return step;
}

const PixelStep& HueStep() {
  static const Hue step;
  return step;
}

absl::StatusOr<std::vector<ir::ColumnType>> InferColor(const ir::Attributes& /*attributes*/,
                                                       absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  const int64_t channels = !type.shape ? ir::kUnknownDim : type.shape->size() == 3 ? (*type.shape)[2] : 1;
  HEADRACE_RETURN_IF_ERROR(CheckColor(type.dtype, channels, ir::TypeName(type)));
  type.dtype = DType::kUInt8;
  return std::vector{type};
}

}  // namespace headrace

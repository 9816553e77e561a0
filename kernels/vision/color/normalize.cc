#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "kernels/kernel.h"
#include "kernels/vision/fused/pixel_kernel.h"
#include "kernels/vision/image/image.h"
#include "kernels/vision/pixels/normalize_values.h"

namespace headrace {
namespace {

std::vector<float> FloatsOf(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// One mean and one deviation mean the same on either order of the axes.
bool OneForAll(const ir::Attributes& attributes) {
  return attributes.Floats("mean").size() == 1 && attributes.Floats("std").size() == 1;
}

bool TakesLayout(const ir::Attributes& attributes, bool channels_first) {
  return OneForAll(attributes) || (attributes.String("layout") == "CHW") == channels_first;
}

class NormalizeStep : public PixelStep {
 public:
  NormalizeStep(std::vector<float> mean, std::vector<float> deviation)
      : mean_(std::move(mean)),
        deviation_(std::move(deviation)),
        channels_(static_cast<int64_t>(std::max(mean_.size(), deviation_.size()))),
        pattern_(mean_, deviation_, channels_) {}

  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    if (before.dtype != DType::kUInt8 && before.dtype != DType::kFloat32) {
      return GraphError("needs uint8 or float32; got ", DTypeName(before.dtype));
    }
    for (const auto* values : {&mean_, &deviation_}) {
      const auto size = static_cast<int64_t>(values->size());
      if (size > 1 && size != before.channels) return GraphError(size, " values for ", before.channels, " channels");
    }
    return PixelFormat{DType::kFloat32, before.channels, before.has_channel_axis};
  }

  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    auto* const floats = reinterpret_cast<float*>(target);
    if (row.plane < 0 && channels_ > 1) {
      return NormalizeValues(row.values, row.dtype, row.count(), pattern_, floats);
    }
    const auto of = [&row](const std::vector<float>& values) { return values[values.size() == 1 ? 0 : row.plane]; };
    NormalizeValues(row.values, row.dtype, row.count(), of(mean_), of(deviation_), floats);
  }

 private:
  std::vector<float> mean_;
  std::vector<float> deviation_;
  int64_t channels_;
  NormalizePattern pattern_;
};

class Normalize : public PixelKernel {
 public:
  explicit Normalize(const ir::Attributes& attributes)
      : mean_(FloatsOf(attributes.Floats("mean"))),
        deviation_(FloatsOf(attributes.Floats("std"))),
        channels_first_(attributes.String("layout") == "CHW"),
        one_for_all_(OneForAll(attributes)),
        step_(mean_, deviation_) {}

  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    return channels_first_ ? Planes(input, context) : Pixels(input, context);
  }
  bool Takes(bool channels_first) const override { return one_for_all_ || channels_first == channels_first_; }
  void AddTo(PixelSteps& steps, RowRandom&) const override { steps.Add(step_); }

 private:
  absl::Status CheckChannels(int64_t channels) const {
    for (const auto* values : {&mean_, &deviation_}) {
      const int64_t size = static_cast<int64_t>(values->size());
      if (size == 1 || size == channels) continue;
      return GraphError(values == &mean_ ? "mean" : "std", " has ", size, " values, but the image has ", channels,
                        " channels", channels_first_ ? " (layout='CHW')" : " (layout='HWC')");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Pixels(const Tensor& input, KernelContext& context) const {
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(input, PixelTypes::kByteOrFloat));
    HEADRACE_RETURN_IF_ERROR(CheckChannels(image.channels));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    const NormalizePattern pattern(mean_, deviation_, image.channels);
    // Processes contiguous rows as one.
    const bool dense = image.row_stride == image.width * image.pixel_bytes();
    const int64_t rows = dense ? 1 : image.height;
    const int64_t count = image.width * image.channels * (dense ? image.height : 1);
    for (int64_t y = 0; y < rows; ++y) {
      NormalizeValues(image.row(y), image.dtype(), count, pattern, output.mutable_data<float>() + y * count);
    }
    return output;
  }

  absl::StatusOr<Tensor> Planes(const Tensor& input, KernelContext& context) const {
    HEADRACE_ASSIGN_OR_RETURN(const Tensor dense, input.Contiguous());
    HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(dense, PixelTypes::kByteOrFloat));
    if (input.rank() != 3) return GraphError("layout='CHW' needs shape (C, H, W); got ", input.TypeName());
    const int64_t channels = input.dim(0);
    HEADRACE_RETURN_IF_ERROR(CheckChannels(channels));
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, input.shape()));
    const int64_t count = input.dim(1) * input.dim(2);
    const int64_t item = static_cast<int64_t>(ItemSize(input.dtype()));
    for (int64_t c = 0; c < channels; ++c) {
      NormalizeValues(dense.raw() + c * count * item, input.dtype(), count, mean_[mean_.size() == 1 ? 0 : c],
                      deviation_[deviation_.size() == 1 ? 0 : c], output.mutable_data<float>() + c * count);
    }
    return output;
  }

  std::vector<float> mean_;
  std::vector<float> deviation_;
  bool channels_first_;
  bool one_for_all_;
  NormalizeStep step_;
};

absl::StatusOr<std::vector<ir::ColumnType>> InferNormalize(const ir::Attributes& attributes,
                                                           absl::Span<const ir::ColumnType> inputs) {
  HEADRACE_ASSIGN_OR_RETURN(ir::ColumnType type, ImageTypeOf(inputs[0], PixelTypes::kByteOrFloat));
  type.dtype = DType::kFloat32;
  if (!type.shape) return std::vector{type};
  const bool channels_first = attributes.String("layout") == "CHW";
  int64_t channels = 1;
  if (type.shape->size() == 3) channels = (*type.shape)[channels_first ? 0 : 2];
  if (channels == ir::kUnknownDim) return std::vector{type};
  for (const char* name : {"mean", "std"}) {
    const int64_t size = static_cast<int64_t>(attributes.Floats(name).size());
    if (size == 1 || size == channels) continue;
    return GraphError(name, " has ", size, " values, but the image has ", channels,
                      " channels: ", ir::TypeName(inputs[0]), ", layout='", channels_first ? "CHW" : "HWC", "'");
  }
  return std::vector{type};
}

bool AllBelowOne(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value < 1; });
}

// Whether no image of 0 … 1 has such a mean or deviation.
bool BeyondUnits(const ir::Attributes& attributes) {
  constexpr double kMostMean = 1;
  constexpr double kMostDeviation = 10;
  const auto any_above = [&](const char* name, double most) {
    const std::vector<double> values = attributes.Floats(name);
    return std::any_of(values.begin(), values.end(), [most](double value) { return value > most; });
  };
  return any_above("mean", kMostMean) || any_above("std", kMostDeviation);
}

std::string Doubt(const ir::Attributes& attributes, absl::Span<const ir::KnownInput> inputs) {
  if (const std::string_view maker = inputs[0].units_by; !maker.empty() && BeyondUnits(attributes)) {
    return Cat("mean and std are those of pixels of 0 … 255, but ", maker, " below it made them 0 … 1, so that all ",
               "images come out nearly alike; leave ", maker, " out, or divide mean and std by 255");
  }
  if (!inputs[0].bytes_range) return {};
  if (!AllBelowOne(attributes.Floats("mean")) || !AllBelowOne(attributes.Floats("std"))) return {};
  return "mean and std are below 1, but the pixels are 0 … 255, as nothing divided them; put Rescale(1 / 255) before "
         "it, or multiply mean and std by 255";
}

const KernelRegistration normalize_registration{
    {.name = "Normalize",
     .summary = "Subtracts the mean from every channel and divides by the standard deviation.",
     .doc = "Takes uint8 or float32 of shape (H, W, C) or (H, W), or (C, H, W) with layout='CHW', and gives float32 of "
            "the same shape: (x - mean) / std, computed in float32. `mean` and `std` are in the units of the input: "
            "nothing is divided by 255 implicitly, so for uint8 they lie between 0 and 255.\n"
            "Errors: a number of means or deviations that is not the number of channels, another dtype or rank.",
     .attributes = {{.name = "mean",
                     .type = ir::AttributeType::kFloats,
                     .doc = "One number, or one per channel, in the units of the input.",
                     .length = ir::ListLength::OfChannels()},
                    {.name = "std",
                     .type = ir::AttributeType::kFloats,
                     .doc = "One number, or one per channel, in the units of the input.",
                     .minimum = 0,
                     .exclusive_minimum = true,
                     .length = ir::ListLength::OfChannels()},
                    {.name = "layout",
                     .type = ir::AttributeType::kString,
                     .doc = "Which axis holds the channels: HWC the last, CHW the first.",
                     .default_value = "'HWC'",
                     .choices = {"HWC", "CHW"}}},
     .traits = {.pointwise = true},
     .python_module = "vision",
     .example = "V.Normalize((123.675, 116.28, 103.53), (58.395, 57.12, 57.375))",
     .sample = {.attributes = {{"mean", "(1, 2, 3)"}, {"std", "4"}}, .inputs = {ir::SampleInput::kImage}},
     .infer_kernel = InferNormalize,
     .takes_layout = TakesLayout,
     .clips = ir::Clips::kByFrame,
     .doubt = Doubt,
     .gives_units = [](const ir::Attributes&, bool) { return false; }},
    Makes<Normalize>()};

}  // namespace
}  // namespace headrace

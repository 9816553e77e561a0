#include "kernels/vision/pixel_pass.h"

#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/error.h"
#include "kernels/tensor/convert.h"
#include "kernels/vision/normalize_values.h"
#include "kernels/vision/rescale_values.h"
#include "kernels/vision/reverse_row.h"
#include "kernels/vision/split_channels.h"

namespace headrace {
namespace {

constexpr size_t kWidest = 8;  // bytes of a value

size_t Aligned(size_t bytes) { return (bytes + kWidest - 1) / kWidest * kWidest; }

}  // namespace

// One image during a pass: the data common to all its rows, and scratch memory for one row.
class PixelRows {
 public:
  PixelRows(const PixelPass& pass, const Image& image, MovePlan::Flips flips, Tensor& output)
      : pass_(pass), image_(image), flips_(flips), output_(output), item_(ItemSize(image.dtype())) {
    const int64_t run = RunLength();
    for (const PixelPass::Step& step : pass.steps_) {
      if (step.kind != PixelPass::Step::Kind::kNormalize || pass.channels_first_) continue;
      patterns_.emplace_back(step.mean, step.deviation, image.channels);
    }
    const size_t row_bytes = Aligned(static_cast<size_t>(image.width * image.pixel_bytes()));
    const size_t run_bytes = Aligned(static_cast<size_t>(run) * kWidest);
    Room().resize(2 * row_bytes + 2 * run_bytes);
    mirrored_ = Room().data();
    split_ = mirrored_ + row_bytes;
    between_[0] = split_ + row_bytes;
    between_[1] = between_[0] + run_bytes;
  }

  void Run() {
    for (int64_t y = 0; y < image_.height; ++y) {
      const uint8_t* row = image_.row(flips_.top_bottom ? image_.height - 1 - y : y);
      if (flips_.left_right) {
        ReverseRow(row, image_.width, image_.pixel_bytes(), mirrored_);
        row = mirrored_;
      }
      if (pass_.channels_first_) {
        RunPlanes(row, y);
      } else {
        Steps(row, RunLength(), 0, Target(y * RunLength()));
      }
    }
  }

 private:
  // The values per pass over the steps: a row, or one channel of it.
  int64_t RunLength() const { return pass_.channels_first_ ? image_.width : image_.width * image_.channels; }

  // Kept by the thread, so that a row needs no allocation.
  static std::vector<uint8_t>& Room() {
    thread_local std::vector<uint8_t> room;
    return room;
  }

  uint8_t* Target(int64_t value) { return output_.mutable_raw() + value * ItemSize(output_.dtype()); }

  void RunPlanes(const uint8_t* row, int64_t y) {
    const int64_t plane_bytes = image_.width * item_;
    if (pass_.steps_.empty()) {
      SplitChannels(row, image_.width, image_.channels, item_, image_.height * plane_bytes, Target(y * image_.width));
      return;
    }
    SplitChannels(row, image_.width, image_.channels, item_, plane_bytes, split_);
    for (int64_t c = 0; c < image_.channels; ++c) {
      Steps(split_ + c * plane_bytes, image_.width, c, Target((c * image_.height + y) * image_.width));
    }
  }

  void Normalize(const uint8_t* source, DType dtype, int64_t count, const PixelPass::Step& step, size_t& pattern,
                 int64_t channel, float* target) {
    if (!pass_.channels_first_) return NormalizeValues(source, dtype, count, patterns_[pattern++], target);
    const auto of = [channel](const std::vector<float>& values) { return values[values.size() == 1 ? 0 : channel]; };
    NormalizeValues(source, dtype, count, of(step.mean), of(step.deviation), target);
  }

  void Steps(const uint8_t* source, int64_t count, int64_t channel, uint8_t* target) {
    if (pass_.steps_.empty()) {
      std::memcpy(target, source, static_cast<size_t>(count) * item_);
      return;
    }
    DType dtype = image_.dtype();
    size_t pattern = 0;
    for (size_t i = 0; i < pass_.steps_.size(); ++i) {
      const PixelPass::Step& step = pass_.steps_[i];
      uint8_t* to = i + 1 == pass_.steps_.size() ? target : between_[i % 2];
      switch (step.kind) {
        case PixelPass::Step::Kind::kNormalize:
          Normalize(source, dtype, count, step, pattern, channel, reinterpret_cast<float*>(to));
          break;
        case PixelPass::Step::Kind::kScale:
          RescaleValues(source, dtype, count, step.scale, step.shift, reinterpret_cast<float*>(to));
          break;
        case PixelPass::Step::Kind::kCast:
          ConvertValues(source, dtype, count, step.dtype, to);
          break;
      }
      source = to;
      dtype = step.dtype;
    }
  }

  const PixelPass& pass_;
  const Image& image_;
  const MovePlan::Flips flips_;
  Tensor& output_;
  const int64_t item_;
  absl::InlinedVector<NormalizePattern, 1> patterns_;  // for each normalising step, with interleaved channels
  uint8_t* mirrored_;
  uint8_t* split_;
  uint8_t* between_[2];
};

bool PixelPass::Normalize(std::vector<float> mean, std::vector<float> deviation) {
  if (GivesOtherType()) return false;
  steps_.push_back({.kind = Step::Kind::kNormalize, .mean = std::move(mean), .deviation = std::move(deviation)});
  return true;
}

bool PixelPass::Scale(float scale, float shift) {
  if (GivesOtherType()) return false;
  steps_.push_back({.kind = Step::Kind::kScale, .scale = scale, .shift = shift});
  return true;
}

bool PixelPass::Cast(DType dtype) {
  if (GivesOtherType()) return false;
  steps_.push_back({.kind = Step::Kind::kCast, .dtype = dtype});
  return true;
}

bool PixelPass::MoveChannelsFirst() {
  if (channels_first_) return false;
  channels_first_ = true;
  return true;
}

absl::StatusOr<Tensor> PixelPass::Run(const Image& image, MovePlan::Flips flips, OutputAllocator& output) const {
  for (const Step& step : steps_) {
    for (const auto* values : {&step.mean, &step.deviation}) {
      const auto size = static_cast<int64_t>(values->size());
      if (size > 1 && size != image.channels) return GraphError(size, " values for ", image.channels, " channels");
    }
  }
  Shape shape = {image.height, image.width};
  if (channels_first_) {
    shape.insert(shape.begin(), image.channels);
  } else if (image.tensor.rank() == 3) {
    shape.push_back(image.channels);
  }
  const DType dtype = steps_.empty() ? image.dtype() : steps_.back().dtype;
  HEADRACE_ASSIGN_OR_RETURN(Tensor result, output.Allocate(dtype, shape));
  PixelRows(*this, image, flips, result).Run();
  return result;
}

}  // namespace headrace

#include "kernels/vision/fused/pixel_pass.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernels/vision/pixels/reverse_row.h"
#include "kernels/vision/pixels/split_channels.h"
#include "kernels/vision/pixels/unit_range.h"
#include "kernels/vision/pixels/value_tables.h"

namespace headrace {
namespace {

using Calls = absl::Span<const PixelSteps::Call>;

constexpr size_t kAlignment = 8;
constexpr int64_t kLineBytes = 64;
// Of the result, between the one that is written and the one that is fetched.
constexpr int64_t kRowsAhead = 2;

PixelFormat FormatOf(const Image& image) { return {image.dtype(), image.channels, image.tensor.rank() == 3}; }

int64_t ItemBytes(const PixelFormat& format) { return static_cast<int64_t>(ItemSize(format.dtype)); }

bool ChecksUnit(const PixelStep& step, const PixelFormat& before) {
  return step.needs_unit() && before.dtype == DType::kFloat32 && !before.within_unit;
}

// Stands for a step that was left out.
class UnitCheck : public PixelStep {
 public:
  absl::StatusOr<PixelFormat> After(const PixelFormat& before) const override {
    PixelFormat after = before;
    after.within_unit = true;
    return after;
  }
  bool needs_unit() const override { return true; }
  void Run(const PixelRow& row, const PixelFacts&, uint8_t* target) const override {
    std::memcpy(target, row.values, static_cast<size_t>(row.count()) * sizeof(float));
  }
};

const PixelStep& CheckOfUnit() {
  static const UnitCheck step;
  return step;
}

// Some steps of an image, from one image to one result.
class RowPass {
 public:
  // `planes_from`: the number of calls before the change of layout.
  RowPass(const Image& image, MovePlan::Flips flips, Calls calls, size_t planes_from)
      : image_(image), flips_(flips), calls_(calls.begin(), calls.end()), splits_(planes_from != PixelSteps::kNever) {
    // A step by value costs as much on planes, and a split is cheapest where values are narrow.
    split_at_ = splits_ ? planes_from : calls.size();
    while (splits_ && split_at_ > 0 && calls[split_at_ - 1].step->by_value()) --split_at_;
  }

  absl::StatusOr<Tensor> Run(OutputAllocator& output) {
    HEADRACE_RETURN_IF_ERROR(FindFormats());
    JoinTables();
    HEADRACE_ASSIGN_OR_RETURN(result_, output.Allocate(formats_.back().dtype, ResultShape()));
    in_batch_ = result_.footprint() > 2 * result_.bytes();
    TakeRoom();
    for (int64_t y = 0; y < image_.height; ++y) HEADRACE_RETURN_IF_ERROR(RunRow(y));
    return std::move(result_);
  }

 private:
  absl::Status FindFormats() {
    formats_.push_back(FormatOf(image_));
    for (const PixelSteps::Call& call : calls_) {
      HEADRACE_ASSIGN_OR_RETURN(const PixelFormat after, call.step->After(formats_.back()));
      formats_.push_back(after);
    }
    return absl::OkStatus();
  }

  bool MapsBytes(size_t call) const {
    const PixelStep& step = *calls_[call].step;
    return step.by_value() && !step.by_place() && formats_[call].dtype == DType::kUInt8 &&
           formats_[call + 1].dtype == DType::kUInt8;
  }

  // Steps by value are before the change of layout or after it, so no run of them holds the place of the split.
  void JoinTables() {
    for (size_t begin = 0; begin < calls_.size(); ++begin) {
      size_t end = begin;
      while (end < calls_.size() && MapsBytes(end)) ++end;
      if (end == begin || (end == begin + 1 && !calls_[begin].step->by_table())) continue;
      ValueTables& tables = tables_.emplace_back(formats_[begin].channels);
      for (size_t i = begin; i < end; ++i) tables.Then(*calls_[i].step, calls_[i].facts);
      calls_[begin] = {&tables};
      calls_.erase(calls_.begin() + begin + 1, calls_.begin() + end);
      formats_.erase(formats_.begin() + begin + 1, formats_.begin() + end);
      if (split_at_ > begin) split_at_ -= end - begin - 1;
    }
  }

  Shape ResultShape() const {
    const PixelFormat& last = formats_.back();
    if (splits_) return {last.channels, image_.height, image_.width};
    Shape shape = {image_.height, image_.width};
    if (last.has_channel_axis) shape.push_back(last.channels);
    return shape;
  }

  // Kept by the thread, so that a row needs no allocation.
  void TakeRoom() {
    int64_t widest = 0;
    for (const PixelFormat& format : formats_) widest = std::max(widest, format.channels * ItemBytes(format));
    const size_t bytes = static_cast<size_t>(image_.width * widest);
    const size_t row_bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    thread_local std::vector<uint8_t> room;
    room.resize(5 * row_bytes);
    mirrored_ = room.data();
    mixed_ = mirrored_ + row_bytes;
    planes_ = mixed_ + row_bytes;
    between_[0] = planes_ + row_bytes;
    between_[1] = between_[0] + row_bytes;
  }

  uint8_t* Target(int64_t value) { return result_.mutable_raw() + value * ItemBytes(formats_.back()); }

  const uint8_t* SourceRow(int64_t y) {
    const uint8_t* const row = image_.row(flips_.top_bottom ? image_.height - 1 - y : y);
    if (!flips_.left_right) return row;
    ReverseRow(row, image_.width, image_.pixel_bytes(), mirrored_);
    return mirrored_;
  }

  // A batch was last used long ago: brings the lines of one of its rows near before they are written.
  void FetchTarget(int64_t y) {
    if (!in_batch_ || y >= image_.height) return;
    const PixelFormat& last = formats_.back();
    const int64_t planes = splits_ ? last.channels : 1;
    const int64_t row_bytes = image_.width * last.channels / planes * ItemBytes(last);
    for (int64_t plane = 0; plane < planes; ++plane) {
      const uint8_t* const row = result_.raw() + (plane * image_.height + y) * row_bytes;
      for (int64_t at = 0; at < row_bytes; at += kLineBytes) __builtin_prefetch(row + at, 1);
    }
  }

  absl::Status RunRow(int64_t y) {
    FetchTarget(y + kRowsAhead);
    const uint8_t* row = SourceRow(y);
    if (!splits_) return RunCalls(0, calls_.size(), {row, y, -1}, Target(y * image_.width * formats_.back().channels));
    if (split_at_ > 0) {
      HEADRACE_RETURN_IF_ERROR(RunCalls(0, split_at_, {row, y, -1}, mixed_));
      row = mixed_;
    }
    const PixelFormat& format = formats_[split_at_];
    const int64_t item = ItemBytes(format);
    const int64_t plane_bytes = image_.width * item;
    if (split_at_ == calls_.size()) {
      SplitChannels(row, image_.width, format.channels, item, image_.height * plane_bytes, Target(y * image_.width));
      return absl::OkStatus();
    }
    SplitChannels(row, image_.width, format.channels, item, plane_bytes, planes_);
    for (int64_t c = 0; c < format.channels; ++c) {
      HEADRACE_RETURN_IF_ERROR(RunCalls(split_at_, calls_.size(), {planes_ + c * plane_bytes, y, c},
                                        Target((c * image_.height + y) * image_.width)));
    }
    return absl::OkStatus();
  }

  struct Source {
    const uint8_t* values;
    int64_t y;
    int64_t plane;
  };
  absl::Status RunCalls(size_t begin, size_t end, Source source, uint8_t* target) {
    if (begin == end) {
      const PixelFormat& format = formats_[begin];
      std::memcpy(target, source.values, static_cast<size_t>(image_.width * format.channels * ItemBytes(format)));
      return absl::OkStatus();
    }
    for (size_t i = begin; i < end; ++i) {
      uint8_t* const to = i + 1 == end ? target : between_[i % 2];
      const int64_t channels = source.plane < 0 ? formats_[i].channels : 1;
      const PixelStep& step = *calls_[i].step;
      const PixelRow row = {source.values, formats_[i].dtype, image_.width, channels, source.plane, source.y};
      if (ChecksUnit(step, formats_[i])) HEADRACE_RETURN_IF_ERROR(CheckUnitRange(row.floats(), row.count()));
      step.Run(row, calls_[i].facts, to);
      source.values = to;
    }
    return absl::OkStatus();
  }

  const Image& image_;
  const MovePlan::Flips flips_;
  absl::InlinedVector<PixelSteps::Call, 8> calls_;
  const bool splits_;
  size_t split_at_;                              // the steps before it get whole pixels
  std::list<ValueTables> tables_;                // in place of calls
  absl::InlinedVector<PixelFormat, 9> formats_;  // before the first step, and after each
  Tensor result_;
  bool in_batch_ = false;
  uint8_t* mirrored_ = nullptr;
  uint8_t* mixed_ = nullptr;
  uint8_t* planes_ = nullptr;
  uint8_t* between_[2] = {};
};

absl::Status Count(const Image& image, PixelSteps::Call& call) {
  if (call.step->needs_unit()) HEADRACE_RETURN_IF_ERROR(CheckUnitRange(image));
  call.facts.pixels = image.height * image.width;
  call.facts.counts.assign(call.step->counts(), 0);
  for (int64_t y = 0; y < image.height; ++y) {
    call.step->AddCounts({image.row(y), image.dtype(), image.width, image.channels, -1, y},
                         absl::MakeSpan(call.facts.counts));
  }
  call.step->CloseCounts(call.facts.pixels, absl::MakeSpan(call.facts.counts));
  return absl::OkStatus();
}

}  // namespace

absl::Status PixelSteps::CheckLeftOut(const Image& image) const {
  bool needs_unit = false;
  for (const Required& required : required_) {
    HEADRACE_RETURN_IF_ERROR(required.step->After(FormatOf(image)).status());
    needs_unit |= required.step->needs_unit();
  }
  return needs_unit ? CheckUnitRange(image) : absl::OkStatus();
}

absl::Status PixelSteps::TakeLeftOut(const Image& image) {
  PixelFormat format = FormatOf(image);
  size_t done = 0;
  size_t added = 0;
  const auto take_until = [&](size_t end) -> absl::Status {
    for (; done < end; ++done) {
      HEADRACE_ASSIGN_OR_RETURN(format, calls_[done].step->After(format));
    }
    return absl::OkStatus();
  };
  for (const Required& required : required_) {
    const size_t at = required.before + added;
    HEADRACE_RETURN_IF_ERROR(take_until(at));
    HEADRACE_RETURN_IF_ERROR(required.step->After(format).status());
    if (!ChecksUnit(*required.step, format)) continue;
    calls_.insert(calls_.begin() + static_cast<ptrdiff_t>(at), {&CheckOfUnit()});
    ++added;
    // What needs it takes the channels last.
    if (planes_from_ != kNever) ++planes_from_;
  }
  required_.clear();
  return absl::OkStatus();
}

absl::StatusOr<Tensor> RunPixelSteps(const Image& image, MovePlan::Flips flips, PixelSteps& steps,
                                     OutputAllocator& output) {
  HEADRACE_RETURN_IF_ERROR(steps.TakeLeftOut(image));
  const absl::Span<PixelSteps::Call> calls = steps.calls();
  Image current = image;
  size_t done = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].step->counts() == 0) continue;
    if (i > done) {
      OutputAllocator intermediate;
      RowPass before(current, flips, calls.subspan(done, i - done), PixelSteps::kNever);
      HEADRACE_ASSIGN_OR_RETURN(const Tensor made, before.Run(intermediate));
      HEADRACE_ASSIGN_OR_RETURN(current, ImageOf(made, PixelTypes::kFixedSize));
      flips = {};
      done = i;
    }
    HEADRACE_RETURN_IF_ERROR(calls[i].step->After({current.dtype(), current.channels}).status());
    HEADRACE_RETURN_IF_ERROR(Count(current, calls[i]));
  }
  const size_t planes_from =
      steps.planes_from() == PixelSteps::kNever ? steps.planes_from() : steps.planes_from() - done;
  return RowPass(current, flips, calls.subspan(done), planes_from).Run(output);
}

}  // namespace headrace

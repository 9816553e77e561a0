#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"

#include <algorithm>
#include <cstring>

#include "core/stop_signal.h"
#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"
#include "kernels/vision/codecs/jpeg/own/sample_rows.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace::jpeg {
namespace {

// Before a row's first sample: its neighbour, and what keeps rows aligned.
constexpr int64_t kBefore = 32;
// The sum of differences of mean values may not overflow within a row of MCUs.
constexpr int32_t kMostMean = 1 << 29;
// More blocks to pass over are worth the tables for that.
constexpr int64_t kBlocksWithoutTables = 100;
// Memory that is kept for the next image.
constexpr size_t kMostKept = size_t{2} << 20;

// Samples of a block across and down, as libjpeg chooses them: of a component with fewer blocks as many more, while
// both directions allow that, so that nothing is left to upsample.
int SideOf(const SequentialJpeg& jpeg, const JpegComponent& component, int smallest) {
  int side = smallest;
  while (side < kBlockSize && jpeg.max_horizontal * smallest % (component.horizontal * side * 2) == 0 &&
         jpeg.max_vertical * smallest % (component.vertical * side * 2) == 0) {
    side *= 2;
  }
  return side;
}

}  // namespace

uint8_t* CropDecoder::Plane::Row(int64_t y) {
  return samples.data() + (y % rows) * row_bytes + kBefore - first_block * side;
}

int64_t CropDecoder::BlocksToPass(const SequentialJpeg& jpeg, bool to_end) const {
  const int64_t known = points_ == nullptr ? 0 : points_->last_known().mcu;
  const int64_t known_row = known / mcus_per_row_;
  const int64_t first_unknown = std::clamp(known_row, first_mcu_row_, end_mcu_row_);
  const int64_t rows_left = end_mcu_row_ - first_unknown;
  const int64_t end = (to_end ? jpeg.mcu_rows() : end_mcu_row_) * mcus_per_row_;
  const int64_t before = (first_unknown - first_mcu_row_) * (first_mcu_ % EntryPoints::kEvery);
  const int64_t left = std::max<int64_t>(0, end - known - rows_left * (end_mcu_ - first_mcu_));
  return (before + left) * static_cast<int64_t>(places_.size());
}

bool CropDecoder::SetTables(const SequentialJpeg& jpeg, bool to_end) {
  // Of an eighth, only the mean values of blocks are wanted.
  const bool passes_many = BlocksToPass(jpeg, to_end) > kBlocksWithoutTables || wanted_.scale == kBlockSize;
  for (int i = 0; i < jpeg.count; ++i) {
    const JpegComponent& component = jpeg.components[i];
    MeanTable& means = mean_tables_[component.means];
    CoefficientTable& others = other_tables_[component.others];
    if (!means.Make(jpeg.means[component.means]) || !others.Make(jpeg.others[component.others])) return false;
    if (passes_many) others.MakePassed();
    codes_[i] = {&means, &others};
  }
  return true;
}

void CropDecoder::SetPlaces(const SequentialJpeg& jpeg) {
  places_.clear();
  for (int i = 0; i < jpeg.count; ++i) {
    for (int row = 0; row < jpeg.components[i].vertical; ++row) {
      for (int column = 0; column < jpeg.components[i].horizontal; ++column) places_.push_back({i, row, column});
    }
  }
}

void CropDecoder::SetPlane(const SequentialJpeg& jpeg, const Rectangle& part, int number) {
  const JpegComponent& component = jpeg.components[number];
  Plane& plane = planes_[number];
  const int smallest = kBlockSize / part.scale;
  plane.side = SideOf(jpeg, component, smallest);
  plane.repeats = jpeg.max_horizontal * smallest / (component.horizontal * plane.side);
  plane.row_repeats = jpeg.max_vertical * smallest / (component.vertical * plane.side);
  plane.across = component.horizontal;
  plane.down = component.vertical;
  plane.width = DividedUp(jpeg.width * component.horizontal * plane.side, jpeg.max_horizontal * kBlockSize);
  plane.height = DividedUp(jpeg.height * component.vertical * plane.side, jpeg.max_vertical * kBlockSize);
  const bool wide = plane.width > 2;
  const bool across = plane.repeats == 2 && wide;
  plane.widening = Widening::kRepeated;
  if (plane.repeats == 1 && plane.row_repeats == 1) plane.widening = Widening::kNone;
  if (across && plane.row_repeats == 1) plane.widening = Widening::kAcross;
  if (plane.repeats == 1 && plane.row_repeats == 2) plane.widening = Widening::kDown;
  if (across && plane.row_repeats == 2) plane.widening = Widening::kAcrossAndDown;
  if (smallest == 1 && plane.widening != Widening::kNone) plane.widening = Widening::kRepeated;
  const int beside = plane.smooth_across() ? 1 : 0;
  const int below = plane.smooth_down() ? 1 : 0;
  plane.first = part.left / plane.repeats;
  plane.end = (part.left + part.width - 1) / plane.repeats + 1;
  const int64_t first = std::max<int64_t>(plane.first - beside, 0);
  const int64_t end = std::min(plane.end + beside, plane.width);
  plane.first_block = first / plane.side;
  plane.blocks = (end - 1) / plane.side + 1 - plane.first_block;
  const int64_t first_row = std::max<int64_t>(part.top / plane.row_repeats - below, 0);
  const int64_t last_row = (part.top + part.height - 1) / plane.row_repeats + below;
  plane.first_block_row = first_row / plane.side;
  plane.end_block_row = std::min(last_row, plane.height - 1) / plane.side + 1;

  plane.row_bytes = kBefore + (plane.blocks + kMostBlocksAtOnce - 1) * plane.side + kRowSlack;
  plane.rows = 2 * plane.down * plane.side;
  plane.samples.resize(static_cast<size_t>(plane.rows * plane.row_bytes));
  plane.coefficients.assign(static_cast<size_t>(plane.down * plane.CoefficientsOfRow()), 0);
  plane.widened.resize(static_cast<size_t>((plane.end - plane.first) * plane.repeats + 2 * kRowSlack));
  sums_.resize(std::max(sums_.size(), static_cast<size_t>(plane.end - plane.first + 2 + kRowSlack)));
}

void CropDecoder::SetMcus(const SequentialJpeg& jpeg) {
  first_mcu_ = jpeg.mcus_per_row();
  first_mcu_row_ = jpeg.mcu_rows();
  end_mcu_ = end_mcu_row_ = 0;
  for (int i = 0; i < jpeg.count; ++i) {
    const Plane& plane = planes_[i];
    first_mcu_ = std::min(first_mcu_, plane.first_block / plane.across);
    end_mcu_ = std::max(end_mcu_, (plane.first_block + plane.blocks - 1) / plane.across + 1);
    first_mcu_row_ = std::min(first_mcu_row_, plane.first_block_row / plane.down);
    end_mcu_row_ = std::max(end_mcu_row_, (plane.end_block_row - 1) / plane.down + 1);
  }
}

// Passes a restart marker where one is due.
inline bool CropDecoder::BeginMcu() {
  if (mcu_ == wants_point_) [[unlikely]]
    NotePoint();
  ++mcu_;
  if (interval_ == 0) return true;
  if (until_restart_ == 0) {
    if (!scan_.PassRestart(next_restart_, window_)) return false;
    next_restart_ = (next_restart_ + 1) % 8;
    until_restart_ = interval_;
    means_ = {};
  }
  --until_restart_;
  return true;
}

void CropDecoder::NotePoint() {
  const ScanBytes::Place place = scan_.PlaceOf(window_);
  const auto bit = static_cast<uint64_t>(place.byte - data_) * 8 + static_cast<uint64_t>(place.bit);
  points_->Add({mcu_, bit, means_});
  wants_point_ = points_->missing();
}

void CropDecoder::BeginAt(const EntryPoint& point) {
  mcu_ = point.mcu;
  means_ = point.means;
  scan_.BeginAt(data_ + point.bit / 8, static_cast<int>(point.bit % 8), data_end_, window_);
  if (interval_ == 0) return;
  // A marker that stands before this MCU is still to come.
  const int64_t restarts = mcu_ == 0 ? 0 : (mcu_ - 1) / interval_;
  until_restart_ = static_cast<int>((restarts + 1) * interval_ - mcu_);
  next_restart_ = static_cast<int>(restarts % 8);
}

bool CropDecoder::PassTo(int64_t mcu) {
  if (points_ != nullptr) {
    const EntryPoint& point = points_->FindUpTo(mcu);
    if (point.mcu > mcu_) {
      BeginAt(point);
      used_points_ = true;
    }
  }
  while (mcu_ < mcu) {
    const int64_t row_end = (mcu_ / mcus_per_row_ + 1) * mcus_per_row_;
    if (!PassMcus(std::min(mcu, row_end))) return false;
    if (mcu_ == row_end && !IsFaultless()) return false;
  }
  return true;
}

bool CropDecoder::PassMcus(int64_t end) {
  while (mcu_ < end) {
    if (!BeginMcu()) return false;
    for (const Place& place : places_) {
      scan_.Prepare(window_);
      if (!PassBlock(codes_[place.component], window_, means_[place.component])) return false;
    }
  }
  return true;
}

bool CropDecoder::ReadMcus(int64_t end) {
  const int64_t mcu_row = mcu_ / mcus_per_row_;
  while (mcu_ < end) {
    const int64_t column = mcu_ - mcu_row * mcus_per_row_;
    if (!BeginMcu()) return false;
    for (const Place& place : places_) {
      scan_.Prepare(window_);
      Plane& plane = planes_[place.component];
      const ComponentCodes& codes = codes_[place.component];
      int32_t& mean = means_[place.component];
      const int64_t block = column * plane.across + place.column;
      if (!plane.Holds(mcu_row * plane.down + place.row, block)) {
        if (!PassBlock(codes, window_, mean)) return false;
        continue;
      }
      int16_t* const to = plane.Blocks(place.row) + (block - plane.first_block) * kCoefficients;
      if (plane.side == 1) {
        if (!PassBlock(codes, window_, mean)) return false;
        *to = static_cast<int16_t>(mean);
        continue;
      }
      if (!ReadBlock(codes, window_, mean, to)) return false;
    }
  }
  return true;
}

bool CropDecoder::IsFaultless() const {
  return !scan_.Overran(window_) &&
         std::all_of(means_.begin(), means_.end(), [](int32_t mean) { return mean > -kMostMean && mean < kMostMean; });
}

void CropDecoder::Transform(const SequentialJpeg& jpeg, int64_t mcu_row) {
  for (int i = 0; i < count_; ++i) {
    Plane& plane = planes_[i];
    const int16_t* const quantization = jpeg.quantization[jpeg.components[i].quantization].data();
    for (int row = 0; row < plane.down; ++row) {
      const int64_t block_row = mcu_row * plane.down + row;
      if (block_row < plane.first_block_row || block_row >= plane.end_block_row) continue;
      int16_t* const blocks = plane.Blocks(row);
      const int64_t y = block_row * plane.side;
      uint8_t* const samples = plane.Row(y) + plane.first_block * plane.side;
      if (plane.side == kBlockSize) {
        InverseDct(blocks, plane.blocks, quantization, samples, plane.row_bytes);
      } else {
        ReducedInverseDct(blocks, plane.blocks, quantization, plane.side, samples, plane.row_bytes);
      }
      std::memset(blocks, 0, static_cast<size_t>(plane.CoefficientsOfRow()) * sizeof(int16_t));
      if (!plane.smooth_across()) continue;
      // Samples at an edge are their own neighbours.
      for (int64_t i = 0; i < plane.side; ++i) {
        uint8_t* const line = plane.Row(y + i);
        if (plane.first == 0) line[-1] = line[0];
        if (plane.end == plane.width) line[plane.width] = line[plane.width - 1];
      }
    }
  }
}

const uint8_t* CropDecoder::RowOf(Plane& plane, int64_t y) {
  const int64_t at = y / plane.row_repeats;
  const uint8_t* const near = plane.Row(at);
  if (plane.widening == Widening::kNone) return near + wanted_.left;
  uint8_t* const to = plane.widened.data();
  const int64_t count = plane.end - plane.first;
  const bool above = plane.smooth_down() && y % 2 == 0;
  const int64_t other = std::clamp<int64_t>(above ? at - 1 : at + 1, 0, plane.height - 1);
  const uint8_t* const far = plane.smooth_down() ? plane.Row(other) : nullptr;
  switch (plane.widening) {
    case Widening::kAcross:
    case Widening::kAcrossAndDown:
      WidenRow(near + plane.first, far == nullptr ? nullptr : far + plane.first, count, sums_.data(), to);
      break;
    case Widening::kDown:
      BlendRows(near + plane.first, far + plane.first, above, count, to);
      break;
    default:
      for (int64_t i = 0; i < count; ++i) {
        std::memset(to + i * plane.repeats, near[plane.first + i], static_cast<size_t>(plane.repeats));
      }
  }
  return to + (wanted_.left - plane.first * plane.repeats);
}

void CropDecoder::WriteRows(int64_t end) {
  end = std::min(end, wanted_.top + wanted_.height);
  const int64_t row_bytes = wanted_.width * channels_;
  for (; next_row_ < end; ++next_row_, pixels_ += row_bytes) {
    const uint8_t* const luma = RowOf(planes_[0], next_row_);
    if (count_ == 1) {
      if (channels_ == 3) {
        GreyRowToRgb(luma, wanted_.width, pixels_);
      } else {
        std::memcpy(pixels_, luma, static_cast<size_t>(row_bytes));
      }
      continue;
    }
    uint8_t* const colours = channels_ == 1 ? colour_row_.data() : pixels_;
    YccToRgb(luma, RowOf(planes_[1], next_row_), RowOf(planes_[2], next_row_), wanted_.width, colours);
    if (channels_ == 1) LumaRow(colours, wanted_.width, count_, pixels_);
  }
}

void CropDecoder::KeepLittle() {
  size_t kept = colour_row_.capacity();
  for (const Plane& plane : planes_) {
    kept += plane.samples.capacity() + plane.coefficients.capacity() * sizeof(int16_t) + plane.widened.capacity();
  }
  if (kept <= kMostKept) return;
  planes_ = {};
  colour_row_ = {};
}

Decoded CropDecoder::Decode(const SequentialJpeg& jpeg, const Rectangle& part, bool to_end, uint8_t* pixels,
                            EntryPoints* points, PixelRows rows) {
  count_ = jpeg.count;
  channels_ = rows == PixelRows::kAsStored ? count_ : rows == PixelRows::kGrey ? 1 : 3;
  if (channels_ < count_) colour_row_.resize(static_cast<size_t>(part.width * count_));
  wanted_ = part;
  next_row_ = part.top;
  pixels_ = pixels;
  points_ = points;
  used_points_ = false;
  wants_point_ = points == nullptr ? -1 : points->missing();
  mcus_per_row_ = jpeg.mcus_per_row();
  SetPlaces(jpeg);
  for (int i = 0; i < count_; ++i) SetPlane(jpeg, part, i);
  SetMcus(jpeg);
  if (!SetTables(jpeg, to_end)) return Decoded::kDamaged;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(jpeg.bytes.data());
  data_ = bytes + jpeg.data;
  data_end_ = bytes + jpeg.bytes.size();
  interval_ = jpeg.interval;
  BeginAt({});

  const int64_t end_row = to_end ? jpeg.mcu_rows() : end_mcu_row_;
  // What lies before a known point is faultless.
  const int64_t known_rows = points == nullptr ? 0 : points->last_known().mcu / mcus_per_row_;
  const bool waits =
      std::any_of(planes_.begin(), planes_.begin() + count_, [](const Plane& p) { return p.smooth_down(); });
  for (int64_t row = 0; row < end_row; ++row) {
    const bool wanted = row >= first_mcu_row_ && row < end_mcu_row_;
    if (!wanted && row < known_rows) continue;
    if (StopSignal::Raised()) return Decoded::kStopped;
    const int64_t first = row * mcus_per_row_;
    if (!wanted) {
      if (!PassTo(first + mcus_per_row_)) return Decoded::kDamaged;
      continue;
    }
    if (!PassTo(first + first_mcu_) || !ReadMcus(first + end_mcu_) || !IsFaultless()) return Decoded::kDamaged;
    Transform(jpeg, row);
    const int64_t decoded = (row + 1) * jpeg.max_vertical * (kBlockSize / part.scale);
    // The last row of pixels needs the samples below.
    WriteRows(row + 1 == end_mcu_row_ ? jpeg.height : decoded - (waits ? 1 : 0));
  }
  if (to_end && !PassTo(jpeg.mcu_rows() * mcus_per_row_)) return Decoded::kDamaged;
  return Decoded::kDone;
}

}  // namespace headrace::jpeg

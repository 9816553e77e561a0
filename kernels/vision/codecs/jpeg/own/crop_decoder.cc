#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"

#include <algorithm>
#include <cstring>

#include "core/stop_signal.h"
#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"
#include "kernels/vision/codecs/jpeg/own/sample_rows.h"

namespace headrace::jpeg {
namespace {

// Before a row's first sample: its neighbour, and what keeps rows aligned.
constexpr int64_t kBefore = 32;
// The sum of differences of mean values may not overflow within a row of MCUs.
constexpr int32_t kMostMean = 1 << 29;
// To be passed over, from which on the tables for them are worth making.
constexpr int64_t kManyBlocks = 500;
// Memory that is kept for the next image.
constexpr size_t kMostKept = size_t{2} << 20;

}  // namespace

uint8_t* CropDecoder::Plane::Row(int64_t y) {
  return samples.data() + (y % rows) * row_bytes + kBefore - first_block * kBlockSize;
}

bool CropDecoder::SetTables(const SequentialJpeg& jpeg, bool to_end) {
  const int64_t rows = end_mcu_row_ - first_mcu_row_;
  const int64_t mcus = (to_end ? jpeg.mcu_rows() : end_mcu_row_) * jpeg.mcus_per_row() - rows * (end_mcu_ - first_mcu_);
  const bool passes_many = mcus * static_cast<int64_t>(places_.size()) > kManyBlocks;
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
  plane.repeats = jpeg.max_horizontal / component.horizontal;
  plane.row_repeats = jpeg.max_vertical / component.vertical;
  plane.across = component.horizontal;
  plane.down = component.vertical;
  plane.width = component.width;
  plane.height = component.height;
  const bool wide = component.width > 2;
  const bool across = plane.repeats == 2 && wide;
  plane.widening = Widening::kRepeated;
  if (plane.repeats == 1 && plane.row_repeats == 1) plane.widening = Widening::kNone;
  if (across && plane.row_repeats == 1) plane.widening = Widening::kAcross;
  if (plane.repeats == 1 && plane.row_repeats == 2) plane.widening = Widening::kDown;
  if (across && plane.row_repeats == 2) plane.widening = Widening::kAcrossAndDown;
  const int beside = plane.smooth_across() ? 1 : 0;
  const int below = plane.smooth_down() ? 1 : 0;
  plane.first = part.left / plane.repeats;
  plane.end = (part.left + part.width - 1) / plane.repeats + 1;
  const int64_t first = std::max<int64_t>(plane.first - beside, 0);
  const int64_t end = std::min(plane.end + beside, plane.width);
  plane.first_block = first / kBlockSize;
  plane.blocks = (end - 1) / kBlockSize + 1 - plane.first_block;
  const int64_t first_row = std::max<int64_t>(part.top / plane.row_repeats - below, 0);
  const int64_t last_row = (part.top + part.height - 1) / plane.row_repeats + below;
  plane.first_block_row = first_row / kBlockSize;
  plane.end_block_row = std::min(last_row, plane.height - 1) / kBlockSize + 1;

  plane.row_bytes = kBefore + (plane.blocks + kMostBlocksAtOnce - 1) * kBlockSize + kRowSlack;
  plane.rows = 2 * plane.down * kBlockSize;
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

bool CropDecoder::PassMcus(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!BeginMcu()) return false;
    for (const Place& place : places_) {
      scan_.Prepare(window_);
      if (!PassBlock(codes_[place.component], window_, means_[place.component])) return false;
    }
  }
  return true;
}

bool CropDecoder::ReadMcus(int64_t mcu_row, int64_t first, int64_t end) {
  for (int64_t mcu = first; mcu < end; ++mcu) {
    if (!BeginMcu()) return false;
    for (const Place& place : places_) {
      scan_.Prepare(window_);
      Plane& plane = planes_[place.component];
      const ComponentCodes& codes = codes_[place.component];
      int32_t& mean = means_[place.component];
      const int64_t block = mcu * plane.across + place.column;
      if (!plane.Holds(mcu_row * plane.down + place.row, block)) {
        if (!PassBlock(codes, window_, mean)) return false;
        continue;
      }
      int16_t* const to = plane.Blocks(place.row) + (block - plane.first_block) * kCoefficients;
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
      const int64_t y = block_row * kBlockSize;
      InverseDct(blocks, plane.blocks, quantization, plane.Row(y) + plane.first_block * kBlockSize, plane.row_bytes);
      std::memset(blocks, 0, static_cast<size_t>(plane.CoefficientsOfRow()) * sizeof(int16_t));
      if (!plane.smooth_across()) continue;
      // Samples at an edge are their own neighbours.
      for (int64_t i = 0; i < kBlockSize; ++i) {
        uint8_t* const samples = plane.Row(y + i);
        if (plane.first == 0) samples[-1] = samples[0];
        if (plane.end == plane.width) samples[plane.width] = samples[plane.width - 1];
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
  const int64_t row_bytes = wanted_.width * count_;
  for (; next_row_ < end; ++next_row_, pixels_ += row_bytes) {
    const uint8_t* const luma = RowOf(planes_[0], next_row_);
    if (count_ == 1) {
      std::memcpy(pixels_, luma, static_cast<size_t>(row_bytes));
      continue;
    }
    YccToRgb(luma, RowOf(planes_[1], next_row_), RowOf(planes_[2], next_row_), wanted_.width, pixels_);
  }
}

void CropDecoder::KeepLittle() {
  size_t kept = 0;
  for (const Plane& plane : planes_) {
    kept += plane.samples.capacity() + plane.coefficients.capacity() * sizeof(int16_t) + plane.widened.capacity();
  }
  if (kept > kMostKept) planes_ = {};
}

Decoded CropDecoder::Decode(const SequentialJpeg& jpeg, const Rectangle& part, bool to_end, uint8_t* pixels) {
  count_ = jpeg.count;
  wanted_ = part;
  next_row_ = part.top;
  pixels_ = pixels;
  SetPlaces(jpeg);
  for (int i = 0; i < count_; ++i) SetPlane(jpeg, part, i);
  SetMcus(jpeg);
  if (!SetTables(jpeg, to_end)) return Decoded::kDamaged;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(jpeg.bytes.data());
  scan_.Begin(bytes + jpeg.data, bytes + jpeg.bytes.size(), window_);
  means_ = {};
  until_restart_ = interval_ = jpeg.interval;
  next_restart_ = 0;

  const int64_t mcus = jpeg.mcus_per_row();
  const int64_t rows = to_end ? jpeg.mcu_rows() : end_mcu_row_;
  const bool waits =
      std::any_of(planes_.begin(), planes_.begin() + count_, [](const Plane& p) { return p.smooth_down(); });
  for (int64_t row = 0; row < rows; ++row) {
    if (StopSignal::Raised()) return Decoded::kStopped;
    const bool wanted = row >= first_mcu_row_ && row < end_mcu_row_;
    const bool last = row + 1 == rows && !to_end;
    const bool read =
        wanted ? PassMcus(first_mcu_) && ReadMcus(row, first_mcu_, end_mcu_) && (last || PassMcus(mcus - end_mcu_))
               : PassMcus(mcus);
    if (!read || !IsFaultless()) return Decoded::kDamaged;
    if (!wanted) continue;
    Transform(jpeg, row);
    const int64_t decoded = (row + 1) * jpeg.max_vertical * kBlockSize;
    // The last row of pixels needs the samples below.
    WriteRows(row + 1 == end_mcu_row_ ? jpeg.height : decoded - (waits ? 1 : 0));
  }
  return Decoded::kDone;
}

}  // namespace headrace::jpeg

#include "kernels/vision/codecs/jpeg/own_jpeg.h"

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "core/error.h"
#include "core/row_notes.h"
#include "core/stop_signal.h"
#include "kernels/vision/codecs/exif.h"
#include "kernels/vision/codecs/jpeg/block_bits.h"
#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"
#include "kernels/vision/codecs/jpeg/own/entry_points.h"
#include "kernels/vision/codecs/jpeg/own/file_checksum.h"
#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"
#include "kernels/vision/image/pixel_limit.h"

namespace headrace {
namespace {

using jpeg::CropDecoder;
using jpeg::Decoded;
using jpeg::EntryPoints;
using jpeg::PixelRows;
using jpeg::SequentialJpeg;

int ChannelsOf(const SequentialJpeg& jpeg, PixelMode mode) {
  if (jpeg.count == 1) return mode == PixelMode::kRgb ? 3 : 1;
  return mode == PixelMode::kGrey ? 1 : 3;
}

// The note's key. Points of another kind would have another.
constexpr std::string_view kEntryPoints = "JPEG entry points";
// With fewer blocks outside of a part it is not worth knowing where to begin.
constexpr int64_t kFewestBlocksOutside = 500;

CropDecoder& DecoderOfThread() {
  thread_local const auto decoder = std::make_unique<CropDecoder>();
  return *decoder;
}

Window WholeOf(const SequentialJpeg& jpeg, int scale) {
  return {0, 0, jpeg::DividedUp(jpeg.height, scale), jpeg::DividedUp(jpeg.width, scale)};
}

// Entry points of an image from what was noted of its row, and back.
class NotedPoints {
 public:
  NotedPoints(const SequentialJpeg& jpeg, const Window& part, int scale, RowNotes* notes) : notes_(notes) {
    const int64_t blocks = jpeg.blocks();
    const int64_t inside = blocks * part.height * scale / jpeg.height * part.width * scale / jpeg.width;
    if (notes_ == nullptr || blocks - inside < kFewestBlocksOutside) return;
    Kept& kept = KeptOfThread();
    points_ = &kept.points;
    const bool found = notes_->Find(kEntryPoints, kept.bytes);
    const bool taken = points_->Begin(jpeg, found ? std::string_view(kept.bytes) : std::string_view());
    if (found && !taken) earlier_ = EarlierNote::kWrong;
    if (!taken && notes_->has_given()) TakeGiven(jpeg, kept.bytes);
  }
  ~NotedPoints() {
    if (points_ == nullptr) return;
    points_->KeepLittle();
    if (std::string& bytes = KeptOfThread().bytes; bytes.capacity() > EntryPoints::kMostBytesKept) bytes = {};
  }
  NotedPoints(const NotedPoints&) = delete;

  // Null: none are wanted.
  EntryPoints* points() const { return points_; }
  // After an image without faults.
  void Leave(bool used) const {
    if (points_ == nullptr) return;
    if (used) notes_->CountUse();
    if (!points_->has_added() && !replaces_) return;
    try {
      notes_->Leave(kEntryPoints, points_->Notes(), earlier_);
    } catch (const std::bad_alloc&) {
      // The next decoding finds the points again.
    }
  }

 private:
  // What came with the file: points of the whole image, if any.
  void TakeGiven(const SequentialJpeg& jpeg, std::string& bytes) {
    const uint64_t checksum = jpeg::FileChecksum(jpeg.bytes);
    const bool found = notes_->FindGiven(kEntryPoints, checksum, bytes);
    const bool taken = points_->Begin(jpeg, found ? std::string_view(bytes) : std::string_view(), checksum);
    // Else the wrong note would be met again in each epoch.
    replaces_ = taken && earlier_ == EarlierNote::kWrong;
  }

  struct Kept {
    EntryPoints points;
    std::string bytes;
  };
  static Kept& KeptOfThread() {
    thread_local Kept kept;
    return kept;
  }

  RowNotes* const notes_;
  EntryPoints* points_ = nullptr;
  EarlierNote earlier_ = EarlierNote::kRightOrNone;
  bool replaces_ = false;  // points that came with the file, a wrong note
};

// Nullopt: damaged.
absl::StatusOr<std::optional<Tensor>> DecodeRows(const SequentialJpeg& jpeg, int channels, const Window& part,
                                                 int scale, OutputAllocator& output, RowNotes* notes) {
  HEADRACE_ASSIGN_OR_RETURN(Tensor rows, output.Allocate(DType::kUInt8, {part.height, part.width, channels}));
  CropDecoder& decoder = DecoderOfThread();
  const NotedPoints noted(jpeg, part, scale, notes);
  const Decoded result =
      decoder.Decode(jpeg, {part.top, part.left, part.height, part.width, scale}, !jpeg.HasEndMarker(),
                     rows.mutable_raw(), noted.points(), channels == 1 ? PixelRows::kGrey : PixelRows::kRgb);
  decoder.KeepLittle();
  if (result == Decoded::kStopped) return StopSignal::Error();
  if (result == Decoded::kDamaged) return std::nullopt;
  noted.Leave(decoder.used_points());
  return rows;
}

}  // namespace

absl::StatusOr<std::optional<DecodedPart>> DecodeOwnJpeg(std::string_view bytes, const DecodeOptions& options,
                                                         const ChoosePart& choose) {
  const std::optional<SequentialJpeg> jpeg = jpeg::FindSequentialJpeg(bytes);
  if (!jpeg.has_value() || !HoldsBits(bytes.size(), FewestBits(jpeg->blocks(), false))) return std::nullopt;
  if (!CheckPixelLimit(jpeg->width, jpeg->height, options.max_pixels).ok()) return std::nullopt;
  const int channels = ChannelsOf(*jpeg, options.mode);
  const int orientation = options.orientation ? jpeg->orientation : 1;
  const Window whole = WholeOf(*jpeg, options.scale);
  const bool swapped = SwapsAxes(orientation);
  HEADRACE_ASSIGN_OR_RETURN(const WantedPart part,
                            choose(swapped ? whole.width : whole.height, swapped ? whole.height : whole.width));
  if (part.window.height <= 0 || part.window.width <= 0) return std::nullopt;
  OutputAllocator intermediate;
  OutputAllocator& output = part.output != nullptr ? *part.output : intermediate;
  const Window stored = BeforeTurning(part.window, orientation, whole.height, whole.width);
  HEADRACE_ASSIGN_OR_RETURN(
      const std::optional<Tensor> rows,
      DecodeRows(*jpeg, channels, stored, options.scale, orientation == 1 ? output : intermediate, part.notes));
  if (!rows.has_value()) return std::nullopt;
  HEADRACE_ASSIGN_OR_RETURN(const Tensor turned, Oriented(*rows, orientation, output));
  HEADRACE_ASSIGN_OR_RETURN(const Image image, ImageOf(turned, PixelTypes::kByteOrFloat));
  return DecodedPart{image, part.window};
}

std::optional<EntryPointNote> NoteEntryPoints(std::string_view file) {
  const std::optional<SequentialJpeg> jpeg = jpeg::FindSequentialJpeg(file);
  if (!jpeg.has_value() || !HoldsBits(file.size(), FewestBits(jpeg->blocks(), false))) return std::nullopt;
  if (jpeg->blocks() <= kFewestBlocksOutside) return std::nullopt;
  EntryPoints points;
  points.Begin(*jpeg, {});
  // All that follows the first pixel is passed over.
  std::array<uint8_t, 3> pixel;
  CropDecoder& decoder = DecoderOfThread();
  const Decoded result = decoder.Decode(*jpeg, {0, 0, 1, 1, 1}, true, pixel.data(), &points);
  decoder.KeepLittle();
  if (result != Decoded::kDone || !points.has_added()) return std::nullopt;
  return EntryPointNote{GivenNoteKey(kEntryPoints, jpeg::FileChecksum(file)), std::string(points.Notes())};
}

}  // namespace headrace

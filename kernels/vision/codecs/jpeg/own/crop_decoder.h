// `CropDecoder` decodes any rectangle of a JPEG: blocks inside are decoded, those before and beside it only passed
// over, and nothing after its last row is looked at. Where entry points are known, only a few blocks before those of
// the rectangle are looked at. Pixels are those of libjpeg-turbo's defaults. Its memory is a few rows of the rectangle,
// and is kept for the next image. Threads: an object belongs to one thread.
#ifndef HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_CROP_DECODER_H_
#define HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_CROP_DECODER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/vision/codecs/jpeg/own/blocks.h"
#include "kernels/vision/codecs/jpeg/own/entry_points.h"
#include "kernels/vision/codecs/jpeg/own/huffman_tables.h"
#include "kernels/vision/codecs/jpeg/own/inverse_dct.h"
#include "kernels/vision/codecs/jpeg/own/scan_bytes.h"
#include "kernels/vision/codecs/jpeg/own/sequential_jpeg.h"

namespace headrace::jpeg {

// Of pixels, within the image of 1/scale of its height and width, rounded up.
struct Rectangle {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
  int scale = 1;  // 1, 2, 4 or 8
};

// What the decoder writes of the pixels, row by row.
enum class PixelRows {
  kAsStored,  // red, green and blue, or the one value of a grey image
  kGrey,      // of colours their luma
  kRgb,       // of a grey image its value three times
};

enum class Decoded {
  kDone,
  // The data are damaged before the end of what was wanted. The pixels are undefined.
  kDamaged,
  kStopped,  // by the StopSignal
};

class CropDecoder {
 public:
  // Writes the rectangle's rows to `pixels` without gaps.
  // `to_end` also passes over what follows, to see whether it is damaged. `points`, begun for this image, are used, and
  // those that are passed are added; they are worth keeping if it is done. Null: none are known, and none are wanted.
  Decoded Decode(const SequentialJpeg& jpeg, const Rectangle& part, bool to_end, uint8_t* pixels,
                 EntryPoints* points = nullptr, PixelRows rows = PixelRows::kAsStored);
  // Whether the last one began at an entry point.
  bool used_points() const { return used_points_; }

  // Frees what an uncommonly large image has left.
  void KeepLittle();

 private:
  // How samples of a component become one for each pixel.
  enum class Widening {
    kNone,
    kAcross,         // smoothly, twice as many
    kDown,           // the same for rows
    kAcrossAndDown,  // both
    kRepeated,       // any number, each sample several times
  };
  // Samples of one component.
  struct Plane {
    Widening widening = Widening::kNone;
    int across = 1;  // sampling factors
    int down = 1;
    int side = kBlockSize;  // samples of a block across and down
    int repeats = 1;        // of a sample across
    int row_repeats = 1;
    int64_t width = 0;  // of the component
    int64_t height = 0;
    int64_t first = 0;  // samples that the window needs, without neighbours
    int64_t end = 0;
    int64_t first_block = 0;
    int64_t blocks = 0;
    int64_t first_block_row = 0;
    int64_t end_block_row = 0;
    int64_t row_bytes = 0;
    int64_t rows = 0;  // held at a time
    std::vector<uint8_t> samples;
    std::vector<int16_t> coefficients;  // of a row of MCUs
    std::vector<uint8_t> widened;       // a row

    bool smooth_across() const { return widening == Widening::kAcross || widening == Widening::kAcrossAndDown; }
    bool smooth_down() const { return widening == Widening::kDown || widening == Widening::kAcrossAndDown; }
    bool Holds(int64_t block_row, int64_t block) const {
      return block_row >= first_block_row && block_row < end_block_row && block >= first_block &&
             block < first_block + blocks;
    }
    int64_t CoefficientsOfRow() const { return (blocks + kMostBlocksAtOnce) * kCoefficients; }
    // The blocks of a row within the row of MCUs.
    int16_t* Blocks(int row) { return coefficients.data() + row * CoefficientsOfRow(); }
    // Sample 0 of the image in a row; only those from first_block on are held.
    uint8_t* Row(int64_t y);
  };
  // A block of an MCU.
  struct Place {
    int component = 0;
    int row = 0;
    int column = 0;
  };

  bool SetTables(const SequentialJpeg& jpeg, bool to_end);
  // Blocks that will be passed over.
  int64_t BlocksToPass(const SequentialJpeg& jpeg, bool to_end) const;
  void SetPlaces(const SequentialJpeg& jpeg);
  void SetPlane(const SequentialJpeg& jpeg, const Rectangle& part, int component);
  void SetMcus(const SequentialJpeg& jpeg);
  // Up to this MCU of the image, from the last entry point before it where that is ahead; false: damaged.
  bool PassTo(int64_t mcu);
  // Of one row of MCUs; false: damaged.
  bool PassMcus(int64_t end);
  bool ReadMcus(int64_t end);
  bool BeginMcu();
  void BeginAt(const EntryPoint& point);
  void NotePoint();
  bool IsFaultless() const;
  void Transform(const SequentialJpeg& jpeg, int64_t mcu_row);
  // Rows before `end` that are not written yet.
  void WriteRows(int64_t end);
  // The samples of a row of the window, one for each pixel.
  const uint8_t* RowOf(Plane& plane, int64_t y);

  std::array<MeanTable, kTables> mean_tables_;
  std::array<CoefficientTable, kTables> other_tables_;
  std::array<ComponentCodes, 3> codes_;
  std::array<Plane, 3> planes_;
  std::vector<int16_t> sums_;
  std::vector<Place> places_;
  int count_ = 0;  // of components

  const uint8_t* data_ = nullptr;
  const uint8_t* data_end_ = nullptr;
  ScanBytes scan_;
  BitWindow window_;
  EntryPoints* points_ = nullptr;
  bool used_points_ = false;
  int64_t wants_point_ = 0;  // the next MCU that lacks one; -1: none are wanted
  int64_t mcus_per_row_ = 0;
  int64_t mcu_ = 0;  // the next one
  std::array<int32_t, 3> means_ = {};
  int interval_ = 0;
  int until_restart_ = 0;
  int next_restart_ = 0;

  int64_t first_mcu_ = 0;
  int64_t end_mcu_ = 0;
  int64_t first_mcu_row_ = 0;
  int64_t end_mcu_row_ = 0;
  Rectangle wanted_;
  int64_t next_row_ = 0;
  uint8_t* pixels_ = nullptr;
  int channels_ = 0;                 // of the pixels written
  std::vector<uint8_t> colour_row_;  // a row of colours, from which a grey one is made
};

}  // namespace headrace::jpeg

#endif  // HEADRACE_KERNELS_VISION_CODECS_JPEG_OWN_CROP_DECODER_H_

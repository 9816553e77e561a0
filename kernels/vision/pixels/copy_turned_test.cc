// Tests copies of turned images against their definition, pixel by pixel.
#include "kernels/vision/pixels/copy_turned.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace headrace {
namespace {

// Rows of the image lie further apart than they are long; nothing after the last pixel may be read.
class SpacedRows {
 public:
  SpacedRows(int64_t height, int64_t width, int64_t pixel_bytes)
      : height_(height), width_(width), pixel_bytes_(pixel_bytes), stride_(width * pixel_bytes + 5) {
    bytes_.resize(static_cast<size_t>(stride_ * (height - 1) + width * pixel_bytes));
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<uint8_t>(i * 7 + i / 251);
  }

  // From a corner, along rows or along columns.
  ReadingOrder Order(bool from_bottom, bool from_right, bool swapped) const {
    const int64_t down = from_bottom ? -stride_ : stride_;
    const int64_t right = from_right ? -pixel_bytes_ : pixel_bytes_;
    const uint8_t* const start =
        bytes_.data() + (from_bottom ? (height_ - 1) * stride_ : 0) + (from_right ? (width_ - 1) * pixel_bytes_ : 0);
    return swapped ? ReadingOrder{start, right, down} : ReadingOrder{start, down, right};
  }

  void ExpectCopied(const ReadingOrder& order, bool swapped) const {
    const int64_t height = swapped ? width_ : height_;
    const int64_t width = swapped ? height_ : width_;
    std::vector<uint8_t> found(static_cast<size_t>(height * width * pixel_bytes_));
    CopyTurned(order, height, width, pixel_bytes_, found.data());
    std::vector<uint8_t> expected(found.size());
    for (int64_t i = 0; i < height * width; ++i) {
      const uint8_t* const pixel = order.start + i / width * order.row_step + i % width * order.column_step;
      std::memcpy(expected.data() + i * pixel_bytes_, pixel, static_cast<size_t>(pixel_bytes_));
    }
    EXPECT_EQ(found, expected) << height_ << " × " << width_ << " of " << pixel_bytes_ << " bytes";
  }

 private:
  int64_t height_;
  int64_t width_;
  int64_t pixel_bytes_;
  int64_t stride_;
  std::vector<uint8_t> bytes_;
};

TEST(CopyTurned, CopiesEachPixelInAnyOrder) {
  for (const int64_t pixel_bytes : {1, 2, 3, 4, 5, 6, 8, 12, 24}) {
    for (const int64_t height : {1, 2, 33, 70}) {
      for (const int64_t width : {1, 5, 64, 67}) {
        const SpacedRows rows(height, width, pixel_bytes);
        for (int order = 0; order < 8; ++order) {
          const bool swapped = (order & 4) != 0;
          rows.ExpectCopied(rows.Order((order & 1) != 0, (order & 2) != 0, swapped), swapped);
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace

// Lossless JPEGs, written by a small encoder.
#include "kernels/vision/codecs/jpeg/lossless_jpeg.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

struct LosslessSpec {
  int width = 7;
  int height = 5;
  int channels = 3;
  int predictor = 1;
  int bits = 8;
  int shift = 0;
  int rows_between = 0;  // restart markers
  bool apart = false;    // a scan for each channel
};

// 17 codes of 5 bits: each is its own category.
class LosslessWriter {
 public:
  void Difference(int difference) {
    difference = static_cast<int16_t>(difference);
    int size = 0;
    for (int left = difference < 0 ? -difference : difference; left > 0; left >>= 1) ++size;
    Put(static_cast<uint32_t>(size), 5);
    if (size > 0 && size < 16) {
      Put(static_cast<uint32_t>(difference < 0 ? difference - 1 : difference) & ((1U << size) - 1), size);
    }
  }
  std::string Take() {
    while (count_ % 8 != 0) Put(1, 1);
    count_ = 0;
    return std::move(bytes_);
  }

 private:
  void Put(uint32_t number, int bits) {
    for (int i = bits - 1; i >= 0; --i) {
      byte_ = byte_ << 1 | (number >> i & 1);
      if (++count_ % 8 != 0) continue;
      bytes_.push_back(static_cast<char>(byte_));
      if ((byte_ & 255) == 255) bytes_.push_back('\0');
    }
  }
  std::string bytes_;
  uint32_t byte_ = 0;
  int count_ = 0;
};

std::string Segment(int marker, const std::string& content) {
  const size_t length = content.size() + 2;
  return std::string{'\xff', static_cast<char>(marker), static_cast<char>(length >> 8), static_cast<char>(length)} +
         content;
}

int PredictedOf(const LosslessSpec& spec, const std::vector<int>& plane, int y, int x, bool first) {
  const auto at = [&](int row, int column) { return plane[static_cast<size_t>(row * spec.width + column)]; };
  if (x == 0) return first ? 1 << (spec.bits - spec.shift - 1) : at(y - 1, 0);
  const int left = at(y, x - 1);
  if (first) return left;
  const int above = at(y - 1, x);
  const int corner = at(y - 1, x - 1);
  const int predicted[] = {0,
                           left,
                           above,
                           corner,
                           left + above - corner,
                           left + ((above - corner) >> 1),
                           above + ((left - corner) >> 1),
                           (left + above) >> 1};
  return predicted[spec.predictor];
}

std::string LosslessFile(const LosslessSpec& spec, const std::vector<uint8_t>& pixels) {
  std::vector<std::vector<int>> planes(static_cast<size_t>(spec.channels));
  for (size_t i = 0; i < pixels.size(); ++i) planes[i % planes.size()].push_back(pixels[i] >> spec.shift);
  std::string table(17, '\0');
  table[5] = 17;
  for (int i = 0; i < 17; ++i) table.push_back(static_cast<char>(i));
  std::string frame = {static_cast<char>(spec.bits),   0,
                       static_cast<char>(spec.height), 0,
                       static_cast<char>(spec.width),  static_cast<char>(spec.channels)};
  for (int c = 0; c < spec.channels; ++c) frame += {static_cast<char>(c + 1), 0x11, 0};
  std::string file = "\xff\xd8" + Segment(0xc3, frame) + Segment(0xc4, table);
  const int interval = spec.rows_between * spec.width;
  if (interval > 0) file += Segment(0xdd, {static_cast<char>(interval >> 8), static_cast<char>(interval)});
  const int scans = spec.apart ? spec.channels : 1;
  for (int scan = 0; scan < scans; ++scan) {
    const int begin = spec.apart ? scan : 0;
    const int end = spec.apart ? scan + 1 : spec.channels;
    std::string header = {static_cast<char>(end - begin)};
    for (int c = begin; c < end; ++c) header += {static_cast<char>(c + 1), 0};
    file += Segment(0xda, header + std::string{static_cast<char>(spec.predictor), 0, static_cast<char>(spec.shift)});
    LosslessWriter writer;
    for (int y = 0; y < spec.height; ++y) {
      const bool restarts = spec.rows_between > 0 && y > 0 && y % spec.rows_between == 0;
      if (restarts)
        file += writer.Take() + std::string{'\xff', static_cast<char>(0xd0 + (y / spec.rows_between - 1) % 8)};
      for (int x = 0; x < spec.width; ++x) {
        for (int c = begin; c < end; ++c) {
          const std::vector<int>& plane = planes[static_cast<size_t>(c)];
          writer.Difference(plane[static_cast<size_t>(y * spec.width + x)] -
                            PredictedOf(spec, plane, y, x, y == 0 || restarts));
        }
      }
    }
    file += writer.Take();
  }
  return file + "\xff\xd9";
}

absl::StatusOr<Tensor> DecodeLossless(const std::string& file, const fixture::Given& given = {}) {
  return fixture::RunKernel("Decode", given, *Tensor::CopyBytes(DType::kBytes, file));
}

std::vector<uint8_t> LosslessPixels(const LosslessSpec& spec) {
  RowRandom random(5, 0, {});
  std::vector<uint8_t> pixels(static_cast<size_t>(spec.width * spec.height * spec.channels));
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(random.Below(1U << spec.bits) >> spec.shift << spec.shift);
  return pixels;
}

void ExpectExact(const LosslessSpec& spec) {
  const std::vector<uint8_t> pixels = LosslessPixels(spec);
  const absl::StatusOr<Tensor> image =
      DecodeLossless(LosslessFile(spec, pixels), {{"mode", ir::StringValue("unchanged")}});
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->shape(), Shape({spec.height, spec.width, spec.channels}));
  EXPECT_EQ(std::vector<uint8_t>(image->raw(), image->raw() + image->bytes()), pixels) << spec.predictor;
}

TEST(LosslessJpeg, GivesEveryPixel) {
  for (int predictor = 1; predictor <= 7; ++predictor) {
    ExpectExact({.predictor = predictor});
    ExpectExact({.channels = 1, .predictor = predictor});
    ExpectExact({.predictor = predictor, .rows_between = 2});
    ExpectExact({.predictor = predictor, .bits = 5, .shift = 2});
    ExpectExact({.predictor = predictor, .apart = true});
  }
}

TEST(LosslessJpeg, IsAnErrorWhereItIsDamagedOrOfAnotherKind) {
  const LosslessSpec spec;
  const std::string file = LosslessFile(spec, LosslessPixels(spec));
  EXPECT_TRUE(IsLosslessJpeg(file));
  for (size_t length = 4; length + 2 < file.size(); ++length) {
    EXPECT_EQ(KindOf(DecodeLossless(file.substr(0, length)).status()), ErrorKind::kData) << length;
  }
  EXPECT_TRUE(DecodeLossless(file.substr(0, file.size() - 2)).ok());
  EXPECT_THAT(fixture::MessageOf(DecodeLossless(LosslessFile({.bits = 12}, std::vector<uint8_t>(105)))),
              HasSubstr("3 channels of 12 bits, which is not read"));
  EXPECT_THAT(fixture::MessageOf(DecodeLossless(file, {{"scale", ir::IntValue(2)}})), HasSubstr("lossless JPEG"));
  EXPECT_THAT(fixture::MessageOf(DecodeLossless(file, {{"max_pixels", ir::IntValue(34)}})), HasSubstr("max_pixels"));
}

}  // namespace
}  // namespace headrace

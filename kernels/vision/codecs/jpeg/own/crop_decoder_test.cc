// The pixels of any rectangle are libjpeg-turbo's, on every CPU target; data in which libjpeg finds a fault are
// refused.
#include "kernels/vision/codecs/jpeg/own/crop_decoder.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/philox.h"
#include "core/testing/rounds.h"
#include "core/text.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "kernels/testing/jpeg_writer.h"
#include "kernels/testing/libjpeg_pixels.h"

namespace headrace::jpeg {
namespace {

using fixture::DecodeByLibjpeg;
using fixture::JpegSampling;
using fixture::JpegSpec;
using fixture::LibjpegPixels;
using fixture::WriteJpeg;

const uint64_t kSamplingsLeftOut = Rounds(0, {.quick = 7, .sanitized = 7});  // of eight
const uint64_t kDamages = Rounds(6000, {.quick = 600, .sanitized = 600});

constexpr uint8_t kUntouched = 0xAB;

RowRandom RandomOf(uint64_t key) { return RowRandom(29, 0, {.key = key}); }

std::string TextOf(const Rectangle& part) {
  return Cat(part.height, " × ", part.width, " from row ", part.top, ", column ", part.left);
}

Rectangle AnyPartOf(const LibjpegPixels& image, RowRandom& random) {
  const auto below = [&random](int64_t most) {
    return static_cast<int64_t>(random.Below(static_cast<uint64_t>(most)));
  };
  const int64_t top = below(image.height);
  const int64_t left = below(image.width);
  return {top, left, 1 + below(image.height - top), 1 + below(image.width - left)};
}

bool IsPartOf(const std::vector<uint8_t>& pixels, const LibjpegPixels& image, const Rectangle& part) {
  const auto row_bytes = static_cast<size_t>(part.width * image.channels);
  for (int64_t y = 0; y < part.height; ++y) {
    const int64_t at = ((part.top + y) * image.width + part.left) * image.channels;
    if (std::memcmp(pixels.data() + y * part.width * image.channels, image.pixels.data() + at, row_bytes) != 0) {
      return false;
    }
  }
  return true;
}

class CropDecoderTest : public testing::Test {
 protected:
  // The pixels, and one value that must stay.
  Decoded Decode(const SequentialJpeg& jpeg, const Rectangle& part, std::vector<uint8_t>& pixels) {
    pixels.assign(static_cast<size_t>(part.height * part.width * jpeg.count) + 1, kUntouched);
    const Decoded decoded = decoder_->Decode(jpeg, part, !jpeg.HasEndMarker(), pixels.data());
    EXPECT_EQ(pixels.back(), kUntouched);
    return decoded;
  }

  void Compare(const SequentialJpeg& jpeg, const LibjpegPixels& image, const Rectangle& part) {
    std::vector<uint8_t> pixels;
    ASSERT_EQ(Decode(jpeg, part, pixels), Decoded::kDone) << TextOf(part);
    ASSERT_TRUE(IsPartOf(pixels, image, part)) << TextOf(part);
    ++compared_;
  }

  // All offsets, of thin parts and of the rest.
  void CompareEverywhere(const std::string& bytes) {
    const auto image = DecodeByLibjpeg(bytes);
    const auto jpeg = FindSequentialJpeg(bytes);
    ASSERT_TRUE(image.has_value() && jpeg.has_value());
    ASSERT_EQ(jpeg->height, image->height);
    ASSERT_EQ(jpeg->width, image->width);
    Compare(*jpeg, *image, {0, 0, image->height, image->width});
    for (int64_t left = 0; left < image->width; ++left) {
      Compare(*jpeg, *image, {0, left, image->height, 1 + left % std::min<int64_t>(3, image->width - left)});
    }
    for (int64_t top = 0; top < image->height; ++top) {
      Compare(*jpeg, *image, {top, 0, 1 + top % std::min<int64_t>(3, image->height - top), image->width});
    }
    for (int64_t at = 0; at < std::min(image->height, image->width); ++at) {
      Compare(*jpeg, *image, {at, at, image->height - at, image->width - at});
    }
  }

  const std::unique_ptr<CropDecoder> decoder_ = std::make_unique<CropDecoder>();
  int compared_ = 0;
};

TEST_F(CropDecoderTest, EqualsLibjpegForEverySampling) {
  uint64_t key = 0;
  for (const std::vector<JpegSampling>& sampling : fixture::JpegSamplings()) {
    RowRandom random = RandomOf(++key);
    if (key % 8 < kSamplingsLeftOut || sampling.size() > 3) continue;
    JpegSpec spec{.width = 27 + static_cast<int>(random.Below(16)),
                  .height = 25 + static_cast<int>(random.Below(16)),
                  .components = sampling,
                  .restart = static_cast<int>(random.Below(2) * (1 + random.Below(7))),
                  .quality = 1 + static_cast<int>(random.Below(100))};
    if (!fixture::FitsOneScan(spec)) continue;
    SCOPED_TRACE(key);
    CompareEverywhere(WriteJpeg(spec, random));
    if (HasFailure()) return;
  }
  EXPECT_GT(compared_, 400);
  std::printf("HEADRACE-COUNT variants=%d\n", compared_);
}

TEST_F(CropDecoderTest, EqualsLibjpegAtSmallSizes) {
  uint64_t key = 1000;
  for (const JpegSampling luma : {JpegSampling{1, 1}, JpegSampling{2, 1}, JpegSampling{2, 2}, JpegSampling{1, 2}}) {
    for (int height = 1; height <= 18; ++height) {
      for (int width = 1; width <= 18; width += 1 + height % 3) {
        RowRandom random = RandomOf(++key);
        SCOPED_TRACE(Cat(height, " × ", width));
        CompareEverywhere(WriteJpeg({.width = width, .height = height, .components = {luma, {}, {}}}, random));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(CropDecoderTest, EqualsLibjpegOnEachTarget) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const JpegSampling luma : {JpegSampling{1, 1}, JpegSampling{2, 1}, JpegSampling{2, 2}, JpegSampling{1, 2}}) {
      for (const int quality : {1, 60, 100}) {
        RowRandom random = RandomOf(2000 + static_cast<uint64_t>(quality));
        SCOPED_TRACE(Cat(hwy::TargetName(target), ", quality ", quality));
        JpegSpec spec{.width = 90, .height = 41, .components = {luma, {}, {}}, .quality = quality};
        CompareEverywhere(WriteJpeg(spec, random));
        if (HasFailure()) break;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST_F(CropDecoderTest, RefusesWhatLibjpegRefuses) {
  uint64_t done = 0;
  uint64_t refused = 0;
  for (uint64_t round = 0; round < kDamages && !HasFailure(); ++round) {
    RowRandom random = RandomOf(3000 + round);
    JpegSpec spec = fixture::AnyJpegSpec(random);
    if (spec.components.size() > 3) continue;
    spec.scans.clear();
    spec.arithmetic = false;
    if (!fixture::FitsOneScan(spec)) continue;
    std::string bytes = WriteJpeg(spec, random);
    fixture::DamageJpeg(random, bytes);
    const auto jpeg = FindSequentialJpeg(bytes);
    if (!jpeg.has_value() || jpeg->height * jpeg->width > 1 << 18) continue;
    SCOPED_TRACE(Cat("round ", round));
    const auto image = DecodeByLibjpeg(bytes);
    std::vector<uint8_t> pixels;
    const Rectangle whole{0, 0, jpeg->height, jpeg->width};
    if (!image.has_value()) {
      ++refused;
      ASSERT_EQ(Decode(*jpeg, whole, pixels), Decoded::kDamaged);
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      const Rectangle part = i == 0 ? whole : AnyPartOf(*image, random);
      if (Decode(*jpeg, part, pixels) == Decoded::kDamaged) {
        ++refused;
        continue;
      }
      ++done;
      ASSERT_FALSE(i == 0 && image->damaged);
      ASSERT_TRUE(IsPartOf(pixels, *image, part)) << TextOf(part);
    }
  }
  EXPECT_GT(done, kDamages / 20);
  EXPECT_GT(refused, kDamages / 20);
  std::printf("HEADRACE-COUNT fuzz=%llu\n", static_cast<unsigned long long>(done + refused));
}

TEST_F(CropDecoderTest, LooksAtNothingBehindTheLastRow) {
  RowRandom random = RandomOf(1);
  std::string bytes = WriteJpeg({.width = 64, .height = 64, .components = {{2, 2}, {}, {}}}, random);
  const auto image = *DecodeByLibjpeg(bytes);
  // A marker in the last quarter of the data.
  const size_t scan = fixture::ScanStarts(bytes)[0];
  bytes.insert(scan + (bytes.size() - scan) * 9 / 10, "\xFF\xC0", 2);
  auto jpeg = *FindSequentialJpeg(bytes);
  std::vector<uint8_t> pixels;
  EXPECT_EQ(Decode(jpeg, {0, 0, 64, 64}, pixels), Decoded::kDamaged);
  ASSERT_EQ(Decode(jpeg, {3, 5, 20, 50}, pixels), Decoded::kDone);
  EXPECT_TRUE(IsPartOf(pixels, image, {3, 5, 20, 50}));
  // Unless it is asked to.
  pixels.assign(pixels.size(), 0);
  EXPECT_EQ(decoder_->Decode(jpeg, {3, 5, 20, 50}, true, pixels.data()), Decoded::kDamaged);
}

TEST_F(CropDecoderTest, PassesRestartMarkersInTheirOrderAlone) {
  RowRandom random = RandomOf(1);
  const std::string bytes =
      WriteJpeg({.width = 64, .height = 64, .components = {{2, 2}, {}, {}}, .restart = 3}, random);
  const size_t second = bytes.find("\xFF\xD1");
  ASSERT_NE(second, std::string::npos);
  std::vector<uint8_t> pixels;
  const Rectangle whole{0, 0, 64, 64};
  EXPECT_EQ(Decode(*FindSequentialJpeg(bytes), whole, pixels), Decoded::kDone);
  std::string other = bytes;
  other[second + 1] = '\xD2';
  EXPECT_EQ(Decode(*FindSequentialJpeg(other), whole, pixels), Decoded::kDamaged);
  other = bytes;
  other.insert(second, 1, 'x');
  EXPECT_EQ(Decode(*FindSequentialJpeg(other), whole, pixels), Decoded::kDamaged);
  other = bytes;
  other.erase(second, 2);
  EXPECT_EQ(Decode(*FindSequentialJpeg(other), whole, pixels), Decoded::kDamaged);
}

}  // namespace
}  // namespace headrace::jpeg

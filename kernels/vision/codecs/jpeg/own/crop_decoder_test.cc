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
#include "kernels/vision/image/pixel_mode.h"

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
  return Cat(part.height, " × ", part.width, " from row ", part.top, ", column ", part.left, " of 1/", part.scale);
}

Rectangle AnyPartOf(const LibjpegPixels& image, int scale, RowRandom& random) {
  const auto below = [&random](int64_t most) {
    return static_cast<int64_t>(random.Below(static_cast<uint64_t>(most)));
  };
  const int64_t top = below(image.height);
  const int64_t left = below(image.width);
  return {top, left, 1 + below(image.height - top), 1 + below(image.width - left), scale};
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
  void CompareEverywhere(const std::string& bytes, int scale = 1) {
    const auto image = DecodeByLibjpeg(bytes, scale);
    const auto jpeg = FindSequentialJpeg(bytes);
    ASSERT_TRUE(image.has_value() && jpeg.has_value());
    ASSERT_EQ(DividedUp(jpeg->height, scale), image->height);
    ASSERT_EQ(DividedUp(jpeg->width, scale), image->width);
    Compare(*jpeg, *image, {0, 0, image->height, image->width, scale});
    for (int64_t left = 0; left < image->width; ++left) {
      Compare(*jpeg, *image, {0, left, image->height, 1 + left % std::min<int64_t>(3, image->width - left), scale});
    }
    for (int64_t top = 0; top < image->height; ++top) {
      Compare(*jpeg, *image, {top, 0, 1 + top % std::min<int64_t>(3, image->height - top), image->width, scale});
    }
    for (int64_t at = 0; at < std::min(image->height, image->width); ++at) {
      Compare(*jpeg, *image, {at, at, image->height - at, image->width - at, scale});
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

// How many samples of a component's blocks are made, and how they are upsampled, depends on all sampling factors.
TEST_F(CropDecoderTest, EqualsLibjpegAtEveryScaleForEverySampling) {
  uint64_t key = 0;
  for (const std::vector<JpegSampling>& sampling : fixture::JpegSamplings()) {
    RowRandom random = RandomOf(5000 + ++key);
    if (key % 8 < kSamplingsLeftOut || sampling.size() > 3) continue;
    JpegSpec spec{.width = 40 + static_cast<int>(random.Below(40)),
                  .height = 40 + static_cast<int>(random.Below(40)),
                  .components = sampling,
                  .quality = 1 + static_cast<int>(random.Below(100))};
    if (!fixture::FitsOneScan(spec)) continue;
    SCOPED_TRACE(key);
    const std::string bytes = WriteJpeg(spec, random);
    for (const int scale : {2, 4, 8}) CompareEverywhere(bytes, scale);
    if (HasFailure()) return;
  }
  EXPECT_GT(compared_, 400);
  std::printf("HEADRACE-COUNT variants=%d\n", compared_);
}

TEST_F(CropDecoderTest, MakesGreyOfColoursAndColoursOfGreyRowByRow) {
  RowRandom random = RandomOf(77);
  for (const int components : {1, 3}) {
    JpegSpec spec{.width = 61, .height = 37, .components = std::vector<JpegSampling>(components, {1, 1})};
    const std::string bytes = WriteJpeg(spec, random);
    const auto jpeg = FindSequentialJpeg(bytes);
    ASSERT_TRUE(jpeg.has_value());
    for (const Rectangle& part : {Rectangle{0, 0, 37, 61}, Rectangle{5, 9, 13, 22}, Rectangle{2, 3, 7, 5, 2}}) {
      const auto count = static_cast<size_t>(part.height * part.width);
      std::vector<uint8_t> stored;
      ASSERT_EQ(Decode(*jpeg, part, stored), Decoded::kDone);
      std::vector<uint8_t> grey(count + 1, kUntouched);
      std::vector<uint8_t> rgb(3 * count + 1, kUntouched);
      ASSERT_EQ(decoder_->Decode(*jpeg, part, false, grey.data(), nullptr, PixelRows::kGrey), Decoded::kDone);
      ASSERT_EQ(decoder_->Decode(*jpeg, part, false, rgb.data(), nullptr, PixelRows::kRgb), Decoded::kDone);
      EXPECT_EQ(grey.back(), kUntouched);
      EXPECT_EQ(rgb.back(), kUntouched);
      for (size_t i = 0; i < count; ++i) {
        const uint8_t* const pixel = stored.data() + static_cast<size_t>(components) * i;
        ASSERT_EQ(grey[i], components == 1 ? pixel[0] : Luma(pixel));
        for (size_t c = 0; c < 3; ++c) ASSERT_EQ(rgb[3 * i + c], pixel[components == 1 ? 0 : c]);
      }
    }
  }
}

TEST_F(CropDecoderTest, EqualsLibjpegAtSmallSizes) {
  uint64_t key = 1000;
  for (const JpegSampling luma : {JpegSampling{1, 1}, JpegSampling{2, 1}, JpegSampling{2, 2}, JpegSampling{1, 2}}) {
    for (int height = 1; height <= 18; ++height) {
      for (int width = 1; width <= 18; width += 1 + height % 3) {
        RowRandom random = RandomOf(++key);
        SCOPED_TRACE(Cat(height, " × ", width));
        const std::string bytes = WriteJpeg({.width = width, .height = height, .components = {luma, {}, {}}}, random);
        for (const int scale : {1, 2, 4, 8}) CompareEverywhere(bytes, scale);
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
        const std::string bytes = WriteJpeg(spec, random);
        for (const int scale : {1, 2, 4, 8}) CompareEverywhere(bytes, scale);
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
    const int scale = 1 << random.Below(4);
    const auto image = DecodeByLibjpeg(bytes, scale);
    std::vector<uint8_t> pixels;
    const Rectangle whole{0, 0, DividedUp(jpeg->height, scale), DividedUp(jpeg->width, scale), scale};
    if (!image.has_value()) {
      ++refused;
      ASSERT_EQ(Decode(*jpeg, whole, pixels), Decoded::kDamaged);
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      const Rectangle part = i == 0 ? whole : AnyPartOf(*image, scale, random);
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

TEST_F(CropDecoderTest, LooksAtNothingAfterTheLastRow) {
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

TEST_F(CropDecoderTest, BeginsAtEntryPointsWithTheSamePixels) {
  uint64_t key = 4000;
  int begun = 0;
  int decoded = 0;
  for (const std::vector<JpegSampling>& sampling : fixture::JpegSamplings()) {
    RowRandom random = RandomOf(++key);
    if (key % 8 < kSamplingsLeftOut || sampling.size() > 3) continue;
    JpegSpec spec{.width = 200 + static_cast<int>(random.Below(700)),
                  .height = 60 + static_cast<int>(random.Below(60)),
                  .components = sampling,
                  .restart = static_cast<int>(random.Below(2) * (1 + random.Below(40))),
                  .quality = 1 + static_cast<int>(random.Below(100))};
    if (!fixture::FitsOneScan(spec)) continue;
    SCOPED_TRACE(key);
    const std::string bytes = WriteJpeg(spec, random);
    const auto jpeg = FindSequentialJpeg(bytes);
    ASSERT_TRUE(jpeg.has_value());
    std::string notes;
    for (int i = 0; i < 12; ++i) {
      const int scale = random.Below(2) == 0 ? 1 : 1 << random.Below(4);
      const auto image = DecodeByLibjpeg(bytes, scale);
      ASSERT_TRUE(image.has_value());
      const Rectangle part = AnyPartOf(*image, scale, random);
      EntryPoints points;
      points.Begin(*jpeg, notes);
      std::vector<uint8_t> pixels(static_cast<size_t>(part.height * part.width * jpeg->count));
      ASSERT_EQ(decoder_->Decode(*jpeg, part, random.Below(4) == 0, pixels.data(), &points), Decoded::kDone);
      ASSERT_TRUE(IsPartOf(pixels, *image, part)) << TextOf(part);
      if (points.has_added()) notes = points.Notes();
      begun += decoder_->used_points();
      ++decoded;
    }
  }
  EXPECT_GT(begun, decoded / 4);
}

TEST_F(CropDecoderTest, LooksAtNothingBetweenEntryPointsAndThePart) {
  RowRandom random = RandomOf(1);
  const std::string bytes = WriteJpeg({.width = 1024, .height = 64, .components = {{2, 2}, {}, {}}}, random);
  const auto image = *DecodeByLibjpeg(bytes);
  const auto jpeg = *FindSequentialJpeg(bytes);
  const Rectangle part{40, 600, 20, 100};
  std::vector<uint8_t> pixels(static_cast<size_t>(part.height * part.width * 3));
  EntryPoints found;
  found.Begin(jpeg, "");
  ASSERT_EQ(decoder_->Decode(jpeg, part, true, pixels.data(), &found), Decoded::kDone);
  EXPECT_FALSE(decoder_->used_points());
  EXPECT_EQ(found.missing(), 256);
  // A marker in the first row of MCUs.
  std::string other = bytes;
  other.replace(jpeg.data + 20, 2, "\xFF\xC0");
  const auto damaged = *FindSequentialJpeg(other);
  EXPECT_EQ(decoder_->Decode(damaged, part, false, pixels.data()), Decoded::kDamaged);
  EntryPoints points;
  ASSERT_TRUE(points.BeginUnchecked(damaged, found.points()));
  pixels.assign(pixels.size(), 0);
  ASSERT_EQ(decoder_->Decode(damaged, part, true, pixels.data(), &points), Decoded::kDone);
  EXPECT_TRUE(decoder_->used_points());
  EXPECT_TRUE(IsPartOf(pixels, image, part));
  // The notes themselves are not taken for these bytes.
  points.Begin(damaged, found.Notes());
  EXPECT_EQ(decoder_->Decode(damaged, part, false, pixels.data(), &points), Decoded::kDamaged);
}

TEST_F(CropDecoderTest, FindsTheSameDamageWithEntryPoints) {
  RowRandom random = RandomOf(1);
  std::string bytes = WriteJpeg({.width = 512, .height = 256, .components = {{2, 2}, {}, {}}}, random);
  const size_t data = FindSequentialJpeg(bytes)->data;
  // A marker half-way.
  bytes.replace(data + (bytes.size() - data) / 2, 2, "\xFF\xC0");
  const auto jpeg = *FindSequentialJpeg(bytes);
  std::vector<uint8_t> pixels(512 * 256 * 3);
  std::string notes;
  int damaged = 0;
  for (int i = 0; i < 200; ++i) {
    const int64_t top = static_cast<int64_t>(random.Below(256));
    const int64_t left = static_cast<int64_t>(random.Below(512));
    const Rectangle part = {top, left, 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(256 - top))),
                            1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(512 - left)))};
    const Decoded plain = decoder_->Decode(jpeg, part, false, pixels.data());
    EntryPoints points;
    points.Begin(jpeg, notes);
    ASSERT_EQ(decoder_->Decode(jpeg, part, false, pixels.data(), &points), plain) << TextOf(part);
    if (plain == Decoded::kDone && points.has_added()) notes = points.Notes();
    damaged += plain == Decoded::kDamaged;
  }
  EXPECT_GT(damaged, 20);
  EXPECT_LT(damaged, 180);
  EXPECT_FALSE(notes.empty());
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

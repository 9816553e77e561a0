// A part of a JPEG has the pixels, and a damaged JPEG the fate, that decoding all of it gives: every sampling, scans in
// any order or missing, any scale, any part, any damage.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/memory_reservation.h"
#include "core/row_warning.h"
#include "core/stop_signal.h"
#include "core/testing/rounds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/compare_part.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/jpeg_writer.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/codecs/decode_kernel.h"

namespace headrace {
namespace {

using fixture::JpegSampling;
using fixture::JpegSpec;
using fixture::MessageOf;
using fixture::WriteJpeg;
using ::testing::HasSubstr;

const uint64_t kRounds = Rounds(3000, {.quick = 300, .sanitized = 300});
const uint64_t kSamplingsLeftOut = Rounds(0, {.sanitized = 7});  // of eight

RowRandom RandomOf(uint64_t key) { return RowRandom(23, 0, {.key = key}); }

Tensor Bytes(std::string_view bytes) { return *Tensor::CopyBytes(DType::kBytes, bytes); }

class Decoder {
 public:
  explicit Decoder(int scale, bool orientation = false)
      : kernel_(*fixture::MakeKernel("Decode",
                                     {{"scale", ir::IntValue(scale)}, {"orientation", ir::BoolValue(orientation)}})) {}

  absl::StatusOr<Tensor> Whole(const Tensor& encoded) const {
    OutputAllocator output;
    KernelContext context(RandomOf(0), output);
    HEADRACE_ASSIGN_OR_RETURN(const Tensors outputs, kernel_->Apply({&encoded, 1}, context));
    return outputs[0];
  }
  absl::StatusOr<DecodedPart> Part(const Tensor& encoded, const Window& part) const {
    const auto choose = [&](int64_t, int64_t) -> absl::StatusOr<Window> { return part; };
    return dynamic_cast<const DecodeKernel&>(*kernel_).ApplyPart(encoded, choose);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
};

std::string TextOf(const JpegSpec& spec) {
  std::string text = Cat(spec.height, " × ", spec.width, " sampled");
  for (const JpegSampling& component : spec.components) {
    Append(text, " ", component.horizontal, "x", component.vertical);
  }
  return Cat(text, ", scans ", spec.scans.size(), ", restart ", spec.restart, spec.arithmetic ? ", arithmetic" : "");
}

std::string TextOf(const Window& part) {
  return Cat(part.height, " × ", part.width, " from row ", part.top, ", column ", part.left);
}

int CompareAtEveryOffset(const JpegSpec& spec, const std::string& jpeg) {
  int compared = 0;
  for (const int scale : {1, 2, 4, 8}) {
    const Decoder decoder(scale);
    const Tensor encoded = Bytes(jpeg);
    const absl::StatusOr<Tensor> whole = decoder.Whole(encoded);
    EXPECT_TRUE(whole.ok()) << TextOf(spec) << whole.status();
    if (!whole.ok()) return compared;
    const int64_t height = whole->dim(0), width = whole->dim(1);
    std::vector<Window> parts;
    for (int64_t left = 0; left < width; ++left)
      parts.push_back({0, left, height, 1 + left % std::min<int64_t>(3, width - left)});
    for (int64_t top = 0; top < height; ++top)
      parts.push_back({top, 0, 1 + top % std::min<int64_t>(3, height - top), width});
    for (int64_t at = 0; at < std::min(height, width); ++at) parts.push_back({at, at, height - at, width - at});
    for (const Window& part : parts) {
      EXPECT_TRUE(fixture::IsPartOf(*decoder.Part(encoded, part), *whole, part))
          << TextOf(spec) << " / " << scale << ": " << TextOf(part);
      if (::testing::Test::HasFailure()) return compared;
      ++compared;
    }
  }
  return compared;
}

TEST(JpegParts, EqualTheWholeForEverySampling) {
  int compared = 0;
  uint64_t key = 0;
  for (const std::vector<JpegSampling>& sampling : fixture::JpegSamplings()) {
    RowRandom random = RandomOf(++key);
    if (key % 8 < kSamplingsLeftOut) continue;
    JpegSpec spec{.width = 27 + static_cast<int>(random.Below(16)),
                  .height = 25 + static_cast<int>(random.Below(16)),
                  .components = sampling};
    if (fixture::FitsOneScan(spec)) compared += CompareAtEveryOffset(spec, WriteJpeg(spec, random));
    spec.scans =
        random.Below(2) == 0 ? fixture::ScansApart(sampling.size()) : fixture::ProgressiveScans(sampling.size());
    compared += CompareAtEveryOffset(spec, WriteJpeg(spec, random));
    if (HasFailure()) return;
  }
  std::printf("HEADRACE-COUNT variants=%d\n", compared);
}

// Leaves out so many rows that it is done in several steps.
TEST(JpegParts, EqualTheWholeFarDown) {
  for (const JpegSampling sampling : {JpegSampling{2, 2}, JpegSampling{1, 1}}) {
    RowRandom random = RandomOf(5);
    JpegSpec spec{.width = 3000, .height = 6000, .components = {sampling, {1, 1}, {1, 1}}, .flat = true};
    const Tensor encoded = Bytes(WriteJpeg(spec, random));
    const Decoder decoder(1);
    const Tensor whole = *decoder.Whole(encoded);
    for (const int64_t top : {2795, 2796, 2797, 2800, 5591, 5592, 5593, 5999}) {
      const Window part = {top, 7, 1, 100};
      EXPECT_TRUE(fixture::IsPartOf(*decoder.Part(encoded, part), whole, part)) << top;
    }
  }
}

TEST(JpegParts, EqualTheWholeHoweverItIsTurned) {
  for (const bool progressive : {false, true}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      RowRandom random = RandomOf(700 + static_cast<uint64_t>(orientation));
      JpegSpec spec{.width = 83, .height = 51, .components = {{2, 1}, {}, {}}};
      if (progressive) spec.scans = fixture::ProgressiveScans(3);
      const Tensor encoded = Bytes(fixture::WithOrientation(WriteJpeg(spec, random), orientation));
      for (const int scale : {1, 2}) {
        const Decoder decoder(scale, true);
        const Tensor whole = *decoder.Whole(encoded);
        ASSERT_EQ(whole.dim(0) > whole.dim(1), orientation >= 5);
        for (int i = 0; i < 60; ++i) {
          const auto below = [&random](int64_t most) {
            return static_cast<int64_t>(random.Below(static_cast<uint64_t>(most)));
          };
          const int64_t top = below(whole.dim(0));
          const int64_t left = below(whole.dim(1));
          const Window part = {top, left, 1 + below(whole.dim(0) - top), 1 + below(whole.dim(1) - left)};
          ASSERT_TRUE(fixture::IsPartOf(*decoder.Part(encoded, part), whole, part))
              << orientation << " / " << scale << ": " << TextOf(part);
        }
      }
    }
  }
}

TEST(JpegParts, TakeMemoryForThemselvesAloneHoweverTheyAreTurned) {
  RowRandom random = RandomOf(8);
  const std::string jpeg = WriteJpeg({.width = 900, .height = 700, .components = {{2, 2}, {}, {}}}, random);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Tensor encoded = Bytes(fixture::WithOrientation(jpeg, orientation));
    MemoryAccount* const account = MemoryAccount::Open();
    {
      TaskMemory task(&BufferPool::Global(), account, 0);
      ASSERT_TRUE(Decoder(1, true).Part(encoded, {300, 400, 50, 80}).ok());
      // The part, and what it is turned into.
      EXPECT_LT(task.peak(), 4 * 50 * 80 * 3) << orientation;
    }
    account->Close();
  }
}

TEST(JpegParts, ShareTheFateOfTheWholeWhateverTheDamage) {
  const Decoder decoders[] = {Decoder(1), Decoder(2), Decoder(4), Decoder(8)};
  uint64_t recovered = 0, refused = 0;
  for (uint64_t round = 0; round < kRounds; ++round) {
    RowRandom random = RandomOf(1000 + round);
    const JpegSpec spec = fixture::AnyJpegSpec(random);
    std::string jpeg = WriteJpeg(spec, random);
    fixture::DamageJpeg(random, jpeg);
    const Decoder& decoder = decoders[random.Below(4)];
    const Tensor encoded = Bytes(jpeg);
    const RowWarning warning;
    const absl::StatusOr<Tensor> whole = decoder.Whole(encoded);
    SCOPED_TRACE(Cat("round ", round, ": ", TextOf(spec)));
    if (!whole.ok()) {
      ++refused;
      ASSERT_EQ(KindOf(whole.status()), ErrorKind::kData) << whole.status();
      // The header may be wrong as well, and then nothing can be said of a size.
      ASSERT_EQ(MessageOf(decoder.Part(encoded, {0, 0, 1, 1})), MessageOf(whole));
      continue;
    }
    recovered += warning.text().empty() ? 0 : 1;
    for (int i = 0; i < 5; ++i) {
      const int64_t top = static_cast<int64_t>(random.Below(whole->dim(0)));
      const int64_t left = static_cast<int64_t>(random.Below(whole->dim(1)));
      const Window part = {top, left, 1 + static_cast<int64_t>(random.Below(whole->dim(0) - top)),
                           1 + static_cast<int64_t>(random.Below(whole->dim(1) - left))};
      const absl::StatusOr<DecodedPart> given = decoder.Part(encoded, part);
      ASSERT_TRUE(given.ok()) << given.status() << TextOf(part);
      ASSERT_TRUE(fixture::IsPartOf(*given, *whole, part)) << TextOf(part);
    }
  }
  EXPECT_GT(recovered, kRounds / 20);
  EXPECT_GT(refused, kRounds / 20);
  std::printf("HEADRACE-COUNT fuzz=%llu\n", static_cast<unsigned long long>(kRounds));
}

const JpegSpec kProgressive{
    .width = 90, .height = 70, .components = {{2, 2}, {1, 1}, {1, 1}}, .scans = fixture::ProgressiveScans(3)};

TEST(JpegDamage, AComponentWithoutItsFirstScanIsAnError) {
  RowRandom random = RandomOf(1);
  const std::string progressive = WriteJpeg(kProgressive, random);
  JpegSpec baseline = kProgressive;
  baseline.scans = fixture::ScansApart(3);
  const std::string apart = WriteJpeg(baseline, random);
  const Decoder decoder(1);
  for (const std::string& jpeg : {fixture::FirstScans(progressive, 2), fixture::FirstScans(apart, 2)}) {
    EXPECT_THAT(MessageOf(decoder.Whole(Bytes(jpeg))), HasSubstr("lacks the first scan"));
    EXPECT_THAT(MessageOf(decoder.Part(Bytes(jpeg), {0, 0, 8, 8})), HasSubstr("lacks the first scan"));
  }
  // All first scans are there: what is missing is smoothed over.
  EXPECT_TRUE(decoder.Whole(Bytes(fixture::FirstScans(progressive, 3))).ok());
}

TEST(JpegDamage, AFileWithoutItsEndMarkerIsReadToItsEnd) {
  RowRandom random = RandomOf(2);
  JpegSpec baseline = kProgressive;
  baseline.scans = {};
  const Decoder decoder(1);
  for (const JpegSpec& spec : {baseline, kProgressive}) {
    const std::string jpeg = WriteJpeg(spec, random);
    const std::string_view unmarked = std::string_view(jpeg).substr(0, jpeg.size() - 2);
    EXPECT_TRUE(TensorsEqual(*decoder.Whole(Bytes(unmarked)), *decoder.Whole(Bytes(jpeg))));
    const std::string_view cut = unmarked.substr(0, unmarked.size() - 40);
    for (const int64_t top : {0, 30, 69}) {
      const absl::StatusOr<DecodedPart> part = decoder.Part(Bytes(cut), {top, 3, 1, 5});
      EXPECT_EQ(KindOf(part.status()), ErrorKind::kData);
      EXPECT_THAT(MessageOf(part), HasSubstr("truncated"));
    }
  }
}

// libjpeg takes zeros for what is missing of arithmetic data, and says nothing.
TEST(JpegDamage, ArithmeticDataThatEndEarlyAreAnError) {
  RowRandom random = RandomOf(2);
  JpegSpec baseline = kProgressive;
  baseline.scans = {};
  const Decoder decoder(1);
  for (JpegSpec spec : {baseline, kProgressive}) {
    spec.arithmetic = true;
    const std::string jpeg = WriteJpeg(spec, random);
    EXPECT_THAT(MessageOf(decoder.Whole(Bytes(std::string_view(jpeg).substr(0, jpeg.size() - 60)))),
                HasSubstr("truncated"));
  }
}

TEST(JpegDamage, DamagedDataOfAWholeFileGiveAWarning) {
  RowRandom random = RandomOf(3);
  JpegSpec baseline = kProgressive;
  baseline.scans = {};
  const Decoder decoder(1);
  for (const JpegSpec& spec : {baseline, kProgressive}) {
    std::string jpeg = WriteJpeg(spec, random);
    jpeg.insert(fixture::ScanStarts(jpeg)[0] + 60, "\xFF\xD8", 2);
    const RowWarning warning;
    const absl::StatusOr<Tensor> whole = decoder.Whole(Bytes(jpeg));
    if (spec.scans.empty()) {
      ASSERT_TRUE(whole.ok()) << whole.status();
      EXPECT_THAT(warning.text(), HasSubstr("premature end of data segment"));
    } else {
      // Between scans libjpeg refuses such a marker.
      EXPECT_EQ(KindOf(whole.status()), ErrorKind::kData);
    }
  }
  const RowWarning none;
  EXPECT_TRUE(decoder.Whole(fixture::Encoded("baseline_420.jpg")).ok());
  EXPECT_EQ(none.text(), "");
}

TEST(JpegWork, IsBoundedByTheBytes) {
  RowRandom random = RandomOf(4);
  // The image that packs best is let through, in one scan and in many.
  JpegSpec flat{.width = 2000, .height = 2000, .quality = 1, .flat = true};
  const Decoder decoder(8);
  for (const bool progressive : {false, true}) {
    if (progressive) flat.scans = fixture::ProgressiveScans(1);
    std::string jpeg = WriteJpeg(flat, random);
    EXPECT_TRUE(decoder.Whole(Bytes(jpeg)).ok());
    // Claims more rows than the bytes can hold.
    const size_t frame = jpeg.find(progressive ? "\xFF\xC2" : "\xFF\xC0");
    jpeg[frame + 5] = 100;
    const int64_t before = BufferPool::Global().outstanding_bytes();
    EXPECT_THAT(MessageOf(decoder.Whole(Bytes(jpeg))), HasSubstr("cannot hold its 2000 × "));
    EXPECT_LT(BufferPool::Global().outstanding_bytes() - before, 1 << 20);
  }
}

// One colour in arithmetic coding takes hardly a byte, however large the image: a bound is set all the same.
TEST(JpegWork, IsBoundedInArithmeticCoding) {
  RowRandom random = RandomOf(4);
  std::string jpeg = WriteJpeg({.width = 2000, .height = 2000, .arithmetic = true, .flat = true}, random);
  EXPECT_LT(jpeg.size(), 1000u);
  const Decoder decoder(8);
  EXPECT_TRUE(decoder.Whole(Bytes(jpeg)).ok());
  jpeg[jpeg.find("\xFF\xC9") + 5] = 100;
  EXPECT_THAT(MessageOf(decoder.Whole(Bytes(jpeg))), HasSubstr("cannot hold its 2000 × "));
}

TEST(JpegWork, RefusesScansWithoutNumber) {
  RowRandom random = RandomOf(4);
  const std::string jpeg = WriteJpeg(
      {.width = 2000, .height = 2000, .scans = fixture::ProgressiveScans(1), .quality = 1, .flat = true}, random);
  const std::vector<size_t> starts = fixture::ScanStarts(jpeg);
  const std::string_view bytes = jpeg;
  std::string bomb(bytes.substr(0, starts[2]));
  for (int i = 0; i < 3000; ++i) bomb += bytes.substr(starts[1], starts[2] - starts[1]);
  bomb += bytes.substr(starts[2]);
  EXPECT_THAT(MessageOf(Decoder(8).Whole(Bytes(bomb))), HasSubstr("more work"));
}

TEST(JpegWork, EndsWhenTheSignalIsRaised) {
  RowRandom random = RandomOf(5);
  for (const JpegSpec& spec : {JpegSpec{.width = 200, .height = 200}, kProgressive}) {
    const Tensor encoded = Bytes(WriteJpeg(spec, random));
    const std::unique_ptr<Kernel> kernel = *fixture::MakeKernel("Decode", {});
    for (const int64_t top : {0, 60}) {
      std::atomic<bool> stop = false;
      const StopSignal signal(&stop);
      const auto choose = [&](int64_t, int64_t) -> absl::StatusOr<Window> {
        stop = true;
        return Window{top, 0, 8, 8};
      };
      const auto part = dynamic_cast<const DecodeKernel&>(*kernel).ApplyPart(encoded, choose);
      EXPECT_EQ(KindOf(part.status()), ErrorKind::kClosed) << part.status();
    }
  }
}

TEST(JpegWork, ChargesWhatLibjpegKeeps) {
  RowRandom random = RandomOf(6);
  const Tensor encoded = Bytes(WriteJpeg(kProgressive, random));
  MemoryAccount* const account = MemoryAccount::Open();
  {
    TaskMemory task(&BufferPool::Global(), account, 0);
    ASSERT_TRUE(Decoder(1).Whole(encoded).ok());
    // Of 96 × 80 samples and two colours of a quarter, two bytes each.
    EXPECT_GE(task.peak(), 90 * 70 * 3 + 96 * 80 * 3);
  }
  account->Close();
}

}  // namespace
}  // namespace headrace

// Encoded images against OpenCV's imencode, and round trips through V.Decode.
#include <atomic>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/image/image.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Golden;
using fixture::InferType;
using fixture::MessageOf;
using fixture::ReadTestFile;
using fixture::RunKernel;

Given WithInt(std::string name, int64_t number) {
  ir::proto::Value value;
  value.set_integer(number);
  return {{std::move(name), value}};
}

Given Unchanged() {
  ir::proto::Value mode;
  mode.set_text("unchanged");
  return {{"mode", mode}};
}

Tensor OneChannel(const Tensor& image, int64_t channel) {
  const Tensor plane = *image.Slice(2, channel, 1).Contiguous();
  return plane;
}

// Red, green, blue of the source with an alpha of its own.
Tensor WithAlpha(const Tensor& image) {
  Tensor four = *Tensor::Allocate(DType::kUInt8, {image.dim(0), image.dim(1), 4});
  for (int64_t i = 0; i < image.dim(0) * image.dim(1); ++i) {
    for (int64_t c = 0; c < 3; ++c) four.mutable_raw()[4 * i + c] = image.raw()[3 * i + c];
    four.mutable_raw()[4 * i + 3] = static_cast<uint8_t>(i * 7);
  }
  return four;
}

std::string BytesOf(const absl::StatusOr<Tensor>& encoded) {
  return encoded.ok() ? std::string(encoded->bytes_value()) : encoded.status().ToString();
}

TEST(EncodeJpeg, GivesTheBytesOfImencode) {
  for (const int64_t quality : {1, 50, 95, 100}) {
    const std::string expected = ReadTestFile("encode." + std::to_string(quality) + ".jpg");
    const std::string got = BytesOf(RunKernel("EncodeJpeg", WithInt("quality", quality), Golden("source")));
    EXPECT_TRUE(got == expected) << "quality " << quality << ": " << got.size() << " bytes";
  }
}

TEST(EncodeJpeg, HasQuality95UnlessSaid) {
  EXPECT_TRUE(BytesOf(RunKernel("EncodeJpeg", {}, Golden("source"))) == ReadTestFile("encode.95.jpg"));
}

TEST(EncodeJpeg, TakesAViewOfOddSize) {
  const Tensor view = Golden("source").Slice(0, 0, 37).Slice(1, 0, 53);
  ASSERT_FALSE(view.contiguous());
  EXPECT_TRUE(BytesOf(RunKernel("EncodeJpeg", WithInt("quality", 90), view)) == ReadTestFile("encode.odd.jpg"));
}

TEST(EncodeJpeg, TakesGreyWithAndWithoutAChannelAxis) {
  const Tensor grey = OneChannel(Golden("source"), 1);
  const std::string expected = ReadTestFile("encode.grey.jpg");
  EXPECT_TRUE(BytesOf(RunKernel("EncodeJpeg", {}, grey)) == expected);
  EXPECT_TRUE(BytesOf(RunKernel("EncodeJpeg", {}, grey.Reshape({grey.dim(0), grey.dim(1)}))) == expected);
}

// Noise at the best quality takes more bytes than the encoder makes room for at first.
TEST(EncodeJpeg, GrowsForNoise) {
  Tensor noise = *Tensor::Allocate(DType::kUInt8, {300, 400, 3});
  RowRandom random(1, 2, RowId{});
  for (int64_t i = 0; i < noise.elements(); ++i) noise.mutable_raw()[i] = static_cast<uint8_t>(random.Below(256));
  const absl::StatusOr<Tensor> encoded = RunKernel("EncodeJpeg", WithInt("quality", 100), noise);
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  EXPECT_GT(encoded->bytes(), 2 * (4096u + 300 * 400 / 2));
  const absl::StatusOr<Tensor> decoded = RunKernel("Decode", {}, *encoded);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->shape(), noise.shape());
}

TEST(EncodeJpeg, NamesWhatItCannotTake) {
  const Tensor four = WithAlpha(Golden("source"));
  EXPECT_EQ(MessageOf(RunKernel("EncodeJpeg", {}, four)),
            "needs an image of uint8 with 1 or 3 channels; got uint8 (60, 80, 4)");
  EXPECT_EQ(KindOf(RunKernel("EncodeJpeg", {}, Golden("source.float32")).status()), ErrorKind::kGraph);
  const Tensor wide = *Tensor::Allocate(DType::kUInt8, {1, 65501, 1});
  EXPECT_EQ(KindOf(RunKernel("EncodeJpeg", {}, wide).status()), ErrorKind::kData);
}

TEST(EncodeJpeg, EndsWhenItIsToldTo) {
  const std::atomic<bool> stop = true;
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(RunKernel("EncodeJpeg", {}, Golden("source")).status()), ErrorKind::kClosed);
  EXPECT_EQ(KindOf(RunKernel("EncodePng", {}, Golden("source")).status()), ErrorKind::kClosed);
}

TEST(EncodePng, KeepsEveryPixelAtEveryLevel) {
  const Tensor colour = Golden("source");
  for (const Tensor& image : {colour, OneChannel(colour, 2), WithAlpha(colour)}) {
    std::vector<Given> settings = {{}};
    for (int64_t level = 0; level <= 9; ++level) settings.push_back(WithInt("compression", level));
    for (const Given& given : settings) {
      const absl::StatusOr<Tensor> encoded = RunKernel("EncodePng", given, image);
      ASSERT_TRUE(encoded.ok()) << encoded.status();
      const absl::StatusOr<Tensor> decoded = RunKernel("Decode", Unchanged(), *encoded);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      EXPECT_TRUE(TensorsEqual(*decoded, image)) << image.TypeName();
    }
  }
}

TEST(EncodePng, KeepsSixteenBits) {
  Tensor words = *Tensor::Allocate(DType::kUInt16, {37, 53, 4});
  RowRandom random(1, 3, RowId{});
  for (int64_t i = 0; i < words.elements(); ++i) {
    words.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(random.Below(65536));
  }
  for (const Tensor& image : {words, *words.Slice(2, 0, 3).Contiguous(), *words.Slice(2, 1, 1).Contiguous()}) {
    const absl::StatusOr<Tensor> encoded = RunKernel("EncodePng", {}, fixture::WithGaps(image));
    ASSERT_TRUE(encoded.ok()) << encoded.status();
    EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", Unchanged(), *encoded), image)) << image.TypeName();
  }
  EXPECT_TRUE(InferType("EncodePng", {}, {ir::ColumnType::Of(DType::kUInt16, {4, 4, 3})}).ok());
  EXPECT_EQ(MessageOf(RunKernel("EncodeJpeg", {}, *words.Slice(2, 0, 3).Contiguous())),
            "needs an image of uint8 with 1 or 3 channels; got uint16 (37, 53, 3); 16 bits need a PNG");
}

TEST(EncodePng, CompressesMoreAtAHigherLevel) {
  const auto size = [](int64_t level) {
    return RunKernel("EncodePng", WithInt("compression", level), Golden("source"))->bytes();
  };
  EXPECT_GT(size(0), size(1));
  EXPECT_GT(size(1), size(9));
}

TEST(EncodePng, NamesWhatItCannotTake) {
  const Tensor two = *Tensor::Allocate(DType::kUInt8, {4, 4, 2});
  EXPECT_EQ(MessageOf(RunKernel("EncodePng", {}, two)),
            "needs an image of uint8 or uint16 with 1, 3 or 4 channels; got uint8 (4, 4, 2)");
}

TEST(Encoding, IsRefusedBeforeARunWhereTheTypeShowsIt) {
  EXPECT_FALSE(InferType("EncodeJpeg", {}, {ir::ColumnType::Of(DType::kFloat32, {4, 4, 3})}).ok());
  EXPECT_FALSE(InferType("EncodeJpeg", {}, {ir::ColumnType::Of(DType::kUInt8, {4, 4, 4})}).ok());
  EXPECT_TRUE(InferType("EncodePng", {}, {ir::ColumnType::Of(DType::kUInt8, {4, 4, 4})}).ok());
  const absl::StatusOr<ir::ColumnType> type = InferType("EncodeJpeg", {}, {ir::ColumnType::Unknown()});
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(type->dtype, DType::kBytes);
}

}  // namespace
}  // namespace headrace

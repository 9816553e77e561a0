// Decode(decoder="nvjpeg") over a device of the test: what it is asked for, what is made of its pixels, and what the
// CPU decodes instead.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/row_warning.h"
#include "core/work_counts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/compare_part.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/codecs/decode_kernel.h"
#include "kernels/vision/codecs/jpeg/jpeg_device.h"
#include "kernels/vision/image/pixel_mode.h"

namespace headrace {
namespace {

using fixture::Encoded;
using fixture::Given;
using fixture::MessageOf;
using fixture::RunKernel;
using ::testing::HasSubstr;

// Changes the lowest bit of each value.
class MarkingDevice : public JpegDevice {
 public:
  absl::StatusOr<bool> Decode(const PlainJpeg& jpeg, JpegRows rows, uint8_t* pixels) override {
    ++asked;
    HEADRACE_RETURN_IF_ERROR(fault);
    if (refuses) return false;
    const Tensor bytes = *Tensor::CopyBytes(DType::kBytes, jpeg.bytes);
    const Tensor whole = *RunKernel("Decode", {{"mode", ir::StringValue("unchanged")}}, bytes);
    const int64_t row = jpeg.width * jpeg.components;
    for (int64_t i = 0; i < rows.height * row; ++i) pixels[i] = whole.raw()[rows.top * row + i] ^ 1;
    return true;
  }

  int asked = 0;
  bool refuses = false;
  absl::Status fault;
};

const std::shared_ptr<MarkingDevice>& Device() {
  static const auto device = std::make_shared<MarkingDevice>();
  return device;
}
const NvJpegRegistration decode_on_device_registration{[]() -> std::shared_ptr<JpegDevice> { return Device(); }};

Given OnDevice(Given given = {}) {
  given.emplace_back("decoder", ir::StringValue("nvjpeg"));
  return given;
}
Given ModeDecodeOnDevice(const char* mode) { return {{"mode", ir::StringValue(mode)}}; }
const Given kTurned = {{"orientation", ir::BoolValue(true)}};

Tensor Marked(const Tensor& image) {
  Tensor marked = *Tensor::Allocate(image.dtype(), image.shape());
  for (int64_t i = 0; i < image.elements(); ++i) marked.mutable_raw()[i] = image.raw()[i] ^ 1;
  return marked;
}

class DecodeOnDevice : public ::testing::Test {
 protected:
  DecodeOnDevice() { *Device() = MarkingDevice(); }
};

constexpr const char* kPlain[] = {"baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg", "progressive.jpg",
                                  "restarts.jpg",     "grey.jpg",         "orientation_6.jpg"};

TEST_F(DecodeOnDevice, GivesItsPixels) {
  for (const char* name : kPlain) {
    const Tensor image = *RunKernel("Decode", OnDevice(ModeDecodeOnDevice("unchanged")), Encoded(name));
    EXPECT_TRUE(TensorsEqual(image, Marked(*RunKernel("Decode", ModeDecodeOnDevice("unchanged"), Encoded(name)))))
        << name;
  }
  EXPECT_EQ(Device()->asked, std::size(kPlain));
}

TEST_F(DecodeOnDevice, LeavesOthersToTheCpu) {
  for (const char* name :
       {"rgb.jpg", "cmyk.jpg", "ycck.jpg", "rgb.png", "animated.gif", "alpha.bmp", "animated.webp", "deflate.tiff"}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", OnDevice(), Encoded(name)), *RunKernel("Decode", {}, Encoded(name))))
        << name;
  }
  EXPECT_EQ(Device()->asked, 0);
}

TEST_F(DecodeOnDevice, IsCounted) {
  WorkCounts counts;
  {
    const WorkCounts::Scope scope(&counts);
    for (const char* name : {"grey.jpg", "rgb.jpg", "rgb.png"})
      ASSERT_TRUE(RunKernel("Decode", OnDevice(), Encoded(name)).ok());
  }
  std::vector<std::string> found;
  for (const WorkCounts::Count& count : counts.counts()) found.push_back(Cat(count.number, " ", count.name));
  EXPECT_THAT(found, ::testing::Contains("1 JPEGs by nvJPEG"));
  EXPECT_THAT(found, ::testing::Contains(HasSubstr("JPEGs by libjpeg-turbo")));
}

TEST_F(DecodeOnDevice, ConvertsItsPixelsToEveryMode) {
  const Tensor grey = Marked(*RunKernel("Decode", ModeDecodeOnDevice("unchanged"), Encoded("grey.jpg")));
  for (const char* mode : {"L", "any", "anydepth"}) {
    EXPECT_TRUE(TensorsEqual(*RunKernel("Decode", OnDevice(ModeDecodeOnDevice(mode)), Encoded("grey.jpg")), grey))
        << mode;
  }
  const Tensor repeated = *RunKernel("Decode", OnDevice(), Encoded("grey.jpg"));
  ASSERT_EQ(repeated.elements(), grey.elements() * 3);
  for (int64_t i = 0; i < repeated.elements(); ++i) ASSERT_EQ(repeated.raw()[i], grey.raw()[i / 3]);
  const Tensor colour = Marked(*RunKernel("Decode", {}, Encoded("baseline_420.jpg")));
  const Tensor luma = *RunKernel("Decode", OnDevice(ModeDecodeOnDevice("L")), Encoded("baseline_420.jpg"));
  ASSERT_EQ(luma.elements() * 3, colour.elements());
  for (int64_t i = 0; i < luma.elements(); ++i) ASSERT_EQ(luma.raw()[i], Luma(colour.raw() + 3 * i));
}

TEST_F(DecodeOnDevice, TurnsItsPixels) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Tensor encoded = Encoded(Cat("orientation_", orientation, ".jpg"));
    EXPECT_TRUE(
        TensorsEqual(*RunKernel("Decode", OnDevice(kTurned), encoded), Marked(*RunKernel("Decode", kTurned, encoded))))
        << orientation;
  }
  EXPECT_EQ(Device()->asked, 8);
}

TEST_F(DecodeOnDevice, GivesPartsOfTheWhole) {
  for (const char* name : kPlain) {
    for (const Given& given : {Given{}, ModeDecodeOnDevice("L"), kTurned}) {
      const std::unique_ptr<Kernel> kernel = *fixture::MakeKernel("Decode", OnDevice(given));
      const Tensor encoded = Encoded(name);
      const Tensor whole = *RunKernel("Decode", OnDevice(given), encoded);
      const int64_t height = whole.dim(0), width = whole.dim(1);
      for (const Window part : {Window{0, 0, height, width}, Window{0, 0, 1, 1}, Window{height - 1, width - 1, 1, 1},
                                Window{7, 3, height / 2, width / 2}, Window{0, 5, height, 2}, Window{9, 0, 2, width}}) {
        const auto choose = [&](int64_t, int64_t) -> absl::StatusOr<Window> { return part; };
        EXPECT_TRUE(
            fixture::IsPartOf(*dynamic_cast<const DecodeKernel&>(*kernel).ApplyPart(encoded, choose), whole, part))
            << name << part.top << " " << part.left;
      }
    }
  }
}

TEST_F(DecodeOnDevice, WritesWhereTheRowGoes) {
  const std::unique_ptr<Kernel> kernel = *fixture::MakeKernel("Decode", OnDevice());
  const Tensor encoded = Encoded("baseline_420.jpg");
  const Tensor expected = *RunKernel("Decode", OnDevice(), encoded);
  const Tensor slot = *Tensor::Allocate(expected.dtype(), expected.shape());
  OutputAllocator output(slot);
  KernelContext context(RowRandom(0, 0, RowId{}), output);
  const Tensors given = *kernel->Apply({&encoded, 1}, context);
  EXPECT_EQ(given[0].raw(), slot.raw());
  EXPECT_TRUE(TensorsEqual(given[0], expected));
}

TEST_F(DecodeOnDevice, LeavesWhatItCannotDecodeToTheCpu) {
  Device()->refuses = true;
  for (const char* name : {"baseline_420.jpg", "progressive.jpg", "damaged.jpg"}) {
    const RowWarning warning;
    const Tensor image = *RunKernel("Decode", OnDevice(), Encoded(name));
    EXPECT_EQ(warning.text().empty(), std::string(name) != "damaged.jpg") << warning.text();
    EXPECT_TRUE(TensorsEqual(image, *RunKernel("Decode", {}, Encoded(name)))) << name;
  }
  EXPECT_EQ(Device()->asked, 3);
  const std::string whole = fixture::ReadTestFile("baseline_420.jpg");
  const Tensor cut = *Tensor::CopyBytes(DType::kBytes, whole.substr(0, whole.size() / 2));
  EXPECT_THAT(MessageOf(RunKernel("Decode", OnDevice(), cut)), HasSubstr("the file is truncated"));
}

TEST_F(DecodeOnDevice, FailsIfTheDeviceFails) {
  Device()->fault = ResourceError("the device is lost");
  const absl::StatusOr<Tensor> image = RunKernel("Decode", OnDevice(), Encoded("baseline_420.jpg"));
  EXPECT_EQ(KindOf(image.status()), ErrorKind::kResource);
  EXPECT_EQ(MessageOf(image), "the device is lost");
  EXPECT_TRUE(RunKernel("Decode", OnDevice(), Encoded("rgb.png")).ok());
}

TEST_F(DecodeOnDevice, RefusesLargeImagesFirst) {
  const absl::StatusOr<Tensor> image =
      RunKernel("Decode", OnDevice({{"max_pixels", ir::IntValue(100)}}), Encoded("baseline_420.jpg"));
  EXPECT_THAT(MessageOf(image), HasSubstr("more than max_pixels = 100"));
  EXPECT_EQ(Device()->asked, 0);
}

TEST_F(DecodeOnDevice, HasNoScale) {
  const Given given = OnDevice({{"scale", ir::IntValue(2)}});
  const char* const message = "nvJPEG decodes images in their own size: leave scale=2 out, or decoder=\"nvjpeg\"";
  const absl::StatusOr<std::unique_ptr<Kernel>> made = fixture::MakeKernel("Decode", given);
  EXPECT_EQ(KindOf(made.status()), ErrorKind::kGraph);
  EXPECT_THAT(MessageOf(made), HasSubstr(message));
  const ir::ColumnType bytes = ir::ColumnType::Of(DType::kBytes, {});
  EXPECT_THAT(MessageOf(fixture::InferType("Decode", given, {bytes})), HasSubstr(message));
}

}  // namespace
}  // namespace headrace

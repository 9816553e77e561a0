// Decode(decoder="nvjpeg") over an nvJPEG for tests, whose pixels are libjpeg's with the lowest bit changed, and the
// driver for tests: which pixels come, from any number of threads, and what happens where a call fails. Not tested
// here: the libraries and devices of NVIDIA.
#include "engine/device/nvjpeg/nv_jpeg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "core/error.h"
#include "core/row_warning.h"
#include "core/testing/rounds.h"
#include "engine/device/testing/loaded_driver.h"
#include "engine/device/testing/loaded_nv_jpeg.h"
#include "kernels/testing/compare_part.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/jpeg_writer.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/codecs/decode_kernel.h"

namespace headrace {
namespace {

using fixture::JpegSampling;
using fixture::JpegSpec;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const int kImages = Rounds(1000, {.quick = 100, .sanitized = 100});
constexpr int kThreads = 6;
constexpr int kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
constexpr int kLost = CUDA_ERROR_ILLEGAL_ADDRESS;

Tensor Bytes(std::string_view bytes) { return *Tensor::CopyBytes(DType::kBytes, bytes); }

std::unique_ptr<Kernel> MakeDecode(const char* decoder) {
  return *fixture::MakeKernel("Decode", {{"decoder", ir::StringValue(decoder)}});
}

absl::StatusOr<Tensor> Decoded(const Kernel& kernel, const Tensor& encoded) {
  OutputAllocator output;
  KernelContext context(RowRandom(0, 0, RowId{}), output);
  HEADRACE_ASSIGN_OR_RETURN(const Tensors outputs, kernel.Apply({&encoded, 1}, context));
  return outputs[0];
}

Tensor OnCpu(const Tensor& encoded) { return *Decoded(*MakeDecode("cpu"), encoded); }
// The pixels of the library for tests.
Tensor Marked(const Tensor& image) {
  Tensor marked = *Tensor::Allocate(image.dtype(), image.shape());
  for (int64_t i = 0; i < image.elements(); ++i) marked.mutable_raw()[i] = image.raw()[i] ^ 1;
  return marked;
}

std::vector<JpegSpec> PlainSpecs() {
  std::vector<JpegSpec> specs;
  for (const auto& [height, width] : {std::pair(1, 1), std::pair(37, 45), std::pair(64, 3), std::pair(200, 333)}) {
    specs.push_back({.width = width, .height = height});
    for (const JpegSampling luma : {JpegSampling{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}}) {
      specs.push_back({.width = width, .height = height, .components = {luma, {1, 1}, {1, 1}}});
    }
  }
  for (size_t i = specs.size(); i-- > 0;) {
    JpegSpec spec = specs[i];
    spec.restart = 3;
    specs.push_back(spec);
    spec.scans = fixture::ProgressiveScans(spec.components.size());
    specs.push_back(spec);
  }
  return specs;
}

Tensor Write(const JpegSpec& spec, uint64_t key) {
  RowRandom random(5, 0, {.key = key});
  return Bytes(fixture::WriteJpeg(spec, random));
}

class NvJpegTest : public ::testing::TestWithParam<int> {
 protected:
  NvJpegTest() { SetUp(kPlainDriver, kPlainNvJpeg); }
  ~NvJpegTest() override { EXPECT_EQ(Findings() + NvJpegFindings(), ""); }

  static void SetUp(TestDriverOptions driver, const TestNvJpegOptions& library) {
    driver.order = GetParam();
    SetUpDriver(driver);
    SetUpNvJpeg(library);
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, NvJpegTest, ::testing::Values(kRunLate, kRunEarly, kRunRandom));

TEST_P(NvJpegTest, GivesItsPixels) {
  const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
  const std::vector<JpegSpec> specs = PlainSpecs();
  for (size_t i = 0; i < specs.size(); ++i) {
    const Tensor encoded = Write(specs[i], i);
    ASSERT_TRUE(TensorsEqual(*Decoded(*decode, encoded), Marked(OnCpu(encoded)))) << i;
  }
  EXPECT_EQ(NvJpegImages(), static_cast<int64_t>(specs.size()));
}

TEST_P(NvJpegTest, IsNotGivenWhatItCannotDecode) {
  const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
  RowRandom random(6, 0, {.key = 1});
  for (int round = 0; round < kImages; ++round) {
    const Tensor encoded = Bytes(fixture::WriteJpeg(fixture::AnyJpegSpec(random), random));
    const Tensor expected = OnCpu(encoded);
    const Tensor given = *Decoded(*decode, encoded);
    ASSERT_TRUE(TensorsEqual(given, expected) || TensorsEqual(given, Marked(expected)));
  }
  EXPECT_GT(NvJpegImages(), 0);
  EXPECT_LT(NvJpegImages(), kImages);
  const int64_t before = NvJpegCalls();
  EXPECT_TRUE(Decoded(*decode, fixture::Encoded("cmyk.jpg")).ok());
  EXPECT_EQ(NvJpegCalls(), before);
}

// Of more than a mebibyte, so that memory for a part is not enough for the whole.
TEST_P(NvJpegTest, GivesPartsOfImages) {
  const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
  const Tensor encoded = Write({.width = 900, .height = 700, .components = {{2, 2}, {1, 1}, {1, 1}}}, 1);
  const Tensor expected = Marked(OnCpu(encoded));
  for (const Window& part : {Window{699, 0, 1, 900}, Window{0, 0, 700, 900}, Window{300, 500, 40, 30}}) {
    const auto choose = [&](int64_t, int64_t) -> absl::StatusOr<Window> { return part; };
    const DecodedPart given = *dynamic_cast<const DecodeKernel&>(*decode).ApplyPart(encoded, choose);
    EXPECT_TRUE(fixture::IsPartOf(given, expected, part)) << part.top;
  }
  EXPECT_EQ(NvJpegImages(), 3);
}

// What it refuses is decoded by the CPU, damage or not, and nothing of it is left for the next image.
TEST_P(NvJpegTest, LeavesDamagedImagesToTheCpu) {
  const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
  const std::unique_ptr<Kernel> on_cpu = MakeDecode("cpu");
  const Tensor good = Write({.width = 30, .height = 20}, 1);
  const Tensor expected_good = Marked(OnCpu(good));
  RowRandom random(7, 0, {.key = 1});
  int warned = 0;
  for (int round = 0; round < kImages; ++round) {
    std::string jpeg = fixture::WriteJpeg(fixture::AnyJpegSpec(random), random);
    fixture::DamageJpeg(random, jpeg);
    const Tensor encoded = Bytes(jpeg);
    const RowWarning warning;
    const absl::StatusOr<Tensor> given = Decoded(*decode, encoded);
    const bool was_damaged = !warning.text().empty();
    warned += was_damaged ? 1 : 0;
    const absl::StatusOr<Tensor> expected = Decoded(*on_cpu, encoded);
    ASSERT_EQ(given.status().ToString(), expected.status().ToString());
    if (!expected.ok()) continue;
    ASSERT_TRUE(TensorsEqual(*given, *expected) || (!was_damaged && TensorsEqual(*given, Marked(*expected)))) << round;
    ASSERT_TRUE(TensorsEqual(*Decoded(*decode, good), expected_good));
  }
  EXPECT_GT(warned, kImages / 20);
}

TEST_P(NvJpegTest, TakesNoBytesAfterTheEnd) {
  const std::string jpeg = fixture::ReadTestFile("baseline_420.jpg");
  const Tensor given = *Decoded(*MakeDecode("nvjpeg"), Bytes(jpeg + std::string(100, 'x') + jpeg));
  EXPECT_TRUE(TensorsEqual(given, Marked(OnCpu(Bytes(jpeg)))));
}

TEST_P(NvJpegTest, DecodesOnManyThreads) {
  const std::vector<JpegSpec> specs = PlainSpecs();
  std::vector<Tensor> encoded;
  std::vector<Tensor> expected;
  for (size_t i = 0; i < specs.size(); ++i) {
    encoded.push_back(Write(specs[i], i));
    expected.push_back(Marked(OnCpu(encoded.back())));
  }
  std::atomic<int> wrong{0};
  {
    const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < kImages; ++round) {
          const size_t i = static_cast<size_t>(round * (thread + 1) + thread) % encoded.size();
          const absl::StatusOr<Tensor> given = Decoded(*decode, encoded[i]);
          if (!given.ok() || !TensorsEqual(*given, expected[i])) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(NvJpegImages(), kThreads * kImages);
}

// A session keeps its memory for the next image, but not that of a huge one.
TEST_P(NvJpegTest, KeepsMemoryOfCommonSizes) {
  TestDriverOptions driver = kPlainDriver;
  driver.device_bytes = driver.host_bytes = uint64_t{300} << 20;
  SetUp(driver, kPlainNvJpeg);
  const auto allocations = [] { return FromDriver<decltype(TestDriverAllocations)>("TestDriverAllocations")(); };
  const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
  const Tensor small = Write({.width = 300, .height = 200}, 1);
  const Tensor huge = Write({.width = 4096, .height = 4097, .flat = true}, 2);
  ASSERT_TRUE(Decoded(*decode, small).ok());
  const int64_t first = allocations();
  for (int round = 0; round < 50; ++round) ASSERT_TRUE(Decoded(*decode, small).ok());
  EXPECT_EQ(allocations(), first);
  for (int round = 1; round < 3; ++round) {
    ASSERT_TRUE(Decoded(*decode, huge).ok());
    const int64_t before = allocations();
    ASSERT_TRUE(Decoded(*decode, small).ok());
    EXPECT_GT(allocations(), before);
  }
}

TEST_P(NvJpegTest, SaysThatMemoryIsLacking) {
  for (const bool on_device : {true, false}) {
    TestDriverOptions driver = kPlainDriver;
    (on_device ? driver.device_bytes : driver.host_bytes) = uint64_t{1} << 19;
    SetUp(driver, kPlainNvJpeg);
    const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
    const absl::Status status = Decoded(*decode, Write({.width = 300, .height = 200}, 1)).status();
    EXPECT_EQ(KindOf(status), ErrorKind::kResource);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(on_device ? "decoder=\"nvjpeg\" on cuda:0: cuMemAlloc failed: out of memory "
                                      "(CUDA_ERROR_OUT_OF_MEMORY): let fewer workers decode"
                                    : "decoder=\"nvjpeg\" on cuda:0: cuMemHostAlloc failed: out of memory"));
  }
}

struct FailedRun {
  absl::Status first;
  int64_t calls = 0;
};

// Decodes two images, each again if it failed once, unless the device is lost. None may be `forbidden`.
FailedRun DecodeTwice(const Tensor& encoded, const Tensor& forbidden, bool lost, int64_t (*calls)()) {
  const Tensor expected = Marked(OnCpu(encoded));
  FailedRun run;
  {
    const std::unique_ptr<Kernel> decode = MakeDecode("nvjpeg");
    for (int round = 0; round < 2; ++round) {
      const absl::StatusOr<Tensor> given = Decoded(*decode, encoded);
      if (given.ok()) {
        EXPECT_FALSE(TensorsEqual(*given, forbidden));
        continue;
      }
      if (run.first.ok()) run.first = given.status();
      if (!lost) {
        EXPECT_TRUE(TensorsEqual(*Decoded(*decode, encoded), expected));
      }
    }
  }
  run.calls = calls();
  return run;
}

Tensor SmallColourImage() { return Write({.width = 60, .height = 40, .components = {{2, 2}, {1, 1}, {1, 1}}}, 3); }

TEST_P(NvJpegTest, NamesEachCallOfTheLibraryThatFails) {
  const Tensor encoded = SmallColourImage();
  const FailedRun plain = DecodeTwice(encoded, OnCpu(encoded), false, NvJpegCalls);
  ASSERT_TRUE(plain.first.ok()) << plain.first;
  for (const int status : {kNvJpegAllocatorFailure, kNvJpegExecutionFailed}) {
    const bool of_memory = status == kNvJpegAllocatorFailure;
    // The CPU decodes what fails on the host for other reasons.
    const Tensor forbidden = of_memory ? OnCpu(encoded) : Tensor();
    int named = 0;
    for (int64_t call = 0; call < plain.calls; ++call) {
      SetUp(kPlainDriver, {.major = 13, .minor = 3, .fail_at = call, .fail_status = status});
      const FailedRun run = DecodeTwice(encoded, forbidden, false, NvJpegCalls);
      EXPECT_EQ(Findings() + NvJpegFindings(), "") << call;
      if (run.first.ok()) continue;
      ++named;
      EXPECT_EQ(KindOf(run.first), ErrorKind::kResource);
      EXPECT_THAT(std::string(run.first.message()),
                  MatchesRegex(of_memory ? "decoder=\"nvjpeg\" on cuda:0: nvjpeg[A-Za-z]+ failed "
                                           ".NVJPEG_STATUS_ALLOCATOR_FAILURE.: the GPU or the host has no memory left: "
                                           "let fewer workers decode"
                                         : "decoder=\"nvjpeg\" on cuda:0: nvjpeg[A-Za-z]+ failed "
                                           ".NVJPEG_STATUS_EXECUTION_FAILED."));
    }
    // Nine that make objects, and five for each image, of which two read it on the host.
    EXPECT_EQ(named, of_memory ? 19 : 15);
  }
}

TEST_P(NvJpegTest, NamesEachCallOfTheDriverThatFails) {
  const Tensor encoded = SmallColourImage();
  const Tensor on_cpu = OnCpu(encoded);
  const FailedRun plain = DecodeTwice(encoded, on_cpu, false, DriverCalls);
  ASSERT_TRUE(plain.first.ok()) << plain.first;
  int kept_all = 0;
  for (int64_t call = 0; call < plain.calls; ++call) {
    TestDriverOptions driver = kPlainDriver;
    driver.fail_at = call;
    driver.fail_code = kOutOfMemory;
    SetUp(driver, kPlainNvJpeg);
    const FailedRun run = DecodeTwice(encoded, on_cpu, false, DriverCalls);
    if (!run.first.ok()) {
      EXPECT_EQ(KindOf(run.first), ErrorKind::kResource);
      EXPECT_THAT(std::string(run.first.message()), AnyOf(HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"), HasSubstr("NVJPEG_")));
    }
    kept_all += NvJpegFindings().empty() ? 0 : 1;
    const std::string findings = Findings();
    // A call that frees may be the one that fails.
    EXPECT_TRUE(!NvJpegFindings().empty() || std::count(findings.begin(), findings.end(), '\n') <= 1)
        << call << findings;
  }
  // Nothing can be freed where the context cannot be entered at the end.
  EXPECT_EQ(kept_all, 2);
  SetUp(kPlainDriver, kPlainNvJpeg);
}

TEST_P(NvJpegTest, NeverGivesTheCpusPixelsOfALostDevice) {
  const Tensor encoded = SmallColourImage();
  const Tensor on_cpu = OnCpu(encoded);
  const int64_t calls = DecodeTwice(encoded, on_cpu, false, DriverCalls).calls;
  int failed = 0;
  for (int64_t call = 0; call < calls; ++call) {
    TestDriverOptions driver = kPlainDriver;
    driver.fail_at = call;
    driver.fail_code = kLost;
    driver.sticky = 1;
    SetUp(driver, kPlainNvJpeg);
    const FailedRun run = DecodeTwice(encoded, on_cpu, true, DriverCalls);
    failed += run.first.ok() ? 0 : 1;
    EXPECT_TRUE(run.first.ok() || KindOf(run.first) == ErrorKind::kResource) << run.first;
  }
  EXPECT_GT(failed, 15);
  SetUp(kPlainDriver, kPlainNvJpeg);
}

}  // namespace
}  // namespace headrace

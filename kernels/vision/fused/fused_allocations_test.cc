// The cost of an image beyond its pixels, once a thread has made some: heap memory allocated and bytes copied, for a
// training and a validation pipeline fused into one pass that writes into a batch.
// Replaces malloc, which operator new calls; the linker wraps memcpy and memmove where our own code calls them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "gtest/gtest.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/fused/fused_image.h"

// Sanitizers have a malloc of their own.
#ifndef HEADRACE_SANITIZER

namespace {

struct Counts {
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t by_new = 0;
  int64_t copied_bytes = 0;
};
thread_local constinit Counts counts;
thread_local constinit bool counting = false;

void* Counted(void* memory, size_t bytes) {
  if (counting) {
    ++counts.allocations;
    counts.allocated_bytes += static_cast<int64_t>(bytes);
  }
  return memory;
}

}  // namespace

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) { return Counted(__libc_malloc(bytes), bytes); }
void* calloc(size_t count, size_t bytes) { return Counted(__libc_calloc(count, bytes), count * bytes); }
void* realloc(void* memory, size_t bytes) { return Counted(__libc_realloc(memory, bytes), bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return Counted(__libc_memalign(alignment, bytes), bytes); }
void* memalign(size_t alignment, size_t bytes) { return Counted(__libc_memalign(alignment, bytes), bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = Counted(__libc_memalign(alignment, bytes), bytes);
  return *memory == nullptr ? 12 : 0;
}

void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __real_memmove(void* to, const void* from, size_t bytes);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  if (counting) counts.copied_bytes += static_cast<int64_t>(bytes);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  if (counting) counts.copied_bytes += static_cast<int64_t>(bytes);
  return __real_memmove(to, from, bytes);
}

}  // extern "C"

__attribute__((noinline)) void* operator new(size_t bytes) {
  if (counting) ++counts.by_new;
  void* memory = malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::Ints;

constexpr int kFusedAllocationsImages = 100;
constexpr int64_t kBatch = 8;

class FusedAllocationsChain {
 public:
  void Add(const std::string& name, const Given& given) {
    kernels_.push_back(*fixture::MakeKernel(name, given));
    parts_.push_back({kernels_.back().get(), 7, kernels_.size()});
  }
  void AddEnd() {
    Add("Normalize", {{"mean", Floats({123.675, 116.28, 103.53})}, {"std", Floats({58.395, 57.12, 57.375})}});
    Add("HWC2CHW", {});
  }
  FusedImage Fused() const { return FusedImage::Make(parts_); }

 private:
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<FusedImage::Part> parts_;
};

FusedAllocationsChain Training(bool antialias) {
  FusedAllocationsChain chain;
  chain.Add("Decode", {});
  chain.Add("RandomResizedCrop", {{"size", Ints({224, 224})}, {"antialias", ir::BoolValue(antialias)}});
  chain.Add("RandomHorizontalFlip", {});
  chain.AddEnd();
  return chain;
}

FusedAllocationsChain TrainingWithAntialias() { return Training(true); }

FusedAllocationsChain Validation() {
  FusedAllocationsChain chain;
  chain.Add("Decode", {});
  chain.Add("Resize", {{"size", Ints({256})}});
  chain.Add("CenterCrop", {{"size", Ints({224, 224})}});
  chain.AddEnd();
  return chain;
}

// Of the images after the first ones, which warm the thread up.
Counts CountsOf(const FusedAllocationsChain& chain, const char* image) {
  // A pipeline lends the pool its budget, so that freed buffers are kept.
  BufferPool::Global().AddBudget(int64_t{1} << 30);
  const FusedImage fused = chain.Fused();
  const Tensor encoded = fixture::Encoded(image);
  const Tensor batch = *Tensor::Allocate(DType::kFloat32, {kBatch, 3, 224, 224});
  counts = {};
  for (uint64_t key = 0; key < 2 * kFusedAllocationsImages; ++key) {
    const Tensor place = batch.Index(static_cast<int64_t>(key) % kBatch);
    counting = key >= kFusedAllocationsImages;
    bool in_place = false;
    {
      OutputAllocator output(place);
      const absl::StatusOr<Tensor> result = fused.Apply(encoded, {.key = key}, output, nullptr);
      in_place = result.ok() && result->raw() == place.raw();
    }
    counting = false;
    EXPECT_TRUE(in_place);
  }
  BufferPool::Global().RemoveBudget(int64_t{1} << 30);
  std::printf("%s: %.2f allocations an image, %.2f of them by new, %lld bytes; %lld bytes copied\n", image,
              static_cast<double>(counts.allocations) / kFusedAllocationsImages,
              static_cast<double>(counts.by_new) / kFusedAllocationsImages,
              static_cast<long long>(counts.allocated_bytes / kFusedAllocationsImages),
              static_cast<long long>(counts.copied_bytes / kFusedAllocationsImages));
  return counts;
}

// What libjpeg and libpng take for one image, and give back; more for a progressive one, whose coefficients wait for
// its last scan.
constexpr int64_t kOfLibrary = 12 * kFusedAllocationsImages;
constexpr int64_t kOfProgressive = 16 * kFusedAllocationsImages;
// More than an image has.
constexpr int64_t kPixels = 1 << 14;

TEST(FusedAllocations, CountsWhatThereIs) {
  counts = {};
  counting = true;
  std::vector<uint8_t> bytes(1000, 7);
  std::vector<uint8_t> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size() - copy[0]);
  counting = false;
  EXPECT_EQ(copy[999], 7);
  EXPECT_EQ(counts.by_new, 2);
  EXPECT_EQ(counts.allocations, 2);
  EXPECT_EQ(counts.allocated_bytes, 2000);
  EXPECT_EQ(counts.copied_bytes, 1000);
}

// The data are copied without the bytes that tell them from markers; rows of a grey image, to be made colours.
TEST(FusedAllocations, OfAJpegCopyTheEncodedBytesAlone) {
  for (const char* image : {"baseline_420.jpg", "baseline_422.jpg", "baseline_444.jpg", "grey.jpg"}) {
    for (FusedAllocationsChain (*make)() : {TrainingWithAntialias, Validation}) {
      const Counts found = CountsOf(make(), image);
      EXPECT_EQ(found.allocations, 0) << image;
      const int64_t grey = std::string_view(image) == "grey.jpg" ? kPixels : 0;
      EXPECT_LE(found.copied_bytes,
                kFusedAllocationsImages * (grey + static_cast<int64_t>(fixture::Encoded(image).bytes())))
          << image;
    }
  }
}

TEST(FusedAllocations, AreLibjpegsAloneAndNothingIsCopied) {
  for (FusedAllocationsChain (*make)() : {TrainingWithAntialias, Validation}) {
    const Counts found = CountsOf(make(), "cmyk.jpg");
    EXPECT_EQ(found.by_new, 0);
    EXPECT_LE(found.allocations, kOfLibrary);
    EXPECT_EQ(found.copied_bytes, 0);
  }
  const Counts progressive = CountsOf(Training(true), "progressive.jpg");
  EXPECT_EQ(progressive.by_new, 0);
  EXPECT_LE(progressive.allocations, kOfProgressive);
  EXPECT_EQ(progressive.copied_bytes, 0);
}

TEST(FusedAllocations, OfAPngCopyTheEncodedBytesAlone) {
  const Counts found = CountsOf(Training(true), "rgb.png");
  EXPECT_EQ(found.by_new, 0);
  EXPECT_LE(found.allocations, kOfLibrary);
  EXPECT_LE(found.copied_bytes, kFusedAllocationsImages * static_cast<int64_t>(fixture::Encoded("rgb.png").bytes()));
}

// OpenCV takes its tables, and copies rows where it enlarges.
TEST(FusedAllocations, OfResizingByOpenCvAreFew) {
  const Counts found = CountsOf(Training(false), "baseline_420.jpg");
  EXPECT_LE(found.by_new, 2 * kFusedAllocationsImages);
  EXPECT_LE(found.allocations, kOfLibrary + 2 * kFusedAllocationsImages);
}

}  // namespace
}  // namespace headrace

#else

extern "C" {

void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __real_memmove(void* to, const void* from, size_t bytes);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) { return __real_memcpy(to, from, bytes); }
void* __wrap_memmove(void* to, const void* from, size_t bytes) { return __real_memmove(to, from, bytes); }

}  // extern "C"

TEST(FusedAllocations, AreCountedWithoutSanitizersAlone) { GTEST_SKIP(); }

#endif  // HEADRACE_SANITIZER

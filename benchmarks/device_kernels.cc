// Bytes a second that the kernels for CUDA devices move, against a copy within the device of as many bytes, in turn.
// Prints one line for each shape and the median of the ratios, and ends with an error if a kernel gives other bytes
// than the same definition on the host; needs a GPU, and nothing else that is installed.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "engine/device/byte_passes.h"
#include "engine/device/cuda_kernels.h"

namespace headrace {
namespace {

constexpr int kRounds = 11;
constexpr int kLaunches = 20;
constexpr uint64_t kImages = 256;
constexpr int32_t kWeights = 3;

struct Measured {
  const char* name;
  uint32_t height, width;
  uint32_t channels;
  uint32_t planes;
  size_t value_bytes;
  bool flips = false;  // half of the images from left to right, half of them from top to bottom
  bool erases = false;
  Mixing mixing = Mixing::kNone;
  uint32_t byte_side = 0;  // of the images that are resized to these; 0: none is

  uint64_t values(uint64_t images) const { return images * height * width * channels; }
  uint64_t bytes() const { return kImages * (byte_side > 0 ? byte_side * byte_side : height * width) * channels; }
  size_t table_bytes() const { return (channels * kTableValues * value_bytes + 3) / 4 * 4; }
  // Read and written; the images of partners are read from the cache.
  uint64_t moved() const { return bytes() + values(kImages) * value_bytes; }
};

constexpr Measured kShapes[] = {
    {"224 x 224 x 3 to float32 planes", 224, 224, 3, 1, 4},
    {"the same, flipped", 224, 224, 3, 1, 4, true},
    {"flipped and erased", 224, 224, 3, 1, 4, true, true},
    {"flipped, erased and mixed", 224, 224, 3, 1, 4, true, true, Mixing::kBlend},
    {"flipped, erased and cut", 224, 224, 3, 1, 4, true, true, Mixing::kPaste},
    {"224 x 224 x 3 to float16 planes", 224, 224, 3, 1, 2},
    {"the same, flipped", 224, 224, 3, 1, 2, true},
    {"224 x 224 x 3 to float32", 224, 224, 3, 0, 4},
    {"the same, flipped", 224, 224, 3, 0, 4, true},
    {"flipped, erased and mixed", 224, 224, 3, 0, 4, true, true, Mixing::kBlend},
    {"224 x 224 x 1 to float32", 224, 224, 1, 0, 4},
    {"the same, flipped", 224, 224, 1, 0, 4, true},
    {"resized from 256 x 256, flipped", 224, 224, 3, 1, 4, true, false, Mixing::kNone, 256},
    {"resized from 32 x 32, flipped", 224, 224, 3, 1, 4, true, false, Mixing::kNone, 32},
    {"225 x 225 x 3 to float32 planes", 225, 225, 3, 1, 4},
    {"the same, flipped", 225, 225, 3, 1, 4, true},
    {"flipped and erased", 225, 225, 3, 1, 4, true, true},
    {"flipped, erased and mixed", 225, 225, 3, 1, 4, true, true, Mixing::kBlend},
    {"225 x 225 x 3 to float16 planes", 225, 225, 3, 1, 2},
    {"the same, flipped", 225, 225, 3, 1, 2, true},
    {"99 x 99 x 3 to float32 planes", 99, 99, 3, 1, 4},
    {"the same, flipped", 99, 99, 3, 1, 4, true},
    {"32 x 32 x 3 to float32 planes", 32, 32, 3, 1, 4},
    {"33 x 33 x 4 to float32 planes", 33, 33, 4, 1, 4},
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::exit(1);
}

// Numbers from a seed.
class Random {
 public:
  uint32_t Below(uint32_t bound) {
    state_ = state_ * 0x5851F42D4C957F2D + 0x14057B7EF767814F;
    return static_cast<uint32_t>(state_ >> 33) % bound;
  }

 private:
  uint64_t state_ = 1;
};

// What a kernel reads, on the host.
struct Images {
  explicit Images(const Measured& measured) : shape(measured) {
    bytes.resize(shape.bytes());
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Below(256));
    // Finite floats, and whatever halves they are made of.
    for (size_t i = 0; i < shape.table_bytes() / sizeof(float); ++i) {
      table.push_back(static_cast<float>(random.Below(1 << 20)) * 0.37f - 7000);
    }
    for (uint64_t i = 0; i < kImages; ++i) {
      marks.insert(marks.end(), {static_cast<uint8_t>(random.Below(kCorners)), 0, 0, 0});
      erased.push_back(Box());
      const auto partner = static_cast<int32_t>((i + kImages - 1) % kImages);
      mixed.push_back({partner, 0.37f, 0.63f, 0, Box()});
      if (shape.byte_side > 0) AddTaps();
    }
  }

  // Three bytes along each axis for each position.
  void AddTaps() {
    taps.push_back(0);
    for (const uint32_t side : {shape.height, shape.width}) {
      for (uint32_t i = 0; i < side; ++i) {
        const auto first = static_cast<int32_t>(std::min(i * shape.byte_side / side, shape.byte_side - kWeights));
        taps.insert(taps.end(), {first, kWeights, 1 << 20, 2 << 20, 1 << 20});
      }
    }
  }

  ImageBox Box() {
    const auto left = static_cast<int32_t>(random.Below(shape.width / 2));
    const auto top = static_cast<int32_t>(random.Below(shape.height / 2));
    return {left, top, static_cast<int32_t>(shape.width / 3), static_cast<int32_t>(shape.height / 3)};
  }
  // Without values.
  ByteMapping OnTheHost() const {
    ByteMapping mapping{};
    mapping.bytes = bytes.data();
    mapping.table = table.data();
    if (shape.flips) mapping.marks = marks.data();
    if (shape.erases) mapping.erased = erased.data();
    if (shape.mixing != Mixing::kNone) mapping.mixed = mixed.data();
    mapping.images = kImages;
    mapping.height = shape.height;
    mapping.width = shape.width;
    mapping.byte_height = shape.byte_side > 0 ? shape.byte_side : shape.height;
    mapping.byte_width = shape.byte_side > 0 ? shape.byte_side : shape.width;
    mapping.weights = kWeights;
    if (shape.byte_side > 0) mapping.taps = taps.data();
    mapping.channels = shape.channels;
    mapping.planes = shape.planes;
    mapping.mixing = shape.mixing;
    return mapping;
  }

  const Measured& shape;
  Random random;
  std::vector<uint8_t> bytes;
  std::vector<float> table;
  std::vector<int32_t> taps;
  std::vector<uint8_t> marks;
  std::vector<ImageBox> erased;
  std::vector<MixedImage> mixed;
};

class Gpu {
 public:
  Gpu() : context_(Open()), scope_(*context_), driver_(context_->driver()) {
    Require(scope_.status());
    absl::StatusOr<std::unique_ptr<CudaKernels>> kernels = CudaKernels::Load(context_);
    Require(kernels.status());
    kernels_ = *std::move(kernels);
    if (kernels_ == nullptr) Require(UnsupportedError("no kernels: built without nvcc, or for other devices"));
    Require(driver_.Check(driver_.StreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0), "a stream"));
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    copy_ = reinterpret_cast<decltype(copy_)>(dlsym(library, "cuMemcpyDtoDAsync_v2"));
    send_ = reinterpret_cast<decltype(send_)>(dlsym(library, "cuMemcpyHtoD_v2"));
    copy_back_ = reinterpret_cast<decltype(copy_back_)>(dlsym(library, "cuMemcpyDtoH_v2"));
  }

  void Measure(const Measured& shape) {
    const Images images(shape);
    ByteMapping mapping = images.OnTheHost();
    const size_t value_bytes = shape.values(kImages) * shape.value_bytes;
    const CUdeviceptr values = Memory(value_bytes);
    mapping.values = reinterpret_cast<void*>(values);
    mapping.bytes = Sent(images.bytes);
    mapping.table = Sent(images.table);
    if (shape.byte_side > 0) mapping.taps = Sent(images.taps);
    if (shape.flips) mapping.marks = Sent(images.marks);
    if (shape.erases) mapping.erased = Sent(images.erased);
    if (shape.mixing != Mixing::kNone) mapping.mixed = Sent(images.mixed);
    Rates rates = RatesOf(shape, mapping);
    const double ratio = Median(rates.ratios);
    std::printf("%-32s kernel %6.0f GB/s, copy %6.0f GB/s, ratio %.2f (%.2f to %.2f)\n", shape.name,
                Median(rates.kernel), Median(rates.copy), ratio, rates.ratios.front(), rates.ratios.back());
    std::vector<uint8_t> made(value_bytes);
    Require(driver_.Check(copy_back_(made.data(), values, value_bytes), "a copy back"));
    std::vector<uint8_t> expected(value_bytes);
    mapping = images.OnTheHost();
    mapping.values = expected.data();
    if (shape.value_bytes == sizeof(uint16_t)) {
      MapAllBytes<uint16_t>(mapping);
    } else {
      MapAllBytes<uint32_t>(mapping);
    }
    if (made != expected) Require(InternalError(shape.name, ": the device gives other bytes than the host"));
    for (const CUdeviceptr memory : std::exchange(taken_, {})) driver_.MemFree(memory);
  }

 private:
  static std::shared_ptr<CudaContext> Open() {
    absl::StatusOr<std::shared_ptr<CudaContext>> context = CudaContext::Open(0);
    Require(context.status());
    return *std::move(context);
  }

  struct Rates {
    std::vector<double> ratios = {}, kernel = {}, copy = {};
  };

  Rates RatesOf(const Measured& shape, const ByteMapping& mapping) {
    const uint64_t copied = shape.moved() / 2;
    const CUdeviceptr from = Memory(copied);
    const CUdeviceptr to = Memory(copied);
    Rates rates;
    for (int round = 0; round < kRounds; ++round) {
      rates.kernel.push_back(Rate(shape, [&] { Require(kernels_->Map({mapping, shape.value_bytes}, stream_)); }));
      rates.copy.push_back(Rate(shape, [&] { Require(driver_.Check(copy_(to, from, copied, stream_), "a copy")); }));
      rates.ratios.push_back(rates.kernel.back() / rates.copy.back());
    }
    return rates;
  }

  CUdeviceptr Memory(uint64_t bytes) {
    CUdeviceptr memory = 0;
    Require(driver_.Check(driver_.MemAlloc(&memory, bytes), "cuMemAlloc"));
    taken_.push_back(memory);
    return memory;
  }

  template <typename T>
  const T* Sent(const std::vector<T>& numbers) {
    const size_t bytes = numbers.size() * sizeof(T);
    const CUdeviceptr memory = Memory(bytes);
    Require(driver_.Check(send_(memory, numbers.data(), bytes), "cuMemcpyHtoD"));
    return reinterpret_cast<const T*>(memory);
  }

  // Billions of bytes a second.
  double Rate(const Measured& shape, const std::function<void()>& launch) {
    launch();
    driver_.StreamSynchronize(stream_);
    const uint64_t start = NowNs();
    for (int i = 0; i < kLaunches; ++i) launch();
    Require(driver_.Check(driver_.StreamSynchronize(stream_), "cuStreamSynchronize"));
    return static_cast<double>(shape.moved()) * kLaunches / static_cast<double>(NowNs() - start);
  }

  static double Median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  const std::shared_ptr<CudaContext> context_;
  const CudaScope scope_;
  const CudaDriver& driver_;
  std::unique_ptr<CudaKernels> kernels_;
  CUstream stream_ = nullptr;
  CUresult (*copy_)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = nullptr;
  CUresult (*send_)(CUdeviceptr, const void*, size_t) = nullptr;
  CUresult (*copy_back_)(void*, CUdeviceptr, size_t) = nullptr;
  std::vector<CUdeviceptr> taken_;
};

}  // namespace
}  // namespace headrace

int main() {
  headrace::Gpu gpu;
  for (const auto& shape : headrace::kShapes) gpu.Measure(shape);
}

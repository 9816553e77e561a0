// Bytes a second that the kernels for CUDA devices move, against a copy within the device of as many bytes, in turn.
// Prints one line for each shape and the median of the ratios; needs a GPU, and nothing else that is installed.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "engine/device/cuda_kernels.h"

namespace headrace {
namespace {

constexpr int kRounds = 11;
constexpr int kLaunches = 20;
constexpr uint64_t kPictures = 256;

struct Measured {
  const char* name;
  uint64_t height, width;
  uint32_t channels;
  uint32_t planes;
  size_t value_bytes;

  uint64_t values() const { return kPictures * height * width * channels; }
  // Read and written.
  uint64_t moved() const { return values() * (1 + value_bytes); }
};

constexpr Measured kShapes[] = {
    {"224 x 224 x 3 to float32 planes", 224, 224, 3, 1, 4}, {"224 x 224 x 3 to float16 planes", 224, 224, 3, 1, 2},
    {"224 x 224 x 3 to float32", 224, 224, 3, 0, 4},        {"225 x 225 x 3 to float32 planes", 225, 225, 3, 1, 4},
    {"224 x 224 x 1 to float32", 224, 224, 1, 0, 4},        {"32 x 32 x 3 to float32 planes", 32, 32, 3, 1, 4},
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  std::exit(1);
}

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
  }

  void Measure(const Measured& shape) {
    ByteMapping mapping{};
    mapping.pictures = kPictures;
    mapping.pixels = shape.height * shape.width;
    mapping.channels = shape.channels;
    mapping.planes = shape.planes;
    const CUdeviceptr bytes = Memory(shape.values());
    const CUdeviceptr values = Memory(shape.values() * shape.value_bytes);
    const CUdeviceptr table = Memory(shape.channels * kTableValues * shape.value_bytes);
    mapping.bytes = reinterpret_cast<const uint8_t*>(bytes);
    mapping.values = reinterpret_cast<void*>(values);
    mapping.table = reinterpret_cast<const void*>(table);
    const uint64_t copied = shape.moved() / 2;
    const CUdeviceptr from = Memory(copied);
    const CUdeviceptr to = Memory(copied);
    std::vector<double> ratios, kernel, copy;
    for (int round = 0; round < kRounds; ++round) {
      kernel.push_back(Rate(shape, [&] { Require(kernels_->Map({mapping, shape.value_bytes}, stream_)); }));
      copy.push_back(Rate(shape, [&] { Require(driver_.Check(copy_(to, from, copied, stream_), "a copy")); }));
      ratios.push_back(kernel.back() / copy.back());
    }
    const double ratio = Median(ratios);
    std::printf("%-32s kernel %6.0f GB/s, copy %6.0f GB/s, ratio %.2f (%.2f to %.2f)\n", shape.name, Median(kernel),
                Median(copy), ratio, ratios.front(), ratios.back());
    for (const CUdeviceptr memory : {bytes, values, table, from, to}) driver_.MemFree(memory);
  }

 private:
  static std::shared_ptr<CudaContext> Open() {
    absl::StatusOr<std::shared_ptr<CudaContext>> context = CudaContext::Open(0);
    Require(context.status());
    return *std::move(context);
  }

  CUdeviceptr Memory(uint64_t bytes) {
    CUdeviceptr memory = 0;
    Require(driver_.Check(driver_.MemAlloc(&memory, bytes), "cuMemAlloc"));
    return memory;
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
};

}  // namespace
}  // namespace headrace

int main() {
  headrace::Gpu gpu;
  for (const auto& shape : headrace::kShapes) gpu.Measure(shape);
}

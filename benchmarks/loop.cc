#include "benchmarks/loop.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/antialias_loop.h"
#include "benchmarks/cpu_clones.h"
#include "benchmarks/jpeg_files.h"
#include "benchmarks/jpeg_loop_decoder.h"
#include "benchmarks/random_box.h"
#include "core/error.h"
#include "core/philox.h"
#include "opencv2/core/hal/hal.hpp"
#include "opencv2/imgproc.hpp"

namespace headrace {
namespace {

constexpr int kSide = AntialiasLoop::kSide;
constexpr int kBatch = 32;
constexpr int kBatchesInMemory = 4;
constexpr size_t kImageFloats = size_t{3} * kSide * kSide;
constexpr std::array<float, 3> kMean = {123.675f, 116.28f, 103.53f};
constexpr std::array<float, 3> kDeviation = {58.395f, 57.12f, 57.375f};

// Converts the bytes of one channel's row to floats.
HEADRACE_CPU_CLONES void NormalizeRow(const uint8_t* from, int width, float scale, float shift, float* to) {
  for (int x = 0; x < width; ++x) to[x] = static_cast<float>(from[x]) * scale + shift;
}

void NormalizeToPlanes(const cv::Mat& image, bool flip, float* planes) {
  std::array<uint8_t, 3 * kSide> row;
  uint8_t* channels[3] = {row.data(), row.data() + kSide, row.data() + 2 * kSide};
  for (int y = 0; y < kSide; ++y) {
    cv::hal::split8u(image.ptr(y), channels, kSide, 3);
    for (int c = 0; c < 3; ++c) {
      if (flip) std::reverse(channels[c], channels[c] + kSide);
      const float scale = 1 / kDeviation[c];
      NormalizeRow(channels[c], kSide, scale, -kMean[c] * scale, planes + (c * kSide + y) * size_t{kSide});
    }
  }
}

// Memory for the batches, used in turn. A slot is taken once the batch that was there before is complete.
class Batches {
 public:
  Batches() : memory_(kBatchesInMemory * kBatch * kImageFloats) {}

  float* TakeSlot(int64_t& number) {
    number = next_.fetch_add(1, std::memory_order_relaxed);
    const int64_t batch = number / kBatch;
    std::atomic<int64_t>& complete = complete_[batch % kBatchesInMemory];
    const int64_t needed = batch / kBatchesInMemory * kBatch;
    for (int64_t seen = complete.load(std::memory_order_acquire); seen < needed;
         seen = complete.load(std::memory_order_acquire)) {
      complete.wait(seen, std::memory_order_acquire);
    }
    const size_t slot = number % (kBatchesInMemory * kBatch);
    return memory_.data() + slot * kImageFloats;
  }
  void Complete(int64_t number) {
    std::atomic<int64_t>& complete = complete_[number / kBatch % kBatchesInMemory];
    if ((complete.fetch_add(1, std::memory_order_acq_rel) + 1) % kBatch == 0) complete.notify_all();
  }

 private:
  std::vector<float> memory_;
  std::atomic<int64_t> next_{0};
  std::array<std::atomic<int64_t>, kBatchesInMemory> complete_ = {};
};

uint64_t SumOf(const float* image, uint64_t key) {
  uint64_t sum = key;
  for (size_t i = 0; i < kImageFloats; ++i) {
    uint32_t bits;
    std::memcpy(&bits, image + i, sizeof(bits));
    sum = Scramble(sum ^ bits);
  }
  return sum;
}

struct Shared {
  const LoopOptions& options;
  const std::vector<std::string>& files;
  Batches& batches;
  bool checksum;
  std::atomic<int64_t> next_image{0};
  std::atomic<int64_t> images{0};
  std::atomic<int64_t> unreadable{0};
  std::atomic<uint64_t> sum{0};
};

class LoopThread {
 public:
  explicit LoopThread(Shared& shared) : shared_(shared) {}

  // Runs until the images are done, or the time is over.
  void Run(int64_t until_image, std::chrono::steady_clock::time_point until_time) {
    while (true) {
      if (until_image < 0 && std::chrono::steady_clock::now() >= until_time) return;
      const int64_t number = shared_.next_image.fetch_add(1, std::memory_order_relaxed);
      if (until_image >= 0 && number >= until_image) return;
      const std::string& file = shared_.files[number % shared_.files.size()];
      const bool done = ReadFile(file, bytes_) && Process(number);
      (done ? shared_.images : shared_.unreadable).fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  bool Process(int64_t number) {
    int width = 0;
    int height = 0;
    if (!decoder_.Begin({bytes_.data(), bytes_.size()}, width, height)) return false;
    if (shared_.options.work == LoopWork::kValidation) return Validate(number, width, height);
    RowRandom random(shared_.options.seed, 0, {.epoch = 0, .key = static_cast<uint64_t>(number)});
    bool flip = false;
    if (shared_.options.work == LoopWork::kResize256Center224) {
      if (!ResizeAndCenter()) return false;
    } else {
      const Box box = RandomBox(width, height, random);
      flip = random.Uniform() < 0.5;
      if (!CropAndResize(box)) return false;
    }
    int64_t slot = 0;
    float* target = shared_.batches.TakeSlot(slot);
    NormalizeToPlanes(small_, flip, target);
    Complete(number, slot, target);
    return true;
  }

  bool Validate(int64_t number, int width, int height) {
    Pixels pixels;
    if (!decoder_.DecodeBox(antialias_.Plan(width, height), pixels)) return false;
    std::array<float, 3> scale;
    std::array<float, 3> shift;
    for (int c = 0; c < 3; ++c) {
      scale[c] = 1 / kDeviation[c];
      shift[c] = -kMean[c] * scale[c];
    }
    int64_t slot = 0;
    float* target = shared_.batches.TakeSlot(slot);
    antialias_.Run(pixels, scale.data(), shift.data(), target);
    Complete(number, slot, target);
    return true;
  }

  void Complete(int64_t number, int64_t slot, const float* image) {
    if (shared_.checksum) shared_.sum.fetch_add(SumOf(image, number));
    shared_.batches.Complete(slot);
  }

  bool CropAndResize(const Box& box) {
    Pixels pixels;
    if (shared_.options.work == LoopWork::kCropWhileDecoding) {
      if (!decoder_.DecodeBox(box, pixels)) return false;
    } else {
      if (!decoder_.DecodeAll(pixels)) return false;
      pixels.data += box.top * pixels.row_bytes + size_t{3} * box.left;
    }
    const cv::Mat crop(box.height, box.width, CV_8UC3, const_cast<uint8_t*>(pixels.data), pixels.row_bytes);
    cv::resize(crop, small_, cv::Size(kSide, kSide), 0, 0, cv::INTER_LINEAR);
    return true;
  }

  bool ResizeAndCenter() {
    Pixels pixels;
    if (!decoder_.DecodeAll(pixels)) return false;
    const cv::Mat image(pixels.height, pixels.width, CV_8UC3, const_cast<uint8_t*>(pixels.data), pixels.row_bytes);
    const int shorter = std::min(pixels.width, pixels.height);
    const cv::Size size(256 * pixels.width / shorter, 256 * pixels.height / shorter);
    cv::resize(image, resized_, size, 0, 0, cv::INTER_LINEAR);
    const int left = static_cast<int>(std::nearbyint((size.width - kSide) / 2.0));
    const int top = static_cast<int>(std::nearbyint((size.height - kSide) / 2.0));
    small_ = resized_(cv::Rect(left, top, kSide, kSide));
    return true;
  }

  Shared& shared_;
  JpegLoopDecoder decoder_;
  AntialiasLoop antialias_;
  std::vector<char> bytes_;
  cv::Mat resized_;
  cv::Mat small_;
};

}  // namespace

absl::StatusOr<LoopResult> RunLoop(const LoopOptions& options, bool checksum) {
  if (options.threads < 1) return GraphError("threads is ", options.threads, ", but must be at least 1");
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> files, JpegFiles(options.folder));
  cv::setNumThreads(0);
  const auto batches = std::make_unique<Batches>();
  Shared shared{options, files, *batches, checksum};
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin;
  Clock::time_point until;
  // The last thread to finish its warm-up starts the clock for all.
  std::barrier start(options.threads, [&]() noexcept {
    shared.next_image = 0;
    shared.images = 0;
    shared.unreadable = 0;
    shared.sum = 0;
    begin = Clock::now();
    until = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&] {
      LoopThread thread(shared);
      thread.Run(options.warm_up_images, {});
      start.arrive_and_wait();
      thread.Run(options.seconds > 0 ? -1 : options.images, until);
    });
  }
  for (std::thread& thread : threads) thread.join();
  LoopResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  result.images = shared.images;
  result.unreadable = shared.unreadable;
  result.checksum = shared.sum;
  return result;
}

}  // namespace headrace

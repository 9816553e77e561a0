// serve_loop REQUESTS THREADS PICTURES...: the same by hand, as many servers do it: libjpeg-turbo decodes the whole
// picture, cv::resize makes its shorter edge 256 without antialiasing, and a loop crops, normalises and turns it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "benchmarks/jpeg_loop_decoder.h"
#include "benchmarks/serve/request_times.h"

namespace {

using headrace_serve::kSide;

constexpr int kShorter = 256;
constexpr float kMean[] = {123.675F, 116.28F, 103.53F};
constexpr float kStd[] = {58.395F, 57.12F, 57.375F};

// Reuses its memory.
class Loop {
 public:
  bool Run(const std::string& picture, float* result) {
    int width = 0;
    int height = 0;
    headrace::Pixels pixels;
    if (!decoder_.Begin(picture, width, height) || !decoder_.DecodeAll(pixels)) return false;
    const cv::Mat image(pixels.height, pixels.width, CV_8UC3, const_cast<uint8_t*>(pixels.data), pixels.row_bytes);
    const double scale = static_cast<double>(kShorter) / std::min(pixels.width, pixels.height);
    const cv::Size size(std::max(kShorter, static_cast<int>(std::lround(pixels.width * scale))),
                        std::max(kShorter, static_cast<int>(std::lround(pixels.height * scale))));
    cv::resize(image, resized_, size, 0, 0, cv::INTER_LINEAR);
    Normalize(result);
    return true;
  }

 private:
  void Normalize(float* result) const {
    const int left = (resized_.cols - kSide) / 2;
    const int top = (resized_.rows - kSide) / 2;
    for (int channel = 0; channel < 3; ++channel) {
      const float scale = 1 / kStd[channel];
      const float shift = -kMean[channel] * scale;
      float* plane = result + static_cast<size_t>(channel) * kSide * kSide;
      for (int y = 0; y < kSide; ++y) {
        const uint8_t* const row = resized_.ptr<uint8_t>(top + y) + 3 * left + channel;
        for (int x = 0; x < kSide; ++x) *plane++ = static_cast<float>(row[3 * x]) * scale + shift;
      }
    }
  }

  headrace::JpegLoopDecoder decoder_;
  cv::Mat resized_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  cv::setNumThreads(1);
  const auto make = []() -> headrace_serve::Work {
    const auto loop = std::make_shared<Loop>();
    return [loop](const std::string& picture, float* result) { return loop->Run(picture, result); };
  };
  return headrace_serve::MeasureRequests(count, arguments, 1, make);
}

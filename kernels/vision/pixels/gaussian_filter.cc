#include "kernels/vision/pixels/gaussian_filter.h"

#include <algorithm>
#include <cmath>

#include "kernels/vision/image/window.h"
#include "kernels/vision/pixels/weighted_sum.h"

namespace headrace {
namespace {

// Blurs one image: each row over its neighbours above and below, then along the row.
template <typename T>
class Blur {
 public:
  Blur(const Image& image, const std::vector<float>& down, const std::vector<float>& along)
      : image_(image),
        down_(down),
        along_(along),
        margin_(static_cast<int64_t>(along.size()) / 2 * image.channels),
        values_(image.width * image.channels),
        wide_(static_cast<size_t>(values_ + 2 * margin_)),
        sums_(static_cast<size_t>(values_)) {}

  void Run(uint8_t* target) {
    for (int64_t y = 0; y < image_.height; ++y) RunRow(y, reinterpret_cast<T*>(target) + y * values_);
  }

 private:
  void RunRow(int64_t y, T* target) {
    float* const middle = wide_.data() + margin_;
    std::fill_n(middle, values_, 0.0f);
    const auto reach = static_cast<int64_t>(down_.size()) / 2;
    for (int64_t i = -reach; i <= reach; ++i) {
      const int64_t from = BorderIndex(y + i, image_.height, Border::kReflect);
      AddWeighted(reinterpret_cast<const T*>(image_.row(from)), values_, down_[static_cast<size_t>(i + reach)], middle);
    }
    Mirror();
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    for (size_t i = 0; i < along_.size(); ++i) {
      AddWeighted(wide_.data() + static_cast<int64_t>(i) * image_.channels, values_, along_[i], sums_.data());
    }
    StoreRounded(sums_.data(), values_, target);
  }

  // Fills the margins of the wide row with the pixels beside them, without the first and the last.
  void Mirror() {
    const int64_t pixels = margin_ / image_.channels;
    for (int64_t x = -pixels; x < 0; ++x) CopyPixel(x);
    for (int64_t x = image_.width; x < image_.width + pixels; ++x) CopyPixel(x);
  }
  void CopyPixel(int64_t x) {
    float* const middle = wide_.data() + margin_;
    const int64_t from = BorderIndex(x, image_.width, Border::kReflect);
    std::copy_n(middle + from * image_.channels, image_.channels, middle + x * image_.channels);
  }

  const Image& image_;
  const std::vector<float>& down_;
  const std::vector<float>& along_;
  const int64_t margin_;  // in values
  const int64_t values_;  // of a row
  std::vector<float> wide_;
  std::vector<float> sums_;
};

}  // namespace

std::vector<float> GaussianWeights(int64_t size, double sigma) {
  std::vector<double> weights(static_cast<size_t>(size));
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    weights[static_cast<size_t>(i)] = std::exp(-0.5 * x * x);
    sum += weights[static_cast<size_t>(i)];
  }
  std::vector<float> result;
  for (const double weight : weights) result.push_back(static_cast<float>(weight / sum));
  return result;
}

void FilterByWeights(const Image& image, const std::vector<float>& down, const std::vector<float>& along,
                     uint8_t* target) {
  if (image.dtype() == DType::kUInt8) return Blur<uint8_t>(image, down, along).Run(target);
  Blur<float>(image, down, along).Run(target);
}

}  // namespace headrace

#include "benchmarks/random_box.h"

#include <cmath>

namespace headrace {

Box RandomBox(int width, int height, RowRandom& random) {
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.Uniform(0.08, 1);
    const double ratio = std::exp(random.Uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
    const int w = static_cast<int>(std::nearbyint(std::sqrt(target * ratio)));
    const int h = static_cast<int>(std::nearbyint(std::sqrt(target / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const int top = static_cast<int>(random.Below(height - h + 1));
    const int left = static_cast<int>(random.Below(width - w + 1));
    return {left, top, w, h};
  }
  const double ratio = static_cast<double>(width) / height;
  int w = width;
  int h = height;
  if (ratio < 3.0 / 4) {
    h = static_cast<int>(std::nearbyint(w / (3.0 / 4)));
  } else if (ratio > 4.0 / 3) {
    w = static_cast<int>(std::nearbyint(h * (4.0 / 3)));
  }
  return {(width - w) / 2, (height - h) / 2, w, h};
}

}  // namespace headrace

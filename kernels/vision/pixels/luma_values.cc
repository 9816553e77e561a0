#include "kernels/vision/pixels/luma_values.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/vision/pixels/split_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/luma_values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

void OfPlanes(const uint8_t* HWY_RESTRICT red, const uint8_t* HWY_RESTRICT green, const uint8_t* HWY_RESTRICT blue,
              int64_t pixels, uint8_t* HWY_RESTRICT luma) {
  for (int64_t i = 0; i < pixels; ++i) {
    luma[i] = static_cast<uint8_t>((red[i] * 19595 + green[i] * 38470 + blue[i] * 7471 + 0x8000) >> 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(OfPlanes);

void ForPlanesWithLuma(const uint8_t* rgb, int64_t pixels,
                       absl::FunctionRef<void(int64_t first, PlanesWithLuma& planes)> use) {
  PlanesWithLuma planes;
  for (int64_t first = 0; first < pixels; first += planes.pixels) {
    planes.pixels = std::min(pixels - first, PlanesWithLuma::kMost);
    SplitChannels(rgb + 3 * first, planes.pixels, 3, 1, PlanesWithLuma::kMost, planes.channels[0]);
    HWY_DYNAMIC_DISPATCH(OfPlanes)
    (planes.channels[0], planes.channels[1], planes.channels[2], planes.pixels, planes.luma);
    use(first, planes);
  }
}

void FillLuma(const uint8_t* rgb, int64_t pixels, uint8_t* luma) {
  ForPlanesWithLuma(rgb, pixels, [luma](int64_t first, const PlanesWithLuma& planes) {
    std::memcpy(luma + first, planes.luma, static_cast<size_t>(planes.pixels));
  });
}

int64_t SumLuma(const uint8_t* rgb, int64_t pixels) {
  int64_t sum = 0;
  ForPlanesWithLuma(rgb, pixels, [&sum](int64_t, const PlanesWithLuma& planes) {
    sum += std::accumulate(planes.luma, planes.luma + planes.pixels, int32_t{0});
  });
  return sum;
}

}  // namespace headrace
#endif  // HWY_ONCE

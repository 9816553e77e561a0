#include "kernels/vision/pixels/join_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vision/pixels/join_channels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headrace {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void JoinThree(const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t pixels,
               uint8_t* HWY_RESTRICT target) {
  // Wider vectors would be assembled from such blocks.
  const hn::CappedTag<uint8_t, 16> block;
  const auto step = static_cast<int64_t>(hn::Lanes(block));
  int64_t x = 0;
  for (; x + step <= pixels; x += step) {
    hn::StoreInterleaved3(hn::LoadU(block, first + x), hn::LoadU(block, second + x), hn::LoadU(block, third + x), block,
                          target + 3 * x);
  }
  for (; x < pixels; ++x) {
    target[3 * x] = first[x];
    target[3 * x + 1] = second[x];
    target[3 * x + 2] = third[x];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(JoinThree);

void JoinThreeChannels(const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t pixels,
                       uint8_t* target) {
  HWY_DYNAMIC_DISPATCH(JoinThree)(first, second, third, pixels, target);
}

}  // namespace headrace
#endif  // HWY_ONCE

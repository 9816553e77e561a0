#include "engine/device/cuda_binary.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(CudaBinaryTest, IsWhatWasRegistered) {
  const absl::Span<const uint8_t> before = CudaBinary();
  static constexpr uint8_t kBytes[] = {1, 2};
  const CudaBinaryRegistration registration(kBytes);
  EXPECT_EQ(CudaBinary().data(), kBytes);
  EXPECT_EQ(CudaBinary().size(), 2u);
  const CudaBinaryRegistration again(before);
  EXPECT_EQ(CudaBinary().data(), before.data());
}

}  // namespace
}  // namespace headrace

#include "engine/serve/image_axes_check.h"

#include <string>

#include "core/error.h"
#include "engine/serve/testing/request_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/graph.pb.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Ints;
using ::testing::HasSubstr;

Tensor Of(const Shape& shape) { return *Tensor::Allocate(DType::kUInt8, shape); }

TEST(ImageAxesCheck, FindsAKernelThatTakesOtherAxesThanThoseBeforeItLeave) {
  ImageAxesCheck check;
  ASSERT_TRUE(check.Follow(StepOf("HWC2CHW")).ok());
  EXPECT_TRUE(check.gives_channels_first());
  const absl::Status error = check.Follow(StepOf("CenterCrop", {{"size", Ints({8, 8})}}));
  EXPECT_EQ(KindOf(error), ErrorKind::kGraph);
  EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "CenterCrop");
  EXPECT_THAT(std::string(error.message()), HasSubstr("HWC2CHW leaves it"));
}

TEST(ImageAxesCheck, FindsImagesWithTheirChannelsFirst) {
  ImageAxesCheck check;
  ASSERT_TRUE(check.Follow(StepOf("CenterCrop", {{"size", Ints({8, 8})}})).ok());
  EXPECT_FALSE(check.takes_channels_first());
  EXPECT_TRUE(check.Check({Of({20, 30, 3})}).ok());
  const absl::Status error = check.Check({Of({3, 20, 30})});
  EXPECT_THAT(std::string(error.message()), HasSubstr("say layout=\"CHW\""));
  EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "CenterCrop");
  EXPECT_THAT(std::string(check.Check({Of({2, 20, 30, 3}), Of({2, 20, 30})}).message()), HasSubstr("hr.mask"));
}

TEST(ImageAxesCheck, BeginsEachBranchWithTheAxesBeforeIt) {
  ir::proto::Step choice = StepOf("RandomChoice");
  *choice.add_branches()->add_steps() = StepOf("HWC2CHW");
  *choice.add_branches()->add_steps() = StepOf("CenterCrop", {{"size", Ints({8, 8})}});
  ImageAxesCheck check;
  EXPECT_TRUE(check.Follow(choice).ok());
}

TEST(ImageAxesCheck, KnowsNothingBeforeAStepSaysIt) {
  const ImageAxesCheck check;
  EXPECT_TRUE(check.Check({Of({3, 20, 30})}).ok());
  EXPECT_TRUE(check.Check({}).ok());
}

}  // namespace
}  // namespace headrace

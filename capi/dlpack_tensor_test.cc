// Tensors go to other libraries and come from them through DLPack without a copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "core/dlpack.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

using fixture::TextOf;
using ::testing::HasSubstr;

TEST(CapiDlpack, GivesAnOutputAway) {
  const hr::Graph graph = hr::Graph::FromBytes(fixture::PictureGraph()).value();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  hr::Tensor image = graph.Run(hr::View::Bytes(file)).value();
  const void* const data = image.data();
  DLManagedTensor* const managed = image.ToDlpack().value();
  EXPECT_EQ(image.data(), nullptr);
  const DLTensor& lent = managed->dl_tensor;
  EXPECT_EQ(lent.data, data);
  ASSERT_EQ(lent.ndim, 3);
  EXPECT_EQ(std::vector<int64_t>(lent.shape, lent.shape + 3), (std::vector<int64_t>{3, 32, 32}));
  EXPECT_EQ(lent.strides, nullptr);
  EXPECT_EQ(lent.dtype.code, kDLFloat);
  EXPECT_EQ(lent.dtype.bits, 32);
  EXPECT_EQ(lent.device.device_type, kDLCPU);
  managed->deleter(managed);
  EXPECT_FALSE(image.ToDlpack().ok());
}

class CapiDlpackIn : public ::testing::Test {
 protected:
  CapiDlpackIn() {
    managed_.dl_tensor = {numbers_, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape_, nullptr, 0};
    tensor_.size = sizeof tensor_;
  }
  std::string View() { return TextOf(hr_from_dlpack(&managed_, &tensor_)); }

  float numbers_[7] = {0, 1, 2, 3, 4, 5, 6};
  int64_t shape_[2] = {2, 3};
  int64_t strides_[2] = {3, 1};
  DLManagedTensor managed_ = {};
  hr_tensor tensor_ = {};
};

TEST_F(CapiDlpackIn, ViewsATensor) {
  managed_.dl_tensor.strides = strides_;
  managed_.dl_tensor.byte_offset = sizeof(float);
  ASSERT_EQ(View(), "");
  EXPECT_EQ(tensor_.data, numbers_ + 1);
  EXPECT_EQ(tensor_.dtype, HR_FLOAT32);
  EXPECT_EQ(tensor_.bytes, 24U);
  EXPECT_EQ(tensor_.axes, 2);
  EXPECT_EQ(tensor_.shape[1], 3);
  EXPECT_EQ(tensor_.owner, nullptr);
}

TEST_F(CapiDlpackIn, RefusesWhatIsNotInHostMemoryInOnePiece) {
  managed_.dl_tensor.device.device_type = kDLCUDA;
  EXPECT_THAT(View(), HasSubstr("host's memory"));
  managed_.dl_tensor.device.device_type = kDLCPU;
  strides_[0] = 4;
  managed_.dl_tensor.strides = strides_;
  EXPECT_THAT(View(), HasSubstr("row-major"));
  managed_.dl_tensor.strides = nullptr;
  managed_.dl_tensor.dtype.lanes = 2;
  EXPECT_THAT(View(), HasSubstr("2 lanes"));
  managed_.dl_tensor.dtype.lanes = 1;
  managed_.dl_tensor.ndim = 33;
  EXPECT_THAT(View(), HasSubstr("ndim must be 0 to 32"));
  managed_.dl_tensor.ndim = 2;
  shape_[1] = -1;
  EXPECT_THAT(View(), HasSubstr("shape cannot be"));
}

TEST_F(CapiDlpackIn, SaysWhatTheCallLacks) {
  EXPECT_EQ(TextOf(hr_from_dlpack(nullptr, &tensor_)), "managed is NULL");
  EXPECT_EQ(TextOf(hr_from_dlpack(&managed_, nullptr)), "tensor is NULL");
  tensor_.size = 8;
  EXPECT_THAT(View(), HasSubstr("size must be sizeof(hr_tensor)"));
  DLManagedTensor* managed = nullptr;
  EXPECT_EQ(TextOf(hr_to_dlpack(nullptr, &managed)), "tensor is NULL");
  EXPECT_EQ(TextOf(hr_to_dlpack(&tensor_, nullptr)), "managed is NULL");
}

TEST(CapiDlpack, HasNoStrings) {
  const hr::Graph graph =
      hr::Graph::FromBytes(fixture::InferenceBytes().Input("text", ir::ColumnType::Of(DType::kString, {})).Bytes())
          .value();
  hr::Tensor text = graph.Run(hr::View::String("abc")).value();
  const auto managed = text.ToDlpack();
  ASSERT_FALSE(managed.ok());
  EXPECT_EQ(managed.error().kind(), HR_UNSUPPORTED_ERROR);
  EXPECT_EQ(text.bytes_at(0), "abc") << "it is kept";
}

}  // namespace
}  // namespace headrace

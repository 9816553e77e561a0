// Labels of objects: taken apart, and put together again.
#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/testing/run_kernel.h"

namespace headrace {
namespace {

using fixture::Given;
using fixture::Ints;
using fixture::MessageOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor FloatsOf(const Shape& shape, const std::vector<float>& values) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, shape);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

Tensor Label(const std::vector<float>& values) { return FloatsOf({static_cast<int64_t>(values.size())}, values); }

template <typename T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.elements()};
}

// A header of 3, objects of 6; the second has no height.
const std::vector<float> kLabel = {3, 6, 9, 1, 0.25, 0.5, 0.75, 1, 7, 2, 0, 0.5, 1, 0.5, 8, 3, 0, 0, 0.5, 0.5, 6};

TEST(SplitDetections, TakesALabelApart) {
  const Tensors parts = *fixture::RunKernelOutputs("SplitDetections", {}, {Label(kLabel)});
  ASSERT_EQ(parts.size(), 3);
  EXPECT_THAT(ValuesOf<float>(parts[0]), ElementsAre(3, 6, 9));
  EXPECT_EQ(parts[1].shape(), Shape({2, 4}));
  EXPECT_THAT(ValuesOf<double>(parts[1]), ElementsAre(0.25, 0.5, 0.75, 1, 0, 0, 0.5, 0.5));
  EXPECT_EQ(parts[2].shape(), Shape({2, 2}));
  EXPECT_THAT(ValuesOf<float>(parts[2]), ElementsAre(1, 7, 3, 6));
}

TEST(SplitDetections, TakesObjectsAlone) {
  const Tensor objects = FloatsOf({2, 5}, {1, 0, 0, 1, 1, 2, 0, 0, 0, 1});
  const Tensors parts = *fixture::RunKernelOutputs("SplitDetections", {}, {objects});
  EXPECT_THAT(ValuesOf<float>(parts[0]), ElementsAre(2, 5));
  EXPECT_THAT(ValuesOf<double>(parts[1]), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(ValuesOf<float>(parts[2]), ElementsAre(1));
  const Tensors none = *fixture::RunKernelOutputs("SplitDetections", {}, {Label({2, 5})});
  EXPECT_EQ(none[1].shape(), Shape({0, 4}));
  EXPECT_EQ(none[2].shape(), Shape({0, 1}));
}

TEST(SplitDetections, NamesWhatIsWrong) {
  const auto message = [](const Tensor& label) {
    const auto parts = fixture::RunKernelOutputs("SplitDetections", {}, {label});
    return parts.ok() ? std::string() : std::string(parts.status().message());
  };
  EXPECT_THAT(message(Label({4})), HasSubstr("the label has 1 numbers"));
  EXPECT_THAT(message(Label({1, 5})), HasSubstr("its header is 1; it must be at least 2"));
  EXPECT_THAT(message(Label({2, 4, 0, 0, 1, 1})), HasSubstr("width of an object is 4; it must be at least 5"));
  EXPECT_THAT(message(Label({2, 5, 0, 0, 1, 1})), HasSubstr("a header of 2 and objects of 5 do not add up"));
  EXPECT_THAT(message(Label({8, 5, 0})), HasSubstr("a header of 8"));
  EXPECT_THAT(message(FloatsOf({1, 4}, {0, 0, 1, 1})), HasSubstr("at least 5 numbers"));
  EXPECT_THAT(message(*Tensor::Allocate(DType::kInt64, {7})), HasSubstr("needs a label, float32 of one axis"));
}

TEST(JoinDetections, PutsObjectsTogether) {
  const Tensors parts = *fixture::RunKernelOutputs("SplitDetections", {}, {Label(kLabel)});
  const Tensor objects = *fixture::RunKernel("JoinDetections", {}, {parts[1], parts[2]});
  EXPECT_EQ(objects.shape(), Shape({2, 6}));
  EXPECT_THAT(ValuesOf<float>(objects), ElementsAre(1, 0.25, 0.5, 0.75, 1, 7, 3, 0, 0, 0.5, 0.5, 6));
  const Tensor narrow = FloatsOf({2, 4}, {0, 0, 1, 1, 0, 0, 2, 2});
  EXPECT_THAT(ValuesOf<float>(*fixture::RunKernel("JoinDetections", {}, {narrow, FloatsOf({2, 1}, {5, 6})})),
              ElementsAre(5, 0, 0, 1, 1, 6, 0, 0, 2, 2));
  EXPECT_THAT(MessageOf(fixture::RunKernel("JoinDetections", {}, {narrow, FloatsOf({3, 1}, {5, 6, 7})})),
              HasSubstr("got float32 (2, 4) and float32 (3, 1)"));
}

TEST(DetectionLabel, SaysTheShapeAndTheLength) {
  const Given given = {{"data_shape", Ints({3, 30, 40})}};
  const Tensor label =
      *fixture::RunKernel("DetectionLabel", given, {Label({3, 5, 9}), FloatsOf({1, 5}, {1, 0, 0, 1, 1})});
  EXPECT_THAT(ValuesOf<float>(label), ElementsAre(3, 30, 40, 8, 3, 5, 9, 1, 0, 0, 1, 1));
  const Tensor small = *Tensor::Allocate(DType::kUInt8, {20, 25, 3});
  const Tensor of_image =
      *fixture::RunKernel("DetectionLabel", given, {Label({3, 5, 9}), FloatsOf({1, 5}, {1, 0, 0, 1, 1}), small});
  EXPECT_THAT(ValuesOf<float>(of_image), ElementsAre(3, 20, 25, 8, 3, 5, 9, 1, 0, 0, 1, 1));
  EXPECT_THAT(MessageOf(fixture::RunKernel("DetectionLabel", given,
                                           {Label({3, 5, 9}), FloatsOf({1, 5}, {1, 0, 0, 1, 1}), Label({1})})),
              HasSubstr("the third column must be an image"));
  EXPECT_THAT(MessageOf(fixture::RunKernel("DetectionLabel", given, {Label({2, 5}), Label({1})})),
              HasSubstr("needs a header, float32 of one axis, and objects, float32 of two"));
}

}  // namespace
}  // namespace headrace

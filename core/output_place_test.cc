#include "core/output_place.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(OutputPlace, TheFirstTensorOfItsTypeLiesThere) {
  const Tensor whole = *Tensor::Allocate(DType::kFloat32, {4, 3});
  const OutputPlace place(whole.Index(2));
  EXPECT_NE((*Tensor::Allocate(DType::kFloat32, {2})).buffer().get(), whole.buffer().get());
  EXPECT_NE((*Tensor::Allocate(DType::kInt32, {3})).buffer().get(), whole.buffer().get());
  const Tensor row = *Tensor::Allocate(DType::kFloat32, {3});
  EXPECT_EQ(row.raw(), whole.raw() + 2 * 3 * sizeof(float));
  EXPECT_NE((*Tensor::Allocate(DType::kFloat32, {3})).buffer().get(), whole.buffer().get());
}

TEST(OutputPlace, EndsWithItsScope) {
  const Tensor whole = *Tensor::Allocate(DType::kFloat32, {4, 3});
  {
    const OutputPlace place(whole.Index(2));
  }
  EXPECT_NE((*Tensor::Allocate(DType::kFloat32, {3})).buffer().get(), whole.buffer().get());
}

TEST(OutputPlace, AnInnerOneHidesTheOuter) {
  const Tensor whole = *Tensor::Allocate(DType::kFloat32, {4, 3});
  const OutputPlace outer(whole.Index(0));
  {
    const OutputPlace none{Tensor()};
    EXPECT_NE((*Tensor::Allocate(DType::kFloat32, {3})).buffer().get(), whole.buffer().get());
  }
  EXPECT_EQ((*Tensor::Allocate(DType::kFloat32, {3})).raw(), whole.raw());
}

}  // namespace
}  // namespace headrace

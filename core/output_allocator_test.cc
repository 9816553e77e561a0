#include "core/output_allocator.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(OutputAllocator, GivesTheSlotOnceToATensorOfItsType) {
  const Tensor batch = *Tensor::Allocate(DType::kFloat32, {4, 3});
  OutputAllocator output(batch.Index(2));
  EXPECT_NE((*output.Allocate(DType::kFloat32, {2})).buffer().get(), batch.buffer().get());
  EXPECT_NE((*output.Allocate(DType::kInt32, {3})).buffer().get(), batch.buffer().get());
  EXPECT_NE((*Tensor::Allocate(DType::kFloat32, {3})).buffer().get(), batch.buffer().get());
  const Tensor row = *output.Allocate(DType::kFloat32, {3});
  EXPECT_EQ(row.raw(), batch.raw() + 2 * 3 * sizeof(float));
  EXPECT_NE((*output.Allocate(DType::kFloat32, {3})).buffer().get(), batch.buffer().get());
}

TEST(OutputAllocator, TakesMemoryOfItsOwnWithoutASlot) {
  OutputAllocator output;
  EXPECT_EQ((*output.Allocate(DType::kFloat32, {3})).TypeName(), "float32 (3,)");
  EXPECT_FALSE(output.Allocate(DType::kBytes, {}).ok());
  OutputAllocator of_nothing{Tensor()};
  EXPECT_TRUE(of_nothing.Allocate(DType::kInt8, {}).ok());
}

}  // namespace
}  // namespace headrace

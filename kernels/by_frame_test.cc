#include "kernels/by_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RowId kRow = {.epoch = 1, .key = 5};

// Bytes 0, 1, 2, ….
Tensor Counted(const Shape& shape) {
  Tensor tensor = *Tensor::Allocate(DType::kUInt8, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_raw()[i] = static_cast<uint8_t>(i);
  return tensor;
}

std::vector<int> ValuesOf(const Tensor& tensor) {
  const Tensor dense = *tensor.Contiguous();
  return {dense.raw(), dense.raw() + dense.elements()};
}

// Adds a number of the row's to an image (H, W, C) of 1 × 1 × 1 pixels that is `from` at least, and gives others as
// they are; fails on 7.
class Adding : public Kernel {
 public:
  explicit Adding(int from = 0) : from_(from) {}

  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    if (inputs[0].rank() != 3) return GraphError("needs an image; got ", inputs[0].TypeName());
    const uint8_t value = inputs[0].raw()[0];
    if (value == 7) return BeyondRow(DataError("seven"));
    const uint64_t drawn = context.random().Below(100);
    if (value < from_) return Tensors{inputs[0]};
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kUInt8, inputs[0].shape()));
    *output.mutable_raw() = static_cast<uint8_t>(value + drawn);
    return Tensors{std::move(output)};
  }

 private:
  int from_;
};

// The sum of the first input's bytes and those of the second one, in two columns.
class Summing : public Kernel {
 public:
  absl::StatusOr<Tensors> Apply(absl::Span<const Tensor> inputs, KernelContext& context) const override {
    Tensors sums;
    for (const Tensor& input : inputs) {
      HEADRACE_ASSIGN_OR_RETURN(Tensor sum, context.AllocateOutput(DType::kInt32, {}));
      *sum.mutable_data<int32_t>() = 0;
      for (const int value : ValuesOf(input)) *sum.mutable_data<int32_t>() += value;
      sums.push_back(std::move(sum));
    }
    return sums;
  }
};

absl::StatusOr<Tensors> Apply(const Kernel& kernel, const std::vector<Tensor>& inputs, Tensor slot = {}) {
  OutputAllocator output(std::move(slot));
  KernelContext context(RowRandom(3, 4, kRow), output);
  return ApplyByFrame(kernel, inputs, context);
}

uint64_t DrawnByRow() { return RowRandom(3, 4, kRow).Below(100); }

TEST(ApplyByFrame, GivesEachFrameTheDrawsOfAnImage) {
  const int drawn = static_cast<int>(DrawnByRow());
  EXPECT_THAT(ValuesOf((*Apply(Adding(), {Counted({1, 1, 1})}))[0]), ElementsAre(drawn));
  const Tensor slot = *Tensor::Allocate(DType::kUInt8, {3, 1, 1, 1});
  const Tensors moved = *Apply(Adding(), {Counted({3, 1, 1, 1})}, slot);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].TypeName(), "uint8 (3, 1, 1, 1)");
  EXPECT_THAT(ValuesOf(moved[0]), ElementsAre(drawn, drawn + 1, drawn + 2));
  EXPECT_EQ(moved[0].raw(), slot.raw()) << "in the row's batch slot";
}

TEST(ApplyByFrame, GivesAClipWhoseFramesStayAsTheyAre) {
  const Tensor clip = Counted({3, 1, 1, 1});
  EXPECT_EQ((*Apply(Adding(100), {clip}))[0].raw(), clip.raw());
  const int drawn = static_cast<int>(DrawnByRow());
  EXPECT_THAT(ValuesOf((*Apply(Adding(2), {clip}))[0]), ElementsAre(0, 1, drawn + 2));
  EXPECT_THAT(ValuesOf(clip), ElementsAre(0, 1, 2));
}

TEST(ApplyByFrame, ReadsViews) {
  const Tensor wide = Counted({2, 3, 1, 1});
  const int drawn = static_cast<int>(DrawnByRow());
  EXPECT_THAT(ValuesOf((*Apply(Adding(), {wide.Slice(1, 1, 1)}))[0]), ElementsAre(drawn + 1, drawn + 4));
}

TEST(ApplyByFrame, GivesOtherInputsToEachFrame) {
  const Tensors sums = *Apply(Summing(), {Counted({2, 1, 2, 1}), Counted({3})});
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].TypeName(), "int32 (2,)");
  EXPECT_EQ(sums[0].data<int32_t>()[1], 5);
  EXPECT_EQ(sums[1].data<int32_t>()[1], 3);
  const Tensors both = *Apply(Summing(), {Counted({2, 1, 2, 1}), Counted({2, 1, 1, 1})});
  EXPECT_EQ(both[1].data<int32_t>()[1], 1);
  EXPECT_THAT(std::string(Apply(Summing(), {Counted({2, 1, 2, 1}), Counted({3, 1, 1, 1})}).status().message()),
              HasSubstr("clips of equally many frames; got uint8 (2, 1, 2, 1) and uint8 (3, 1, 1, 1)"));
  // The first input says whether it is a clip.
  EXPECT_EQ((*Apply(Summing(), {Counted({3}), Counted({2, 1, 2, 1})}))[1].TypeName(), "int32 ()");
}

TEST(ApplyByFrame, NamesTheFrameThatFails) {
  const absl::Status failed = Apply(Adding(), {Counted({9, 1, 1, 1})}).status();
  EXPECT_EQ(failed.message(), "seven (frame 7 of 9)");
  EXPECT_EQ(KindOf(failed), ErrorKind::kData);
  EXPECT_TRUE(IsBeyondRow(failed));
  const absl::Status none = Apply(Adding(), {Counted({0, 1, 1, 1})}).status();
  EXPECT_EQ(none.message(), "got a clip without frames: uint8 (0, 1, 1, 1)");
  EXPECT_EQ(Apply(Adding(), {Counted({2, 1, 1, 1, 1})}).status().message(),
            "needs an image; got uint8 (2, 1, 1, 1, 1)");
}

TEST(ApplyByFrame, EndsWhenTheWorkIsNotNeeded) {
  const std::atomic<bool> stop = true;
  const StopSignal signal(&stop);
  EXPECT_EQ(KindOf(Apply(Adding(), {Counted({2, 1, 1, 1})}).status()), ErrorKind::kClosed);
}

// Gives an image with the row's key.
class KeyOfRow : public FusedRun {
 public:
  size_t parts() const override { return 2; }
  absl::StatusOr<Tensor> Apply(const Tensor& input, const RowId& id, OutputAllocator& output,
                               RowNotes* /*notes*/) const override {
    HEADRACE_ASSIGN_OR_RETURN(Tensor result, output.Allocate(DType::kUInt8, {1}));
    *result.mutable_raw() = static_cast<uint8_t>(input.raw()[0] + id.key);
    return result;
  }
};

TEST(ApplyByFrame, RunsFusedKernels) {
  OutputAllocator output;
  EXPECT_THAT(ValuesOf(*ApplyByFrame(KeyOfRow(), Counted({2, 1, 1, 1}), kRow, output, nullptr)), ElementsAre(5, 6));
  EXPECT_EQ(ApplyByFrame(KeyOfRow(), Counted({1, 1, 1}), kRow, output, nullptr)->TypeName(), "uint8 (1,)");
}

TEST(FirstFrame, IsOfClipsAlone) {
  EXPECT_EQ(FirstFrame(Counted({2, 3, 4, 1}))->TypeName(), "uint8 (3, 4, 1)");
  EXPECT_EQ(FirstFrame(Counted({3, 4, 1}))->TypeName(), "uint8 (3, 4, 1)");
  EXPECT_FALSE(FirstFrame(Counted({0, 3, 4, 1})).ok());
}

}  // namespace
}  // namespace headrace

#include "engine/serve/kernel_chain.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/serve/testing/request_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "kernels/by_frame.h"
#include "kernels/chooser.h"
#include "kernels/testing/golden.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/testing/sample.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Ints;
using fixture::RunKernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RowId kRow = {.epoch = 0, .key = 17};

Tensor Picture() { return fixture::SampleTensor(ir::SampleInput::kImage); }
Tensor Jpeg() { return fixture::SampleTensor(ir::SampleInput::kEncoded); }

std::vector<ir::proto::Step> Preparation(const std::vector<std::string>& columns) {
  return {StepOf("Decode", {}, columns), StepOf("Resize", {{"size", Ints({40, 48})}}, columns),
          StepOf("CenterCrop", {{"size", Ints({32, 32})}}, columns),
          StepOf("Normalize", {{"mean", Floats({100, 110, 120})}, {"std", Floats({50, 60, 70})}}, columns),
          StepOf("HWC2CHW", {}, columns)};
}

// What the kernels give when they are called one after the other.
Tensor Prepared(Tensor value) {
  value = *RunKernel("Decode", {}, value);
  value = *RunKernel("Resize", {{"size", Ints({40, 48})}}, value);
  value = *RunKernel("CenterCrop", {{"size", Ints({32, 32})}}, value);
  value = *RunKernel("Normalize", {{"mean", Floats({100, 110, 120})}, {"std", Floats({50, 60, 70})}}, value);
  return *RunKernel("HWC2CHW", {}, value);
}

KernelChain ChainOfAll(const std::vector<ir::proto::Step>& steps) {
  KernelChain chain;
  for (const ir::proto::Step& step : steps) EXPECT_TRUE(chain.Add(step).ok());
  return chain;
}

KernelChain ChainOfColumns(const std::vector<std::string>& columns, const std::vector<ir::proto::Step>& steps) {
  KernelChain chain(columns);
  for (const ir::proto::Step& step : steps) {
    const absl::Status added = chain.Add(step);
    EXPECT_TRUE(added.ok()) << added;
  }
  return chain;
}

Tensor RunOne(const KernelChain& chain, const Tensor& value, uint64_t seed = 3) {
  KernelChain::Row row = {value};
  const absl::Status status = chain.Run(seed, kRow, row);
  EXPECT_TRUE(status.ok()) << status;
  return row[0];
}

TEST(KernelChain, GivesTheBitsOfItsKernelsOneByOne) {
  const Tensor expected = Prepared(Jpeg());
  EXPECT_TRUE(TensorsEqual(RunOne(ChainOfAll(Preparation({})), Jpeg()), expected));
  std::vector<ir::proto::Step> steps = Preparation({"image"});
  EXPECT_TRUE(TensorsEqual(RunOne(ChainOfColumns({"image"}, steps), Jpeg()), expected));
  for (ir::proto::Step& step : steps) step.set_fused(1);
  EXPECT_TRUE(TensorsEqual(RunOne(ChainOfColumns({"image"}, steps), Jpeg()), expected));
  KernelChain fixed = ChainOfColumns({"image"}, steps);
  fixed.Fix(3);
  EXPECT_TRUE(TensorsEqual(RunOne(fixed, Jpeg()), expected));
}

TEST(KernelChain, WritesIntoTheSlotOfTheLastWriter) {
  for (const uint32_t fused : {0, 1}) {
    std::vector<ir::proto::Step> steps = Preparation({"image"});
    for (ir::proto::Step& step : steps) step.set_fused(fused);
    KernelChain chain = ChainOfColumns({"image", "label"}, steps);
    const Tensor slot = *Tensor::Allocate(DType::kFloat32, {3, 32, 32});
    KernelChain::Row row = {Jpeg(), *Tensor::Scalar<int64_t>(4)};
    ASSERT_TRUE(chain.Run(0, kRow, row, {slot, Tensor()}).ok());
    EXPECT_EQ(row[0].raw(), slot.raw()) << fused;
    EXPECT_TRUE(TensorsEqual(slot, Prepared(Jpeg())));
    EXPECT_EQ(row[1].value<int64_t>(), 4);
  }
}

TEST(KernelChain, LeavesASlotThatDoesNotFit) {
  KernelChain chain = ChainOfColumns({"image"}, Preparation({"image"}));
  const Tensor slot = *Tensor::Allocate(DType::kFloat32, {3, 8, 8});
  KernelChain::Row row = {Jpeg()};
  ASSERT_TRUE(chain.Run(0, kRow, row, {slot}).ok());
  EXPECT_TRUE(TensorsEqual(row[0], Prepared(Jpeg())));
}

TEST(KernelChain, FollowsColumnsByTheirNames) {
  KernelChain chain({"image", "label"});
  ir::proto::Step step = StepOf("CenterCrop", {{"size", Ints({8, 8})}}, {"image"});
  step.set_outputs(0, "small");
  ASSERT_TRUE(chain.Add(step).ok());
  EXPECT_THAT(chain.columns(), ElementsAre("image", "label", "small"));
  ASSERT_TRUE(chain.Rename({{"image", "small"}, {"small", "image"}}).ok());
  ASSERT_TRUE(chain.Add(StepOf("HorizontalFlip", {}, {"image"})).ok());
  ASSERT_TRUE(chain.Keep({"image", "label"}).ok());
  // A new column of a name that was dropped.
  step = StepOf("VerticalFlip", {}, {"image"});
  step.set_outputs(0, "small");
  ASSERT_TRUE(chain.Add(step).ok());
  EXPECT_THAT(chain.columns(), ElementsAre("image", "label", "small"));

  KernelChain::Row row = {Picture(), *Tensor::Scalar<int64_t>(4)};
  ASSERT_TRUE(chain.Run(0, kRow, row).ok());
  ASSERT_EQ(row.size(), 3u);
  const Tensor cropped = *RunKernel("CenterCrop", {{"size", Ints({8, 8})}}, Picture());
  const Tensor flipped = *RunKernel("HorizontalFlip", {}, cropped);
  EXPECT_TRUE(TensorsEqual(row[0], flipped));
  EXPECT_EQ(row[1].value<int64_t>(), 4);
  EXPECT_TRUE(TensorsEqual(row[2], *RunKernel("VerticalFlip", {}, flipped)));
}

TEST(KernelChain, DrawsByStepSaltAndRow) {
  ir::proto::Step first = StepOf("RandomHorizontalFlip");
  ir::proto::Step second = StepOf("RandomCrop", {{"size", Ints({20, 20})}});
  first.set_salt(5);
  second.set_salt(9);
  const KernelChain chain = ChainOfAll({first, second});
  const Tensor flipped = *RunKernel("RandomHorizontalFlip", {}, {Picture()}, RowRandom(3, 5, kRow));
  const Tensor expected = *RunKernel("RandomCrop", {{"size", Ints({20, 20})}}, {flipped}, RowRandom(3, 9, kRow));
  EXPECT_TRUE(TensorsEqual(RunOne(chain, Picture()), expected));

  ir::proto::Step seeded = StepOf("RandomCrop", {{"size", Ints({20, 20})}, {"seed", ir::IntValue(11)}});
  seeded.set_salt(9);
  const Tensor own = *RunKernel("RandomCrop", {{"size", Ints({20, 20})}}, {Picture()}, RowRandom(11, 9, kRow));
  EXPECT_TRUE(TensorsEqual(RunOne(ChainOfAll({seeded}), Picture()), own));
}

// A chooser of two flips and a mark before and in it, each with a salt of its own.
std::vector<ir::proto::Step> WithAChooser() {
  ir::proto::Step mark;
  ir::proto::Step chooser = StepOf("RandomChoice");
  *chooser.add_branches()->add_steps() = StepOf("HorizontalFlip");
  *chooser.mutable_branches(0)->add_steps() = mark;
  *chooser.add_branches()->add_steps() = StepOf("VerticalFlip");
  chooser.set_salt(1);
  return {mark, chooser, StepOf("Invert")};
}

TEST(KernelChain, GoesThroughTheBranchesThatAreDrawn) {
  const KernelChain chain = ChainOfAll(WithAChooser());
  bool seen[2] = {};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<size_t> steps;
    chain.VisitDrawn(seed, kRow, [&](size_t step) { steps.push_back(step); });
    const bool first = steps.size() == 5;
    if (first) {
      EXPECT_THAT(steps, ElementsAre(0, 1, 2, 3, 5));
    } else {
      EXPECT_THAT(steps, ElementsAre(0, 1, 4, 5));
    }
    seen[first ? 0 : 1] = true;
    const Tensor flipped = *RunKernel(first ? "HorizontalFlip" : "VerticalFlip", {}, Picture());
    EXPECT_TRUE(TensorsEqual(RunOne(chain, Picture(), seed), *RunKernel("Invert", {}, flipped)));
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST(KernelChain, RunsBranchesOfNamedColumns) {
  ir::proto::Step chooser = StepOf("RandomChoice", {}, {"image"});
  *chooser.add_branches()->add_steps() = StepOf("HorizontalFlip", {}, {"image"});
  *chooser.add_branches()->add_steps() = StepOf("HorizontalFlip", {}, {"image"});
  KernelChain chain = ChainOfColumns({"image"}, {chooser});
  chain.Fix(3);
  EXPECT_TRUE(TensorsEqual(RunOne(chain, Picture()), *RunKernel("HorizontalFlip", {}, Picture())));
}

TEST(KernelChain, TakesAClipFrameByFrame) {
  Tensor clip = *Tensor::Allocate(DType::kUInt8, {2, 60, 80, 3});
  for (int64_t i = 0; i < clip.elements(); ++i) clip.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i % 251);
  const std::vector<ir::proto::Step> steps = {StepOf("CenterCrop", {{"size", Ints({20, 24})}}),
                                              StepOf("HorizontalFlip")};
  const Tensor made = RunOne(ChainOfAll(steps), clip);
  ASSERT_EQ(made.TypeName(), "uint8 (2, 20, 24, 3)");
  for (int64_t frame = 0; frame < 2; ++frame) {
    const Tensor cropped = *RunKernel("CenterCrop", {{"size", Ints({20, 24})}}, clip.Index(frame));
    EXPECT_TRUE(TensorsEqual(made.Index(frame), *RunKernel("HorizontalFlip", {}, cropped)));
  }
}

TEST(KernelChain, NamesTheStepThatFailed) {
  std::vector<ir::proto::Step> steps = Preparation({"image"});
  for (ir::proto::Step& step : steps) {
    step.set_fused(1);
    step.set_user_node(2);
    step.mutable_location()->set_file("serve.py");
    step.mutable_location()->set_line(7);
  }
  const KernelChain chain = ChainOfColumns({"image"}, steps);
  KernelChain::Row row = {*Tensor::CopyBytes(DType::kBytes, "no picture")};
  const absl::Status error = chain.Run(0, kRow, row);
  EXPECT_EQ(KindOf(error), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "map[1] Decode");
  EXPECT_EQ(GetErrorField(error, ErrorField::kLocation), "serve.py:7");
}

TEST(KernelChain, RefusesWhatItCannotRun) {
  KernelChain chain({"image"});
  EXPECT_THAT(std::string(chain.Add(StepOf("Decode", {}, {"imege"})).message()),
              HasSubstr("no column \"imege\"; did you mean \"image\"?"));
  EXPECT_THAT(std::string(chain.Add(StepOf("Decode")).message()), HasSubstr("names no columns"));
  EXPECT_FALSE(chain.Keep({"label"}).ok());
  EXPECT_FALSE(chain.Rename({{"label", "class"}}).ok());
  ir::proto::Step unknown;
  unknown.set_kernel("Nothing");
  const absl::Status error = KernelChain().Add(unknown);
  EXPECT_EQ(error.message(), "there is no kernel Nothing");
  ir::proto::Step deep = StepOf("Invert");
  for (int i = 0; i < 20; ++i) {
    ir::proto::Step chooser = StepOf("RandomApply");
    *chooser.add_branches()->add_steps() = deep;
    deep = chooser;
  }
  EXPECT_THAT(std::string(KernelChain().Add(deep).message()), HasSubstr("nested more than"));
}

TEST(KernelChain, TracesEveryStepAlone) {
  const KernelChain chain = ChainOfColumns({"image"}, Preparation({"image"}));
  KernelChain::Row row = {Jpeg()};
  std::vector<std::string> steps;
  std::vector<Tensor> values;
  const auto wrote = [&](const std::string& step, const std::string& column, const Tensor& value) {
    EXPECT_EQ(column, "image");
    steps.push_back(step);
    values.push_back(value);
  };
  ASSERT_TRUE(chain.Trace(0, kRow, row, wrote).ok());
  EXPECT_THAT(steps, ElementsAre("Decode", "Resize", "CenterCrop", "Normalize", "HWC2CHW"));
  EXPECT_TRUE(TensorsEqual(values[0], *RunKernel("Decode", {}, Jpeg())));
  EXPECT_TRUE(TensorsEqual(values[4], Prepared(Jpeg())));
  EXPECT_TRUE(TensorsEqual(row[0], values[4]));
}

// Every kernel alone, over the inputs that its declaration gives.
TEST(KernelChain, RunsEveryKernelAsItIs) {
  size_t kernels = 0;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    const bool of_tests = declaration->python_module == "test";
    if (declaration->role != ir::Role::kKernel || declaration->branching != nullptr || of_tests) continue;
    SCOPED_TRACE(declaration->name);
    const fixture::Given given = fixture::SampleAttributes(*declaration);
    const std::vector<Tensor> inputs = fixture::SampleInputs(*declaration);
    const RowRandom random(3, 5, kRow);
    const absl::StatusOr<Tensors> expected = fixture::RunKernelOutputs(declaration->name, given, inputs, random);
    ASSERT_TRUE(expected.ok()) << expected.status();
    std::vector<std::string> columns;
    for (size_t i = 0; i < inputs.size(); ++i) columns.push_back(Cat("in", i));
    ir::proto::Step step = StepOf(declaration->name, given, columns);
    step.clear_outputs();
    for (size_t i = 0; i < expected->size(); ++i) step.add_outputs(Cat("out", i));
    step.set_salt(5);
    KernelChain chain = ChainOfColumns(columns, {step});
    std::vector<std::string> outputs(step.outputs().begin(), step.outputs().end());
    ASSERT_TRUE(chain.Keep(outputs).ok());
    KernelChain::Row row(inputs.begin(), inputs.end());
    const absl::Status status = chain.Run(3, kRow, row);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(row.size(), expected->size());
    for (size_t i = 0; i < row.size(); ++i) EXPECT_TRUE(TensorsEqual(row[i], (*expected)[i])) << i;
    ++kernels;
  }
  EXPECT_GT(kernels, 100u);
}

TEST(KernelChain, OwnsWhatItGives) {
  const Tensor alone = *Tensor::Allocate(DType::kUInt8, {4});
  const uint8_t* const memory = alone.raw();
  Tensor moved = alone;
  EXPECT_NE(Own(alone)->raw(), memory);
  moved = Tensor();
  Tensor only = *Tensor::Allocate(DType::kUInt8, {4});
  const uint8_t* const own = only.raw();
  EXPECT_EQ(Own(std::move(only))->raw(), own);
}

}  // namespace
}  // namespace headrace

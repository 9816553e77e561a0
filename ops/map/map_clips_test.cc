// Kernels of images on clips: the frames of a row get what its image gets, however the map runs; rows of a batch do
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/operator/host.h"
#include "ir/graph.pb.h"
#include "ir/passes/fuse_image.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::FloatsValue;
using ir::FloatValue;
using ir::IntsValue;
using ir::IntValue;
using ::testing::HasSubstr;

constexpr int64_t kFrames = 3;

// The frames of a clip of its number, or one of them.
class Filming : public HostFunction {
 public:
  explicit Filming(int64_t frame = -1) : frame_(frame) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> inputs, RowRandom*, OutputAllocator&) override {
    const int64_t number = inputs[0].value<int64_t>();
    HEADRACE_ASSIGN_OR_RETURN(Tensor clip, Tensor::Allocate(DType::kUInt8, {kFrames, 10, 12, 3}));
    for (int64_t i = 0; i < clip.elements(); ++i) {
      clip.mutable_raw()[i] = static_cast<uint8_t>((i * 37 + i / 360 * 11 + number * 29) % 251);
    }
    return std::vector<Tensor>{frame_ < 0 ? clip : clip.Index(frame_)};
  }

 private:
  int64_t frame_;
};

RunSpec Bound(int64_t frame = -1) {
  RunSpec spec;
  spec.bindings.functions["film"] = std::make_shared<Filming>(frame);
  spec.restart_every = 3;
  return spec;
}

enum class Known { kShape, kRank, kNothing };

// Columns: value and what the function gives for it.
GraphBuilder Filmed(Known known, bool of_clip) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(9)}});
  builder.Add("map", {0});
  GraphBuilder::Given given = {{"function", ir::ReferenceValue("film")}};
  Shape shape = known == Known::kShape ? Shape{kFrames, 10, 12, 3} : Shape{-1, -1, -1, 3};
  if (!of_clip) shape.erase(shape.begin());
  if (known != Known::kNothing) {
    ir::Schema types;
    types.columns.push_back({"film", ir::ColumnType::Of(DType::kUInt8, shape)});
    given.emplace_back("types", ir::ColumnsValue(types));
  }
  builder.Step("PythonFunction", {"value"}, {"film"}, given);
  return builder;
}

// In a map of its own, so that steps have the same salts.
void AddSteps(GraphBuilder& builder) {
  builder.Add("map", {1});
  builder.Step("RandomCrop", {"film"}, {"film"}, {{"size", IntsValue({8, 7})}});
  builder.Step("RandomHorizontalFlip", {"film"}, {"film"});
  builder.Step("ColorJitter", {"film"}, {"film"}, {{"brightness", FloatsValue({0.5})}});
  builder.Step("RandomApply", {"film"}, {"film"});
  builder.Branch().Step("RandomRotation", {"film"}, {"film"}, {{"degrees", FloatsValue({40})}}).End();
  builder.Step("GaussianBlur", {"film"}, {"film"}, {{"kernel_size", IntsValue({3, 3})}});
  builder.Step("Rescale", {"film"}, {"film"}, {{"scale", FloatValue(0.5)}});
  builder.Step("HWC2CHW", {"film"}, {"film"});
}

TEST(MapClips, EachFrameGetsWhatAnImageOfTheRowGets) {
  std::vector<Ran> frames;
  for (int64_t frame = 0; frame < kFrames; ++frame) {
    GraphBuilder images = Filmed(Known::kShape, false);
    AddSteps(images);
    frames.push_back(*RunOnce(*images.Build(), OptionsOf(Bound(frame))));
    ASSERT_TRUE(frames.back().error.ok()) << frames.back().error;
  }
  for (const Known known : {Known::kShape, Known::kRank, Known::kNothing}) {
    GraphBuilder clips = Filmed(known, true);
    AddSteps(clips);
    const Ran ran = RunEveryWay(clips, Bound());
    ASSERT_TRUE(ran.error.ok()) << ran.error;
    ASSERT_EQ(ran.rows.size(), frames[0].rows.size());
    const ir::proto::Graph graph = *clips.Build();
    const Ran fused = *RunOnce(*ir::FuseImage(graph), OptionsOf(Bound()));
    for (size_t row = 0; row < ran.rows.size(); ++row) {
      const Tensor& clip = ran.rows[row].columns[1];
      ASSERT_EQ(clip.TypeName(), "float32 (3, 3, 8, 7)");
      for (int64_t frame = 0; frame < kFrames; ++frame) {
        EXPECT_TRUE(TensorsEqual(clip.Index(frame), frames[static_cast<size_t>(frame)].rows[row].columns[1]))
            << "row " << row << ", frame " << frame;
      }
      EXPECT_TRUE(TensorsEqual(fused.rows[row].columns[1], clip)) << "row " << row;
    }
  }
}

int FusedSteps(const ir::proto::Graph& graph, int node) {
  int fused = 0;
  const ir::proto::Graph marked = *ir::FuseImage(graph);
  for (const ir::proto::Step& step : marked.nodes(node).steps()) fused += step.fused() != 0 ? 1 : 0;
  return fused;
}

TEST(MapClips, AreFused) {
  GraphBuilder clips = Filmed(Known::kShape, true);
  AddSteps(clips);
  EXPECT_GE(FusedSteps(*clips.Build(), 2), 3);
  // Arrays of four axes in general.
  GraphBuilder arrays = Filmed(Known::kShape, true);
  arrays.Add("map", {1});
  arrays.Step("Rescale", {"film"}, {"film"}, {{"scale", FloatValue(0.5)}});
  arrays.Step("Rescale", {"film"}, {"film"}, {{"scale", FloatValue(0.5)}});
  EXPECT_EQ(FusedSteps(*arrays.Build(), 2), 0);
}

// What a batch holds is not known before the run, and a clip would have as many axes.
TEST(MapClips, ABatchOfImagesIsNotAClip) {
  GraphBuilder batches = Filmed(Known::kNothing, false);
  const uint32_t at = batches.Add("batch", {1}, {{"size", IntValue(2)}});
  GraphBuilder apart = batches;
  batches.Add("map", {at});
  batches.Step("RandomHorizontalFlip", {"film"}, {"film"});
  const Ran refused = RunEveryWay(batches, Bound(0));
  EXPECT_TRUE(refused.rows.empty());
  EXPECT_THAT(std::string(refused.error.message()), HasSubstr("needs an image"));
  EXPECT_EQ(GetErrorField(refused.error, ErrorField::kOperator), "map[3] RandomHorizontalFlip");
  apart.Add("unbatch", {at});
  apart.Add("map", {3});
  apart.Step("RandomHorizontalFlip", {"film"}, {"film"});
  EXPECT_EQ(RunEveryWay(apart, Bound(0)).rows.size(), 18u);
  // Clips are rows of their own again, too.
  EXPECT_EQ(RunEveryWay(apart, Bound()).rows[0].columns[1].TypeName(), "uint8 (3, 10, 12, 3)");
}

TEST(MapClips, NameTheFrameThatFails) {
  GraphBuilder clips = Filmed(Known::kNothing, true);
  clips.Step("RandomCrop", {"film"}, {"film"}, {{"size", IntsValue({11, 7})}});
  const Ran ran = RunEveryWay(clips, Bound());
  EXPECT_EQ(KindOf(ran.error), ErrorKind::kData);
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("is larger than the image (10, 12)"));
  EXPECT_THAT(std::string(ran.error.message()), HasSubstr("(frame 0 of 3)"));
  GraphBuilder known = Filmed(Known::kShape, true);
  known.Step("RandomCrop", {"film"}, {"film"}, {{"size", IntsValue({11, 7})}});
  EXPECT_THAT(Refusal(known, Bound()), HasSubstr("(a frame of uint8 (3, 10, 12, 3))"));
}

}  // namespace
}  // namespace headrace

// Kernels that do not suit what the steps below them did are refused before anything runs, or doubted.
#include "ir/kernel_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/expression.h"
#include "ir/graph.pb.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::FloatsValue;
using ir::IntsValue;
using ir::IntValue;
using ir::StringValue;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Rows of an encoded image, boxes and a label.
GraphBuilder Images() {
  GraphBuilder builder;
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("rows")},
               {"columns", ir::ColumnsValue({{{"image", ir::ColumnType::Of(DType::kBytes, {})},
                                              {"boxes", ir::ColumnType::Of(DType::kFloat32, {-1, 4})},
                                              {"label", ir::ColumnType::Of(DType::kInt32, {})}}})}});
  return builder;
}

GraphBuilder Decoded() {
  GraphBuilder builder = Images();
  builder.Add("map", {0});
  builder.Step("Decode", {"image"}, {"image"});
  return builder;
}

std::string MistakeOf(const GraphBuilder& builder) {
  const absl::StatusOr<ir::proto::Graph> graph = builder.Build();
  return graph.ok() ? "" : std::string(graph.status().message());
}

std::vector<std::string> DoubtsOf(const GraphBuilder& builder) {
  std::vector<std::string> doubts;
  for (const ir::Mistake& doubt : ir::FindDoubts(*builder.Build())) doubts.push_back(doubt.op + ": " + doubt.message);
  return doubts;
}

const GraphBuilder::Given kCrop = {{"size", IntsValue({8, 8})}};
const GraphBuilder::Given kByClass = {{"mean", FloatsValue({1, 2, 3})}, {"std", FloatsValue({4})}};

TEST(KernelPlacement, RefusesMovingPixelsAfterTheChannels) {
  GraphBuilder builder = Decoded();
  builder.Step("HWC2CHW", {"image"}, {"image"});
  builder.Step("RandomCrop", {"image"}, {"image"}, kCrop);
  EXPECT_THAT(
      MistakeOf(builder),
      HasSubstr("map RandomCrop: needs an image of shape (H, W, C), but HWC2CHW made column \"image\" (C, H, W); "
                "put it before HWC2CHW"));
  for (const char* kernel : {"RandomHorizontalFlip", "Grayscale", "HWC2CHW", "ColorJitter"}) {
    GraphBuilder other = Decoded();
    other.Step("HWC2CHW", {"image"}, {"image"});
    other.Step(kernel, {"image"}, {"image"});
    EXPECT_THAT(MistakeOf(other), HasSubstr("put it before HWC2CHW")) << kernel;
  }
}

TEST(KernelPlacement, TakesTheChannelsWhereTheyAre) {
  GraphBuilder builder = Decoded();
  builder.Step("RandomCrop", {"image"}, {"image"}, kCrop);
  builder.Step("HWC2CHW", {"image"}, {"image"});
  builder.Step("Rescale", {"image"}, {"image"}, {{"scale", ir::FloatValue(2)}});
  builder.Step("TypeCast", {"image"}, {"image"}, {{"dtype", StringValue("float16")}});
  EXPECT_EQ(MistakeOf(builder), "");
}

TEST(KernelPlacement, NamesTheLayoutToWrite) {
  GraphBuilder builder = Decoded();
  builder.Step("HWC2CHW", {"image"}, {"image"});
  builder.Step("Normalize", {"image"}, {"image"}, kByClass);
  EXPECT_THAT(MistakeOf(builder), HasSubstr("write layout='CHW'"));
  GraphBuilder erased = Decoded();
  erased.Step("RandomErasing", {"image"}, {"image"}, {{"layout", StringValue("CHW")}});
  EXPECT_THAT(MistakeOf(erased), HasSubstr("write layout='HWC'"));
  GraphBuilder planes_erased = Decoded();
  planes_erased.Step("HWC2CHW", {"image"}, {"image"});
  planes_erased.Step("RandomErasing", {"image"}, {"image"}, {{"layout", StringValue("CHW")}});
  EXPECT_EQ(MistakeOf(planes_erased), "");
  planes_erased.Step("RandomHorizontalFlip", {"image"}, {"image"});
  EXPECT_THAT(MistakeOf(planes_erased), HasSubstr("but HWC2CHW made column \"image\" (C, H, W)"));
  GraphBuilder other = Decoded();
  GraphBuilder::Given planes = kByClass;
  planes.emplace_back("layout", StringValue("CHW"));
  other.Step("Normalize", {"image"}, {"image"}, planes);
  EXPECT_THAT(MistakeOf(other), HasSubstr("but Decode made column \"image\" (H, W, C); write layout='HWC'"));
}

// Through what passes columns on, under other names, and through joining and taking apart.
TEST(KernelPlacement, FollowsColumns) {
  GraphBuilder builder = Decoded();
  builder.Step("HWC2CHW", {"image"}, {"picture"});
  const uint32_t renamed = builder.Add("rename", {1}, {{"mapping", ir::PairsValue({{"picture", "photo"}})}});
  uint32_t at = builder.Add("project", {renamed}, {{"columns", ir::StringsValue({"photo", "image"})}});
  at = builder.Add("shuffle", {at}, {{"window", IntValue(3)}});
  at = builder.Add("batch", {at}, {{"size", IntValue(2)}});
  at = builder.Add("unbatch", {at});
  builder.Add("map", {at});
  builder.Step("RandomHorizontalFlip", {"image"}, {"image"});
  EXPECT_EQ(MistakeOf(builder), "");
  builder.Step("RandomHorizontalFlip", {"photo"}, {"photo"});
  EXPECT_THAT(MistakeOf(builder), HasSubstr("but HWC2CHW made column \"photo\" (C, H, W)"));
}

// One mistake for a step, and no trust in attributes that are wrong.
TEST(KernelPlacement, LeavesOtherMistakesAlone) {
  GraphBuilder builder = Decoded();
  builder.Step("HWC2CHW", {"image"}, {"image"});
  builder.Step("Resize", {"image"}, {"image"}, {{"size", StringValue("224")}});
  builder.Step("RandomHorizontalFlip", {"image"}, {"image"});
  builder.Step("RandomHorizontalFlip", {"picture"}, {"picture"});
  const std::string mistake = MistakeOf(builder);
  EXPECT_THAT(mistake, HasSubstr("2 mistakes"));
  EXPECT_THAT(mistake, HasSubstr("map Resize: size"));
  EXPECT_THAT(mistake, HasSubstr("no column \"picture\""));
}

TEST(KernelPlacement, ForgetsWhatAFunctionMakes) {
  GraphBuilder builder = Decoded();
  builder.Step("HWC2CHW", {"image"}, {"image"});
  builder.Step("PythonFunction", {"image"}, {"image"}, {{"function", ir::ReferenceValue("back")}});
  builder.Step("RandomHorizontalFlip", {"image"}, {"image"});
  EXPECT_EQ(MistakeOf(builder), "");
}

TEST(KernelPlacement, RefusesBatchKernelsOverSingleRows) {
  const GraphBuilder::Given classes = {{"num_classes", IntValue(9)}};
  const auto floats = [] {
    GraphBuilder builder = Decoded();
    builder.Step("Rescale", {"image"}, {"image"}, {{"scale", ir::FloatValue(2)}});
    return builder;
  };
  GraphBuilder alone = floats();
  alone.Step("MixUp", {"image", "label"}, {"image", "label"}, classes);
  EXPECT_THAT(MistakeOf(alone), HasSubstr("map MixUp: works on a whole batch, but the rows of column \"image\" are not "
                                          "joined yet; give it to a map after batch: ds.batch(…).map(MixUp(…), …)"));
  GraphBuilder joined = floats();
  uint32_t at = joined.Add("batch", {1}, {{"size", IntValue(2)}});
  joined.Add("map", {at});
  joined.Step("MixUp", {"image", "label"}, {"image", "label"}, classes);
  EXPECT_EQ(MistakeOf(joined), "");
  GraphBuilder apart = floats();
  at = apart.Add("batch", {1}, {{"size", IntValue(2)}});
  at = apart.Add("unbatch", {at});
  apart.Add("map", {at});
  apart.Step("MixUp", {"image", "label"}, {"image", "label"}, classes);
  EXPECT_THAT(MistakeOf(apart), HasSubstr("not joined yet"));
}

// Rows of a clip and its mask.
GraphBuilder Clips() {
  GraphBuilder builder;
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("rows")},
               {"columns", ir::ColumnsValue({{{"clip", ir::ColumnType::Of(DType::kUInt8, {8, 20, 24, 3})},
                                              {"mask", ir::ColumnType::Of(DType::kUInt8, {8, 20, 24})}}})}});
  return builder;
}

TEST(KernelPlacement, RefusesBatchesWhereClipsFit) {
  GraphBuilder clips = Clips();
  clips.Add("map", {0});
  clips.Step("RandomCrop", {"clip"}, {"clip"}, kCrop);
  EXPECT_EQ(MistakeOf(clips), "");
  GraphBuilder images = Decoded();
  images.Step("RandomCrop", {"image"}, {"image"}, kCrop);
  const uint32_t at = images.Add("batch", {1}, {{"size", IntValue(2)}});
  GraphBuilder apart = images;
  images.Add("map", {at});
  images.Step("RandomHorizontalFlip", {"image"}, {"image"});
  EXPECT_THAT(MistakeOf(images),
              HasSubstr("map RandomHorizontalFlip: column \"image\": needs an image of shape (H, W, C) or (H, W), or a "
                        "clip (T, H, W, C), of one row; got uint8 (None, 8, 8, 3), in which rows are joined; write its "
                        "map before batch"));
  // Rows of their own again, each of which is an image.
  const uint32_t unbatched = apart.Add("unbatch", {at});
  apart.Add("map", {unbatched});
  apart.Step("RandomHorizontalFlip", {"image"}, {"image"});
  EXPECT_EQ(MistakeOf(apart), "");
}

TEST(KernelPlacement, RefusesBatchesInBranchesAndBesideMasks) {
  GraphBuilder drawn = Clips();
  const uint32_t at = drawn.Add("batch", {0}, {{"size", IntValue(2)}});
  drawn.Add("map", {at});
  drawn.Step("RandomApply", {"mask"}, {"mask"});
  drawn.Branch().Step("HorizontalFlip", {"mask"}, {"mask"}).End();
  EXPECT_THAT(MistakeOf(drawn), HasSubstr("HorizontalFlip in RandomApply: column \"mask\": needs an image of shape"));
  GraphBuilder images = Decoded();
  images.Step("Resize", {"image"}, {"image"}, {{"size", IntsValue({8, 8})}});
  images.Step("Resize", {"image"}, {"mask"}, {{"size", IntsValue({8, 8})}});
  images.Add("batch", {1}, {{"size", IntValue(2)}});
  images.Add("map", {2});
  images.Step("MatchMask", {"image", "mask"}, {"mask"});
  EXPECT_THAT(MistakeOf(images), HasSubstr("column \"image\": needs an image of shape"));
}

TEST(KernelPlacement, CutMixKnowsTheAxes) {
  GraphBuilder builder = Decoded();
  const uint32_t at = builder.Add("batch", {1}, {{"size", IntValue(2)}});
  builder.Add("map", {at});
  builder.Step("CutMix", {"image", "label"}, {"image", "label"}, {{"num_classes", IntValue(9)}});
  EXPECT_THAT(MistakeOf(builder), HasSubstr("write layout='HWC'"));
}

// A batch of pictures with boxes and labels, and a mosaic of these columns.
GraphBuilder MosaicOver(const std::vector<std::string>& columns) {
  GraphBuilder builder;
  builder.Add("Generator", {},
              {{"function", ir::ReferenceValue("rows")},
               {"columns", ir::ColumnsValue({{{"image", ir::ColumnType::Of(DType::kUInt8, {20, 24, 3})},
                                              {"boxes", ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim, 4})},
                                              {"label", ir::ColumnType::Of(DType::kInt64, {ir::kUnknownDim})}}})}});
  const uint32_t at = builder.Add("batch", {0}, {{"size", IntValue(2)}, {"ragged", StringValue("splits")}});
  builder.Add("map", {at});
  builder.Step("Mosaic", columns, columns, {{"layout", StringValue("HWC")}});
  return builder;
}

TEST(KernelPlacement, DoubtsLabelsThatStayBehindTheirBoxes) {
  EXPECT_THAT(DoubtsOf(MosaicOver({"image", "boxes", "boxes_splits"})),
              ElementsAre(HasSubstr("map Mosaic: gives new rows of \"boxes_splits\", and what belongs to "
                                    "\"label_splits\" stays as it was; if it has an element for each of them, name it "
                                    "and its splits after them")));
  EXPECT_THAT(DoubtsOf(MosaicOver({"image", "boxes", "boxes_splits", "label", "label_splits"})), ElementsAre());
}

TEST(KernelPlacement, DoubtsSmallMeansOverBytes) {
  const GraphBuilder::Given small = {{"mean", FloatsValue({0.485, 0.456, 0.406})}, {"std", FloatsValue({0.2})}};
  GraphBuilder builder = Decoded();
  builder.Step("Normalize", {"image"}, {"image"}, small);
  EXPECT_THAT(DoubtsOf(builder),
              ElementsAre(HasSubstr("map Normalize: mean and std are below 1, but the pixels are 0 … "
                                    "255")));
  GraphBuilder cast = Decoded();
  cast.Step("TypeCast", {"image"}, {"image"}, {{"dtype", StringValue("float32")}});
  cast.Step("HWC2CHW", {"image"}, {"image"});
  GraphBuilder::Given planes = small;
  planes.emplace_back("layout", StringValue("CHW"));
  cast.Step("Normalize", {"image"}, {"image"}, planes);
  EXPECT_EQ(DoubtsOf(cast).size(), 1u);
  GraphBuilder rescaled = Decoded();
  rescaled.Step("Rescale", {"image"}, {"image"}, {{"scale", ir::FloatValue(1.0 / 255)}});
  rescaled.Step("Normalize", {"image"}, {"image"}, small);
  EXPECT_THAT(DoubtsOf(rescaled), IsEmpty());
  GraphBuilder large = Decoded();
  large.Step("Normalize", {"image"}, {"image"}, kByClass);
  EXPECT_THAT(DoubtsOf(large), IsEmpty());
}

TEST(KernelPlacement, DoubtsLargeMeansOverUnits) {
  const GraphBuilder::Given divided = {{"scale", ir::FloatValue(1.0 / 255)}};
  for (const bool by_rescale : {false, true}) {
    const std::string maker = by_rescale ? "Rescale" : "ToFloat";
    GraphBuilder builder = Decoded();
    builder.Step(maker, {"image"}, {"image"}, by_rescale ? divided : GraphBuilder::Given());
    builder.Step("RandomHorizontalFlip", {"image"}, {"image"});
    builder.Step("ColorJitter", {"image"}, {"image"});
    const uint32_t renamed = builder.Add("rename", {1}, {{"mapping", ir::PairsValue({{"image", "photo"}})}});
    builder.Add("map", {renamed});
    builder.Step("Normalize", {"photo"}, {"photo"}, kByClass);
    EXPECT_THAT(DoubtsOf(builder),
                ElementsAre(HasSubstr("Normalize: mean and std are those of pixels of 0 … 255, but " + maker +
                                      " below it made them 0 … 1")));
  }
  GraphBuilder back = Decoded();
  back.Step("ToFloat", {"image"}, {"image"});
  back.Step("Rescale", {"image"}, {"image"}, {{"scale", ir::FloatValue(255)}});
  back.Step("Normalize", {"image"}, {"image"}, kByClass);
  EXPECT_THAT(DoubtsOf(back), IsEmpty());
  GraphBuilder twice = Decoded();
  twice.Step("ToFloat", {"image"}, {"image"});
  twice.Step("Normalize", {"image"}, {"image"}, {{"mean", FloatsValue({0.5})}, {"std", FloatsValue({0.5})}});
  twice.Step("Normalize", {"image"}, {"image"}, kByClass);
  EXPECT_THAT(DoubtsOf(twice), IsEmpty());
}

TEST(KernelPlacement, DoubtsMovingBoxes) {
  GraphBuilder builder = Decoded();
  builder.Step("RandomHorizontalFlip", {"image"}, {"image"});
  EXPECT_THAT(DoubtsOf(builder), IsEmpty());
  builder.Step("RandomHorizontalFlip", {"boxes"}, {"boxes"});
  EXPECT_THAT(DoubtsOf(builder), ElementsAre(HasSubstr("moves pixels, but column \"boxes\" is float32 (None, 4)")));
}

}  // namespace
}  // namespace headrace

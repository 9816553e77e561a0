// Steps that a device does after the copy: which are taken out of a graph, and that batches are the same in every bit,
// on a device in host memory and on the driver for tests.
#include "engine/device/device_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/testing/patience.h"
#include "engine/device/byte_passes.h"
#include "engine/device/cuda_device.h"
#include "engine/device/device_iteration.h"
#include "engine/device/testing/faulty_device.h"
#include "engine/device/testing/loaded_driver.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/testing/sample.h"
#include "ops/testing/fake_host.h"
#include "ops/testing/graph_builder.h"

namespace headrace {
namespace {

using ir::FloatsValue;
using ir::IntValue;
using ir::StringValue;
using ::testing::IsEmpty;

constexpr int64_t kRows = 10;

using Steps = std::vector<std::pair<std::string, GraphBuilder::Given>>;

const GraphBuilder::Given kStatistics = {{"mean", FloatsValue({124.0, 116.5, 103.25})},
                                         {"std", FloatsValue({58.5, 57.0, 57.25})}};

// Images of that shape with a label, steps on the images, batches of 3, or none, and steps on both above them.
struct Images {
  Shape shape = {4, 6, 3};
  Steps steps;
  bool batched = true;
  Steps mixing = {};
  bool numbered = false;  // their source knows how many there are

  GraphBuilder Build() const {
    GraphBuilder builder;
    const ir::Schema columns{
        {{"image", ir::ColumnType::Of(DType::kUInt8, shape)}, {"label", ir::ColumnType::Of(DType::kInt64, {1})}}};
    builder.Add(
        numbered ? "Numpy" : "Generator", {},
        {{numbered ? "arrays" : "function", ir::ReferenceValue("images")}, {"columns", ir::ColumnsValue(columns)}});
    builder.Add("map", {0});
    for (const auto& [kernel, given] : steps) builder.Step(kernel, {"image"}, {"image"}, given);
    if (batched) builder.Add("batch", {1}, {{"size", IntValue(3)}});
    if (!mixing.empty()) builder.Add("map", {batched ? 2U : 1U});
    for (const auto& [kernel, given] : mixing) {
      builder.Step(kernel, {"image", "label"}, {"image", "label"}, given);
    }
    return builder;
  }

  HostBindings Bindings() const {
    Shape all = shape;
    all.insert(all.begin(), kRows);
    Tensor images = *Tensor::Allocate(DType::kUInt8, all);
    for (int64_t at = 0; at < images.elements(); ++at) {
      images.mutable_raw()[at] = static_cast<uint8_t>(at * 13 + at / 7 * 31);
    }
    std::vector<int64_t> labels(kRows);
    std::iota(labels.begin(), labels.end(), 0);
    HostBindings bindings;
    bindings.arrays["images"].columns = {{"image", images}, {"label", Int64Tensor({kRows, 1}, labels)}};
    BindIterator(bindings, "images", [images](uint64_t, uint64_t i) -> absl::StatusOr<std::vector<Tensor>> {
      const auto row = static_cast<int64_t>(i);
      if (row >= kRows) return std::vector<Tensor>();
      return std::vector<Tensor>{images.Index(row), Int64s({row})};
    });
    return bindings;
  }
};

DeviceTails Taken(const GraphBuilder& builder) { return *TakeTails(*builder.Build()); }

std::string TailOf(const Images& images) { return TailsText(Taken(images.Build()).tails); }

TEST(TakeTails, TakesStepsThatMapBytes) {
  EXPECT_EQ(TailOf({.steps = {{"Normalize", kStatistics}, {"HWC2CHW", {}}}}), "image: Normalize, HWC2CHW");
  EXPECT_EQ(TailOf({.steps = {{"Normalize", kStatistics}}, .batched = false}), "image: Normalize");
  EXPECT_EQ(TailOf({.steps = {{"ToFloat", {}}, {"TypeCast", {{"dtype", StringValue("float16")}}}}}),
            "image: ToFloat, TypeCast");
}

TEST(TailsText, IsOnePrintableLine) {
  DeviceTail tail;
  tail.column = "a\n\x1B[31m";
  tail.steps = "ToFloat";
  EXPECT_EQ(TailsText({tail}), "a\\n\\x1b[31m: ToFloat");
}

TEST(TakeTails, TakesFlipsAmongThem) {
  EXPECT_EQ(TailOf({.steps = {{"RandomHorizontalFlip", {}}, {"Normalize", kStatistics}, {"HWC2CHW", {}}}}),
            "image: RandomHorizontalFlip, Normalize, HWC2CHW");
  EXPECT_EQ(TailOf({.steps = {{"ToFloat", {}}, {"RandomVerticalFlip", {}}}}), "image: ToFloat, RandomVerticalFlip");
  EXPECT_EQ(TailOf({.steps = {{"RandomVerticalFlip", {}}}}), "") << "as many bytes as before";
  EXPECT_EQ(TailOf({.steps = {{"RandomCrop", {{"size", ir::IntsValue({2, 2})}}},
                              {"RandomHorizontalFlip", {}},
                              {"ToFloat", {}}}}),
            "image: RandomHorizontalFlip, ToFloat");
  EXPECT_EQ(TailOf({.steps = {{"HorizontalFlip", {}}, {"ToFloat", {}}, {"VerticalFlip", {}}}}),
            "image: HorizontalFlip, ToFloat, VerticalFlip");
}

TEST(TakeTails, TakesWhatResizesBeforeThem) {
  const auto size = [](int64_t height, int64_t width) {
    return GraphBuilder::Given{{"size", ir::IntsValue({height, width})}};
  };
  const std::pair<std::string, GraphBuilder::Given> floats = {"ToFloat", {}};
  EXPECT_EQ(TailOf({.steps = {{"Resize", size(8, 8)}, floats}}), "image: Resize, ToFloat");
  EXPECT_EQ(TailOf({.steps = {{"RandomResizedCrop", size(3, 3)}, {"RandomHorizontalFlip", {}}, floats}}),
            "image: RandomResizedCrop, RandomHorizontalFlip, ToFloat");
  EXPECT_EQ(TailOf({.steps = {{"Resize", size(2, 2)}, floats}}), "image: ToFloat") << "that would send more bytes";
  EXPECT_EQ(TailOf({.steps = {{"RandomHorizontalFlip", {}}, {"Resize", size(8, 8)}, floats}}),
            "image: Resize, ToFloat");
  EXPECT_EQ(TailOf({.steps = {{"Resize", size(8, 8)}, floats, {"RandomErasing", {}}}}),
            "image: ToFloat, RandomErasing");
  EXPECT_EQ(TailOf({.steps = {{"Resize", size(8, 8)}, floats, {"HWC2CHW", {}}}, .mixing = {{"CutMix", {}}}}),
            "image: ToFloat, HWC2CHW, CutMix");
  EXPECT_EQ(TailOf({.steps = {{"Resize", size(8, 8)}, floats}, .mixing = {{"MixUp", {}}}}),
            "image: Resize, ToFloat, MixUp");
  for (const std::pair<std::string, ir::proto::Value>& other :
       {std::pair{std::string("antialias"), ir::BoolValue(false)},
        {"interpolation", StringValue("nearest")},
        {"interpolation", StringValue("auto")}}) {
    GraphBuilder::Given given = size(8, 8);
    given.push_back(other);
    EXPECT_EQ(TailOf({.steps = {{"Resize", given}, floats}}), "image: ToFloat") << other.first;
  }
}

TEST(TakeTails, TakesWhatErasesAfterFlips) {
  EXPECT_EQ(TailOf({.steps = {{"RandomHorizontalFlip", {}}, {"ToFloat", {}}, {"RandomErasing", {}}, {"HWC2CHW", {}}}}),
            "image: RandomHorizontalFlip, ToFloat, RandomErasing, HWC2CHW");
  EXPECT_EQ(TailOf({.steps = {{"RandomErasing", {}}, {"RandomHorizontalFlip", {}}, {"ToFloat", {}}}}),
            "image: RandomHorizontalFlip, ToFloat");
  EXPECT_EQ(TailOf({.steps = {{"RandomErasing", {}}, {"RandomErasing", {}}, {"ToFloat", {}}}}),
            "image: RandomErasing, ToFloat")
      << "one of them";
  EXPECT_EQ(TailOf({.steps = {{"RandomErasing", {{"value", FloatsValue({1.5})}}}, {"ToFloat", {}}}}), "image: ToFloat")
      << "bytes cannot hold the value: the row's error stays";
  const GraphBuilder::Given planes = {{"layout", StringValue("CHW")}};
  EXPECT_EQ(TailOf({.steps = {{"ToFloat", {}}, {"HWC2CHW", {}}, {"RandomErasing", planes}}}),
            "image: ToFloat, HWC2CHW, RandomErasing");
  EXPECT_EQ(TailOf({.steps = {{"ToFloat", {}}, {"RandomErasing", planes}}}), "") << "rows are no channels";
  EXPECT_EQ(TailOf({.steps = {{"ToFloat", {}}, {"RandomErasing", {{"noise", ir::BoolValue(true)}}}, {"HWC2CHW", {}}}}),
            "");
}

TEST(TakeTails, TakesWhatMixesBatches) {
  const Steps floats = {{"Normalize", kStatistics}, {"HWC2CHW", {}}};
  EXPECT_EQ(TailOf({.steps = floats, .mixing = {{"MixUp", {}}}}), "image: Normalize, HWC2CHW, MixUp");
  EXPECT_EQ(TailOf({.steps = floats, .mixing = {{"CutMix", {}}}}), "image: Normalize, HWC2CHW, CutMix");
  EXPECT_EQ(TailOf({.steps = floats, .mixing = {{"MixUp", {}}, {"CutMix", {}}}}), "") << "one of them";
  EXPECT_EQ(TailOf({.shape = {3, 5, 3}, .steps = {{"Normalize", kStatistics}}, .mixing = {{"CutMix", {}}}}), "")
      << "it cuts axes that are none of an image's";
  EXPECT_EQ(TailOf({.steps = {{"HWC2CHW", {}}}, .mixing = {{"CutMix", {}}}}), "") << "as many bytes as before";
  EXPECT_EQ(TailOf({.steps = {{"Rescale", {{"scale", ir::FloatValue(1e38)}}}}, .mixing = {{"MixUp", {}}}}), "")
      << "numbers that are none have no certain bits";
}

TEST(TakeTails, LeavesLabelsThatAreMixedOnTheHost) {
  const Images images{.steps = {{"Normalize", kStatistics}}, .mixing = {{"MixUp", {}}}};
  const DeviceTails taken = Taken(images.Build());
  ASSERT_EQ(taken.tails.size(), 1U);
  const ir::proto::Node& last = *taken.graph.nodes().rbegin();
  ASSERT_EQ(last.steps_size(), 1);
  EXPECT_EQ(last.steps(0).kernel(), "MixUpPlan");
  EXPECT_EQ(last.steps(0).salt(), images.Build().Build()->nodes().rbegin()->steps(0).salt());
  EXPECT_EQ(last.steps(0).outputs(0), "image (mixing)");
  EXPECT_EQ(last.steps(0).outputs(1), "label");
}

TEST(TakeTails, LeavesTheDrawsOfFlips) {
  Images images{.steps = {{"RandomHorizontalFlip", {}}, {"ToFloat", {}}, {"RandomVerticalFlip", {}}}};
  const ir::proto::Graph whole = *images.Build().Build();
  DeviceTails taken = *TakeTails(whole);
  ASSERT_EQ(taken.tails.size(), 1U);
  EXPECT_EQ(taken.tails[0].drawn_of(Drawn::kMarks), "image (flips)");
  const ir::proto::Node& before = whole.nodes(1);
  const ir::proto::Node& map = taken.graph.nodes(1);
  ASSERT_EQ(map.steps_size(), 3);
  EXPECT_EQ(map.steps(0).kernel(), "CornerMarks");
  EXPECT_EQ(map.steps(1).salt(), before.steps(0).salt());
  EXPECT_EQ(map.steps(2).salt(), before.steps(2).salt());
  for (const ir::proto::Step& step : map.steps()) EXPECT_EQ(step.outputs(0), "image (flips)");
}

TEST(TakeTails, NamesNoColumnThatThereIs) {
  GraphBuilder builder = Images{.steps = {{"RandomHorizontalFlip", {}}, {"ToFloat", {}}}, .batched = false}.Build();
  builder.Step("TypeCast", {"label"}, {"image (flips)"}, {{"dtype", StringValue("float32")}});
  EXPECT_EQ(Taken(builder).tails[0].drawn_of(Drawn::kMarks), "image (flips)'");
}

TEST(TakeTails, LeavesTheTypeOfTheResult) {
  const DeviceTails taken = Taken(Images{.steps = {{"Normalize", kStatistics}, {"HWC2CHW", {}}}}.Build());
  ASSERT_EQ(taken.tails.size(), 1U);
  EXPECT_EQ(taken.tails[0].type, ir::ColumnType::Of(DType::kFloat32, {ir::kUnknownDim, 3, 4, 6}));
  EXPECT_EQ(taken.tails[0].table.dtype(), DType::kFloat32);
  EXPECT_TRUE(taken.tails[0].planes);
  for (const ir::proto::Node& node : taken.graph.nodes()) EXPECT_NE(node.op(), "map") << "nothing was left of it";
}

TEST(TakeTails, LeavesStepsWhoseResultIsNoLargerOrNotKnown) {
  EXPECT_EQ(TailOf({.steps = {{"Invert", {}}}}), "") << "as many bytes as before";
  EXPECT_EQ(TailOf({.shape = {ir::kUnknownDim, 6, 3}, .steps = {{"Normalize", kStatistics}}, .batched = false}), "");
  EXPECT_EQ(TailOf({.shape = {4, 6, 9}, .steps = {{"Rescale", {{"scale", ir::FloatValue(0.5)}}}}}), "")
      << "a table of so many channels does not fit";
}

TEST(TakeTails, LeavesStepsWhoseNumbersChangeFromEpochToEpoch) {
  EXPECT_EQ(TailOf({.steps = {{"Rescale", {{"scale", ir::ReferenceValue("strength")}}}, {"HWC2CHW", {}}}}), "");
}

TEST(TakeTails, LeavesColumnsThatAreReadElsewhere) {
  GraphBuilder read = Images{.steps = {{"Normalize", kStatistics}}}.Build();
  read.Add("map", {2});
  read.Step("TypeCast", {"image"}, {"image"}, {{"dtype", StringValue("float64")}});
  EXPECT_THAT(Taken(read).tails, IsEmpty());

  GraphBuilder copied = Images{.steps = {{"Normalize", kStatistics}}, .batched = false}.Build();
  copied.Step("TypeCast", {"image"}, {"copy"}, {{"dtype", StringValue("float64")}});
  EXPECT_THAT(Taken(copied).tails, IsEmpty());

  GraphBuilder beside = Images{.steps = {{"Normalize", kStatistics}}, .batched = false}.Build();
  beside.Step("TypeCast", {"label"}, {"label"}, {{"dtype", StringValue("float32")}});
  EXPECT_EQ(TailsText(Taken(beside).tails), "image: Normalize") << "a step on another column";
}

TEST(TakeTails, PassesOperatorsThatDropRowsByPosition) {
  GraphBuilder taken = Images{.steps = {{"Normalize", kStatistics}}}.Build();
  taken.Add("take", {2}, {{"count", IntValue(2)}});
  EXPECT_EQ(TailsText(Taken(taken).tails), "image: Normalize");
  GraphBuilder kept = Images{.steps = {{"Normalize", kStatistics}}, .batched = false}.Build();
  kept.Add("cache", {1});
  kept.Add("batch", {2}, {{"size", IntValue(3)}});
  EXPECT_THAT(Taken(kept).tails, IsEmpty()) << "a cache holds what the user put below it";
}

TEST(TakeTails, PassesRepeatsAndLeavesWhatABucketMeasures) {
  GraphBuilder repeated = Images{.steps = {{"Normalize", kStatistics}}, .batched = false}.Build();
  repeated.Add("repeat", {1}, {{"count", IntValue(2)}});
  repeated.Add("batch", {2}, {{"size", IntValue(3)}});
  EXPECT_EQ(TailsText(Taken(repeated).tails), "image: Normalize");
  for (const std::string column : {"image", "label"}) {
    GraphBuilder bucketed = Images{.steps = {{"ToFloat", {}}, {"HWC2CHW", {}}}, .batched = false}.Build();
    bucketed.Add("bucket_by_length", {1},
                 {{"column", StringValue(column)},
                  {"boundaries", ir::IntsValue({4})},
                  {"batch_sizes", ir::IntsValue({3, 2})},
                  {"pad", StringValue("longest")}});
    EXPECT_EQ(Taken(bucketed).tails.empty(), column == "image") << column;
  }
}

// What a table gives for an image of any values.
Tensor Looked(const DeviceTail& tail, const Tensor& image) {
  const Tensor result = *Tensor::Allocate(tail.table.dtype(), tail.ShapeOf(image.shape()));
  ByteMapping mapping{};
  mapping.bytes = image.raw();
  mapping.table = tail.table.raw();
  mapping.values = const_cast<uint8_t*>(result.raw());
  mapping.images = 1;
  mapping.height = static_cast<uint32_t>(image.dim(0));
  mapping.width = static_cast<uint32_t>(image.dim(1));
  mapping.byte_height = mapping.height;
  mapping.byte_width = mapping.width;
  mapping.channels = static_cast<uint32_t>(image.dim(2));
  mapping.planes = tail.planes ? 1 : 0;
  if (ItemSize(tail.table.dtype()) == sizeof(uint16_t)) {
    MapAllBytes<uint16_t>(mapping);
  } else {
    MapAllBytes<uint32_t>(mapping);
  }
  return result;
}

// Every kernel that its traits let through, on sizes for either way of mapping.
TEST(TakeTails, TablesGiveWhatTheKernelsGive) {
  int taken = 0;
  for (const ir::Declaration* kernel : ir::Registry::Global().All()) {
    const ir::Traits& traits = kernel->traits;
    if ((!traits.pointwise && !traits.layout) || traits.random || kernel->branching != nullptr) continue;
    for (const Shape& shape : {Shape{4, 6, 3}, Shape{3, 5, 3}, Shape{2, 7, 1}}) {
      const fixture::Given given = fixture::SampleAttributes(*kernel);
      GraphBuilder builder = Images{.shape = shape, .steps = {}, .batched = false}.Build();
      builder.Step(kernel->name, {"image"}, {"image"}, GraphBuilder::Given(given.begin(), given.end()));
      const absl::StatusOr<ir::proto::Graph> graph = builder.Build();
      if (!graph.ok()) continue;  // statistics of three channels
      const DeviceTails tails = *TakeTails(*graph);
      if (tails.tails.empty()) continue;
      ++taken;
      Tensor image = *Tensor::Allocate(DType::kUInt8, shape);
      for (int64_t i = 0; i < image.elements(); ++i) image.mutable_raw()[i] = static_cast<uint8_t>(i * 37);
      const absl::StatusOr<Tensor> expected = fixture::RunKernel(kernel->name, given, image);
      ASSERT_TRUE(expected.ok());
      EXPECT_TRUE(TensorsEqual(Looked(tails.tails[0], image), *expected->Contiguous())) << kernel->name;
    }
  }
  EXPECT_GE(taken, 6);
}

struct Batch {
  std::vector<std::string> bytes;  // of each column
  std::vector<std::string> types;
  std::string state;
  friend bool operator==(const Batch&, const Batch&) = default;
};

// Takes the rest of an epoch. `use`: called with each row before its bytes are read.
std::vector<Batch> BatchesOfDeviceTail(DeviceIteration& iteration, const std::function<void(DeviceRow&)>& use) {
  std::vector<Batch> batches;
  iteration.Ask(iteration.epoch());
  while (true) {
    DeviceRow row;
    const absl::StatusOr<Pipeline::Outcome> outcome = iteration.Fetch(kTestPatience, row);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok() || *outcome != Pipeline::Outcome::kRow) return batches;
    iteration.Given();
    if (row.batch != nullptr) use(row);
    Batch batch;
    for (const Tensor& column : row.columns) {
      batch.bytes.emplace_back(reinterpret_cast<const char*>(column.raw()), column.bytes());
      batch.types.push_back(column.TypeName());
    }
    EXPECT_TRUE(ir::FitsSchema(iteration.schema(), row.columns));
    batch.state = *iteration.State();
    batches.push_back(std::move(batch));
  }
}

IterateOptions OptionsFor(const Images& images) {
  IterateOptions options;
  options.bindings = images.Bindings();
  return options;
}

std::vector<Batch> OnTheHost(const Images& images) {
  const auto iteration = *DeviceIteration::Start(*images.Build().Build(), OptionsFor(images));
  return BatchesOfDeviceTail(*iteration, [](DeviceRow&) {});
}

void AddMixing(const Shape& shape, std::vector<Images>& chains) {
  const Steps drawn = {{"RandomHorizontalFlip", {}}, {"ToFloat", {}}, {"RandomErasing", {}}};
  Steps planes = drawn;
  planes.push_back({"HWC2CHW", {}});
  chains.push_back({shape, planes, true, {{"MixUp", {}}}});
  const GraphBuilder::Given size = {{"size", ir::IntsValue({6, 4})}};
  chains.push_back({shape, {{"RandomResizedCrop", size}, {"ToFloat", {}}, {"HWC2CHW", {}}}, true, {{"MixUp", {}}}});
  chains.push_back({shape, drawn, true, {{"MixUp", {{"alpha", ir::FloatValue(0.4)}}}}});
  chains.push_back({shape, planes, true, {{"CutMix", {}}}});
  chains.push_back({shape, drawn, true, {{"CutMix", {{"layout", StringValue("HWC")}}}}});
  const GraphBuilder::Given by_row = {{"per", StringValue("row")}};
  chains.push_back({shape, planes, true, {{"MixUp", by_row}}});
  chains.push_back({shape, planes, true, {{"CutMix", by_row}}});
  const std::pair<std::string, GraphBuilder::Given> halves = {"TypeCast", {{"dtype", StringValue("float16")}}};
  chains.push_back({shape, {{"HWC2CHW", {}}, halves}, true, {{"CutMix", {}}}});
}

std::vector<Images> Chains() {
  std::vector<Images> chains;
  for (const Shape& shape : {Shape{4, 6, 3}, Shape{3, 5, 3}, Shape{3, 8, 3}, Shape{5, 3, 1}, Shape{2, 1, 4}}) {
    for (const bool batched : {true, false}) {
      chains.push_back({shape,
                        {{"RandomVerticalFlip", {}}, {"ToFloat", {}}, {"RandomHorizontalFlip", {}}, {"HWC2CHW", {}}},
                        batched});
      chains.push_back({shape, {{"RandomHorizontalFlip", {}}, {"ToFloat", {}}}, batched});
      chains.push_back({shape, {{"HorizontalFlip", {}}, {"ToFloat", {}}, {"VerticalFlip", {}}}, batched});
      const GraphBuilder::Given erasing = {{"value", FloatsValue({7.0})}, {"p", ir::FloatValue(0.8)}};
      chains.push_back({shape,
                        {{"RandomHorizontalFlip", {}}, {"RandomErasing", erasing}, {"ToFloat", {}}, {"HWC2CHW", {}}},
                        batched});
      chains.push_back({shape, {{"ToFloat", {}}, {"RandomErasing", erasing}}, batched});
      const GraphBuilder::Given size = {{"size", ir::IntsValue({5, 8})}};
      chains.push_back({shape,
                        {{"RandomResizedCrop", size}, {"RandomHorizontalFlip", {}}, {"ToFloat", {}}, {"HWC2CHW", {}}},
                        batched});
      chains.push_back({shape, {{"Resize", size}, {"ToFloat", {}}}, batched});
      GraphBuilder::Given of_planes = erasing;
      of_planes.emplace_back("layout", StringValue("CHW"));
      chains.push_back({shape, {{"ToFloat", {}}, {"HWC2CHW", {}}, {"RandomErasing", of_planes}}, batched});
      if (batched) AddMixing(shape, chains);
      if (shape.back() != 3) continue;
      chains.push_back({shape, {{"Normalize", kStatistics}, {"HWC2CHW", {}}}, batched});
      chains.push_back({shape, {{"HWC2CHW", {}}, {"TypeCast", {{"dtype", StringValue("float16")}}}}, batched});
    }
  }
  return chains;
}

TEST(DeviceTail, BatchesAreThoseOfTheHost) {
  for (const Images& images : Chains()) {
    const std::vector<Batch> expected = OnTheHost(images);
    ASSERT_FALSE(expected.empty());
    for (const bool maps : {true, false}) {
      const auto device = std::make_shared<FaultyDevice>();
      device->maps = maps;
      IterateOptions options = OptionsFor(images);
      options.device = PlannedDevice{.name = "cpu:0"};
      const auto iteration = *DeviceIteration::StartOn(device, *images.Build().Build(), options);
      EXPECT_EQ(BatchesOfDeviceTail(*iteration, [](DeviceRow&) {}), expected);
      EXPECT_EQ(iteration->report().device->steps.empty(), !maps);
    }
  }
}

// Rows that repeat others are mixed with none.
TEST(DeviceTail, KnowsWhichRowsStandApart) {
  for (const char* const mixing : {"MixUp", "CutMix"}) {
    const Images images{
        .steps = {{"Normalize", kStatistics}, {"HWC2CHW", {}}}, .mixing = {{mixing, {}}}, .numbered = true};
    const ir::proto::Graph graph = *images.Build().Build();
    IterateOptions options = OptionsFor(images);
    options.world = 4;
    options.rank = 3;
    options.even = "pad";
    const auto here = *DeviceIteration::Start(graph, options);
    const std::vector<Batch> expected = BatchesOfDeviceTail(*here, [](DeviceRow&) {});
    const auto device = std::make_shared<FaultyDevice>();
    device->maps = true;
    options.device = PlannedDevice{.name = "cpu:0"};
    const auto there = *DeviceIteration::StartOn(device, graph, options);
    const std::vector<Batch> batches = BatchesOfDeviceTail(*there, [](DeviceRow&) {});
    ASSERT_EQ(batches.size(), expected.size());
    for (size_t i = 0; i < batches.size(); ++i) EXPECT_EQ(batches[i].bytes, expected[i].bytes);
    EXPECT_NE(there->report().device->steps, "");
    EXPECT_EQ(there->schema().Names(), (std::vector<std::string>{"image", "label", "_pad"}));
  }
}

TEST(DeviceTail, StatesHoldWithAndWithoutIt) {
  const Images images{
      .steps = {{"RandomHorizontalFlip", {}}, {"Normalize", kStatistics}, {"RandomErasing", {}}, {"HWC2CHW", {}}},
      .mixing = {{"MixUp", {}}}};
  const std::vector<Batch> expected = OnTheHost(images);
  for (size_t done = 1; done < expected.size(); ++done) {
    const auto device = std::make_shared<FaultyDevice>();
    device->maps = true;
    IterateOptions options = OptionsFor(images);
    options.device = PlannedDevice{.name = "cpu:0"};
    options.state = expected[done - 1].state;
    const auto iteration = *DeviceIteration::StartOn(device, *images.Build().Build(), options);
    const std::vector<Batch> rest = BatchesOfDeviceTail(*iteration, [](DeviceRow&) {});
    EXPECT_EQ(rest, std::vector<Batch>(expected.begin() + static_cast<std::ptrdiff_t>(done), expected.end()));
  }
}

TEST(DeviceTail, NothingIsTakenWithoutTheOptimizer) {
  const Images images{.steps = {{"Normalize", kStatistics}}};
  const auto device = std::make_shared<FaultyDevice>();
  device->maps = true;
  IterateOptions options = OptionsFor(images);
  options.device = PlannedDevice{.name = "cpu:0"};
  options.optimize = false;
  const auto iteration = *DeviceIteration::StartOn(device, *images.Build().Build(), options);
  EXPECT_EQ(iteration->report().device->steps, "");
}

TestDriverOptions DriverThatRuns(int order) {
  TestDriverOptions given = kPlainDriver;
  given.order = order;
  given.seed = 3;
  return given;
}

// A build without nvcc has none.
bool KernelsAreBuilt() {
  SetUpDriver(DriverThatRuns(kRunEarly));
  return *(*CudaDevice::Open(0))->Maps();
}

TEST(DeviceTail, BatchesOfTheDriverForTestsAreThoseOfTheHost) {
  int steps = 0;
  for (const int order : {kRunLate, kRunEarly, kRunRandom}) {
    for (const Images& images : Chains()) {
      SetUpDriver(DriverThatRuns(order));
      const std::vector<Batch> expected = OnTheHost(images);
      {
        IterateOptions options = OptionsFor(images);
        options.device = PlannedDevice{.name = "cuda:0", .sends_from = MemoryKind::kPageLocked};
        const auto iteration = *DeviceIteration::Start(*images.Build().Build(), options);
        const auto wait = [](DeviceRow& row) { EXPECT_TRUE(row.batch->HandOverToAny().ok()); };
        EXPECT_EQ(BatchesOfDeviceTail(*iteration, wait), expected);
        steps += iteration->report().device->steps.empty() ? 0 : 1;
      }
      EXPECT_EQ(Findings(), "");
    }
  }
  EXPECT_EQ(steps, KernelsAreBuilt() ? 3 * static_cast<int>(Chains().size()) : 0);
  std::printf("HEADRACE-COUNT variants=%d\n", steps);
}

// A profile knows when a batch was copied, and when the steps after the copy were done.
TEST(DeviceTail, ProfilesStepsApartFromCopies) {
  const Images images{.steps = {{"Normalize", kStatistics}, {"HWC2CHW", {}}}};
  for (const std::string device : {"cpu:0", "cuda:0"}) {
    SetUpDriver(DriverThatRuns(kRunLate));
    IterateOptions options = OptionsFor(images);
    options.device = PlannedDevice{.name = device, .sends_from = MemoryKind::kPageLocked};
    options.profile = 64;
    const auto iteration = *DeviceIteration::Start(*images.Build().Build(), options);
    const size_t given =
        BatchesOfDeviceTail(*iteration, [](DeviceRow& row) { row.batch->HandOverToAny().IgnoreError(); }).size();
    iteration->Close(kTestPatience);
    const Profile profile = iteration->profile();
    ASSERT_EQ(profile.batches.size(), given) << device;
    for (const DeviceBatchTimes& batch : profile.batches) {
      EXPECT_LE(batch.copy_ns, batch.copied_ns) << device;
      EXPECT_EQ(batch.copied_ns < batch.filled_ns, !iteration->report().device->steps.empty()) << device;
      EXPECT_LE(batch.filled_ns, profile.wall_ns) << device;
    }
  }
}

// Each call of the driver fails in turn, those that load and launch kernels among them.
TEST(DeviceTail, AnyCallMayFail) {
  const Images images{.steps = {{"RandomHorizontalFlip", {}}, {"Normalize", kStatistics}, {"HWC2CHW", {}}},
                      .mixing = {{"CutMix", {}}}};
  const size_t batches = OnTheHost(images).size();
  IterateOptions options = OptionsFor(images);
  options.device = PlannedDevice{.name = "cuda:0", .sends_from = MemoryKind::kPageLocked};
  options.pull = true;
  options.profile = 64;
  const auto run = [&](size_t& rows) -> absl::Status {
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceIteration> iteration,
                              DeviceIteration::Start(*images.Build().Build(), options));
    iteration->Ask(0);
    for (rows = 0;; ++rows) {
      DeviceRow row;
      HEADRACE_ASSIGN_OR_RETURN(const Pipeline::Outcome outcome, iteration->Fetch(kTestPatience, row));
      if (outcome != Pipeline::Outcome::kRow) return absl::OkStatus();
      HEADRACE_RETURN_IF_ERROR(row.batch->HandOverToAny());
    }
  };
  SetUpDriver(DriverThatRuns(kRunLate));
  size_t rows = 0;
  ASSERT_TRUE(run(rows).ok());
  ASSERT_EQ(rows, batches);
  const int64_t all = DriverCalls();
  for (const bool sticky : {false, true}) {
    for (int64_t at = 0; at < all; ++at) {
      TestDriverOptions given = DriverThatRuns(kRunLate);
      given.fail_at = at;
      given.fail_code = CUDA_ERROR_LAUNCH_FAILED;
      given.sticky = sticky ? 1 : 0;
      SetUpDriver(given);
      const absl::Status status = run(rows);
      if (status.ok()) {
        EXPECT_EQ(rows, batches) << "call " << at;
      } else {
        EXPECT_TRUE(KindOf(status) == ErrorKind::kResource || KindOf(status) == ErrorKind::kUnsupported) << status;
      }
    }
  }
  std::printf("HEADRACE-COUNT faults=%d\n", static_cast<int>(2 * all));
}

}  // namespace
}  // namespace headrace

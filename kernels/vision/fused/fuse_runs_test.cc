// What the optimizer marks to run as one is what one pass over the pixels can do, and no run that it ends could be
// longer.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/philox.h"
#include "core/testing/rounds.h"
#include "gtest/gtest.h"
#include "ir/canonical.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/passes/fuse_image.h"
#include "ir/value.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/vision/fused/fused_image.h"

namespace headrace {
namespace {

using fixture::Floats;
using fixture::Given;
using fixture::Ints;

const uint64_t kFuseRunsRuns = Rounds(3000, {.quick = 300, .sanitized = 300});

// A source of images, and a map; this room links no operators.
void Declare() {
  static const bool once = [] {
    ir::Declaration source;
    source.name = "FakeImages";
    source.role = ir::Role::kSource;
    source.min_inputs = source.max_inputs = 0;
    source.infer = [](const ir::Attributes&, absl::Span<const ir::Schema>) -> absl::StatusOr<ir::Schema> {
      return ir::Schema{{{"encoded", ir::ColumnType::Of(DType::kBytes, {})},
                         {"decoded", ir::ColumnType::Of(DType::kUInt8, {-1, -1, 3})}}};
    };
    ir::RequireRegistered(ir::Registry::Global().Register(source));
    ir::Declaration map;
    map.name = std::string(ir::kMapOp);
    map.role = ir::Role::kRow;
    ir::RequireRegistered(ir::Registry::Global().Register(map));
    return true;
  }();
  (void)once;
}

std::pair<std::string, Given> AnyKernel(RowRandom& random) {
  const Given one = {{"mean", Floats({100})}, {"std", Floats({50})}};
  const Given three = {{"mean", Floats({1, 2, 3})}, {"std", Floats({4})}};
  constexpr const char* kTypes[] = {"float16", "float32", "uint8", "int32"};
  switch (random.Below(12)) {
    case 0:
      return {"RandomResizedCrop", {{"size", Ints({8, 9})}}};
    case 1:
      return {"RandomHorizontalFlip", {}};
    case 2:
      return {"HWC2CHW", {}};
    case 3:
      return {"Normalize", one};
    case 4:
      return {"Normalize", three};
    case 5: {
      Given planes = three;
      planes.emplace_back("layout", ir::StringValue("CHW"));
      return {"Normalize", planes};
    }
    case 6:
      return {"Rescale", {{"scale", ir::FloatValue(2)}}};
    case 7:
      return {"TypeCast", {{"dtype", ir::StringValue(kTypes[random.Below(4)])}}};
    case 8:
      return {"RandomErasing", {}};
    case 9:
      return {"ColorJitter", {{"brightness", Floats({0.5})}}};
    case 10:
      return {"AdjustContrast", {{"factor", ir::FloatValue(2)}}};
    default:
      return {"Grayscale", {{"output_channels", ir::IntValue(3)}}};
  }
}

class FusedGraph {
 public:
  FusedGraph() {
    Declare();
    graph_.set_format(ir::kFormat);
    graph_.add_nodes()->set_op("FakeImages");
    ir::proto::Node* map = graph_.add_nodes();
    map->set_op(std::string(ir::kMapOp));
    map->add_inputs(0);
  }

  // Leaves the step out if it cannot run there.
  void Add(const std::string& column, const std::string& kernel, const Given& given) {
    ir::proto::Graph longer = graph_;
    ir::proto::Step* step = longer.mutable_nodes(1)->add_steps();
    step->set_kernel(kernel);
    step->add_inputs(column);
    step->add_outputs(column);
    for (const auto& [name, value] : given) {
      ir::proto::Attribute* attribute = step->add_attributes();
      attribute->set_name(name);
      *attribute->mutable_value() = value;
    }
    if (!ir::Canonicalize(longer).ok() || !ir::InferSchemas(longer).ok()) return;
    graph_ = std::move(longer);
    kernels_.push_back(*fixture::MakeKernel(kernel, given));
  }

  // Compares each run with the pass that its kernels, and those after them, would be.
  void Check() const {
    const ir::proto::Graph marked = *ir::FuseImage(graph_);
    const auto& steps = marked.nodes(1).steps();
    ir::Schema schema = (*ir::InferSchemas(graph_))[0];
    std::set<uint32_t> seen;
    for (int i = 0; i < steps.size(); ++i) {
      const ir::ColumnType type = schema.Find(steps[i].inputs(0))->type;
      const bool image = type.dtype == DType::kUInt8 || type.dtype == DType::kFloat32;
      ASSERT_TRUE(ir::ApplyStep(steps[i], schema).ok());
      if (steps[i].fused() != 0 && !seen.insert(steps[i].fused()).second) continue;
      std::vector<FusedImage::Part> parts;
      size_t marked_parts = 0;
      for (int k = i; k < steps.size(); ++k) {
        if (steps[k].inputs(0) != steps[i].inputs(0)) continue;
        parts.push_back({kernels_[static_cast<size_t>(k)].get(), 0, 0});
        if (steps[i].fused() != 0 && steps[k].fused() == steps[i].fused()) ++marked_parts;
      }
      const size_t fitting = FusedImage::Make(parts).parts();
      if (marked_parts > 0) {
        EXPECT_EQ(fitting, marked_parts) << i;
      } else if (image || type.dtype == DType::kBytes) {
        EXPECT_LE(fitting, 1u) << i;
      }
      runs_ += marked_parts > 0 ? 1 : 0;
    }
  }

  std::string Text() const {
    std::string text;
    for (const ir::proto::Step& step : graph_.nodes(1).steps()) text += " " + step.inputs(0) + ":" + step.kernel();
    return text;
  }
  int runs() const { return runs_; }

 private:
  ir::proto::Graph graph_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  mutable int runs_ = 0;
};

TEST(FuseImage, MarksWhatOnePassCanDo) {
  int runs = 0;
  for (uint64_t run = 0; run < kFuseRunsRuns && !testing::Test::HasFailure(); ++run) {
    RowRandom random(17, 0, {.key = run});
    FusedGraph graph;
    if (random.Below(2) == 0) graph.Add("encoded", "Decode", {});
    for (uint64_t i = random.Below(9); i > 0; --i) {
      const auto [kernel, given] = AnyKernel(random);
      graph.Add(random.Below(2) == 0 ? "encoded" : "decoded", kernel, given);
    }
    SCOPED_TRACE(std::to_string(run) + graph.Text());
    graph.Check();
    runs += graph.runs();
  }
  EXPECT_GT(runs, static_cast<int>(kFuseRunsRuns) / 2);
  std::printf("HEADRACE-COUNT variants=%d\n", runs);
}

}  // namespace
}  // namespace headrace

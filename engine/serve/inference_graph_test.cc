#include "engine/serve/inference_graph.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "engine/serve/column_error.h"
#include "engine/serve/testing/request_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/declaration.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "kernels/kernel.h"
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

using Graph = std::shared_ptr<const InferenceGraph>;

ir::ColumnType Bytes() { return ir::ColumnType::Of(DType::kBytes, {}); }
Tensor Request() { return fixture::SampleTensor(ir::SampleInput::kEncoded); }

RequestGraph OfImage() { return RequestGraph({{{"image", Bytes()}}}); }

// Two maps, so that only the optimizer makes one pass of them.
RequestGraph Classifier() {
  RequestGraph graph = OfImage();
  graph.Map().Step("Decode", {"image"}).Step("Resize", {"image"}, {{"size", Ints({40, 48})}});
  graph.Map().Step("CenterCrop", {"image"}, {{"size", Ints({32, 32})}});
  graph.Step("Normalize", {"image"}, {{"mean", Floats({100, 110, 120})}, {"std", Floats({50, 60, 70})}});
  graph.Step("HWC2CHW", {"image"});
  return graph;
}

Tensor Classified(Tensor value) {
  value = *RunKernel("Decode", {}, value);
  value = *RunKernel("Resize", {{"size", Ints({40, 48})}}, value);
  value = *RunKernel("CenterCrop", {{"size", Ints({32, 32})}}, value);
  value = *RunKernel("Normalize", {{"mean", Floats({100, 110, 120})}, {"std", Floats({50, 60, 70})}}, value);
  return *RunKernel("HWC2CHW", {}, value);
}

Graph MadeOf(const RequestGraph& graph) {
  absl::StatusOr<Graph> made = InferenceGraph::Make(graph.graph());
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : nullptr;
}

absl::Status Refused(const RequestGraph& graph) { return InferenceGraph::Make(graph.graph()).status(); }

Tensor BorrowedBytes(const std::string& bytes) {
  return Tensor::ViewBytes(DType::kBytes, BufferRef::Borrowed(bytes.data(), bytes.size()), bytes.data(), bytes.size());
}

// Infers one number and gives two.
class FakeWrongType : public UnaryKernel {
 public:
  explicit FakeWrongType(const ir::Attributes&) {}
  absl::StatusOr<Tensor> Apply(const Tensor&, KernelContext& context) const override {
    return context.AllocateOutput(DType::kInt64, {2});
  }
};

const KernelRegistration wrong_type_registration{
    {.name = "FakeWrongType",
     .summary = "Gives another type than it says.",
     .doc = "Errors: never.",
     .python_module = "test",
     .infer_kernel = [](const ir::Attributes&,
                        absl::Span<const ir::ColumnType>) -> absl::StatusOr<std::vector<ir::ColumnType>> {
       return std::vector<ir::ColumnType>{ir::ColumnType::Of(DType::kInt64, {1})};
     }},
    Makes<FakeWrongType>()};

TEST(InferenceGraph, FindsAKernelThatGivesAnotherTypeThanItSaid) {
  RequestGraph graph = OfImage();
  graph.Map().Step("FakeWrongType", {"image"});
  const absl::Status error = MadeOf(graph)->Run({Request()}).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kFunction);
  EXPECT_THAT(std::string(error.message()), HasSubstr("output \"image\" is int64 (2,), and infer()"));
}

TEST(InferenceGraph, GivesTheBitsOfItsKernels) {
  const Graph graph = MadeOf(Classifier());
  ASSERT_NE(graph, nullptr);
  ASSERT_EQ(graph->inputs().size(), 1u);
  EXPECT_EQ(graph->inputs()[0].name, "image");
  ASSERT_EQ(graph->outputs().size(), 1u);
  EXPECT_EQ(graph->outputs()[0].type, ir::ColumnType::Of(DType::kFloat32, {3, 32, 32}));
  EXPECT_EQ(graph->hash().size(), 32u);
  const absl::StatusOr<std::vector<Tensor>> outputs = graph->Run({Request()});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_TRUE(TensorsEqual((*outputs)[0], Classified(Request())));
}

TEST(InferenceGraph, IsTheSameFromItsBytes) {
  const Graph made = MadeOf(Classifier());
  const absl::StatusOr<Graph> parsed = InferenceGraph::Parse(ir::SerializeGraph(Classifier().graph()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ((*parsed)->hash(), made->hash());
  EXPECT_TRUE(TensorsEqual((*(*parsed)->Run({Request()}))[0], (*made->Run({Request()}))[0]));
  EXPECT_EQ(KindOf(InferenceGraph::Parse("no graph").status()), ErrorKind::kGraph);
  EXPECT_EQ(KindOf(InferenceGraph::Parse("").status()), ErrorKind::kGraph);
}

TEST(InferenceGraph, ViewsItsInputAndFillsTheCallersMemory) {
  const Graph graph = MadeOf(Classifier());
  const std::string bytes(Request().bytes_value());
  std::vector<float> memory(3 * 32 * 32, -1);
  const size_t size = memory.size() * sizeof(float);
  const Tensor slot =
      Tensor::View(DType::kFloat32, {3, 32, 32}, BufferRef::Borrowed(memory.data(), size), memory.data());
  const absl::StatusOr<std::vector<Tensor>> outputs = graph->Run({BorrowedBytes(bytes)}, {slot});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].raw(), reinterpret_cast<const uint8_t*>(memory.data()));
  EXPECT_TRUE(TensorsEqual((*outputs)[0], Classified(Request())));
}

// A view of the input, which no kernel allocates.
TEST(InferenceGraph, CopiesIntoTheCallersMemoryWhatIsElsewhere) {
  RequestGraph of_array({{{"image", ir::ColumnType::AnyShape(DType::kUInt8)}}});
  of_array.Map().Step("CenterCrop", {"image"}, {{"size", Ints({20, 24})}});
  const Graph graph = MadeOf(of_array);
  const Tensor picture = fixture::SampleTensor(ir::SampleInput::kImage);
  const Tensor slot = *Tensor::Allocate(DType::kUInt8, {20, 24, 3});
  const std::vector<Tensor> outputs = *graph->Run({picture}, {slot});
  EXPECT_EQ(outputs[0].raw(), slot.raw());
  EXPECT_TRUE(TensorsEqual(slot, *RunKernel("CenterCrop", {{"size", Ints({20, 24})}}, picture)));
}

TEST(InferenceGraph, RefusesMemoryThatDoesNotFit) {
  const Graph graph = MadeOf(Classifier());
  const absl::Status other = graph->Run({Request()}, {*Tensor::Allocate(DType::kFloat32, {3, 8, 8})}).status();
  EXPECT_EQ(KindOf(other), ErrorKind::kData);
  EXPECT_EQ(other.message(),
            "output \"image\" is float32 (3, 32, 32) and does not fit the memory given for it, float32 (3, 8, 8)");
  EXPECT_EQ(ColumnOf(other), "image");
  const absl::Status two = graph->Run({Request()}, {std::nullopt, std::nullopt}).status();
  EXPECT_EQ(two.message(), "the graph has 1 outputs; got memory for 2");
  EXPECT_EQ(ColumnOf(two), "");
  EXPECT_TRUE(graph->Run({Request()}, {std::nullopt}).ok());
}

TEST(InferenceGraph, RefusesInputsOfAnotherTypeByTheirName) {
  const Graph graph = MadeOf(Classifier());
  const absl::Status none = graph->Run({}).status();
  EXPECT_EQ(KindOf(none), ErrorKind::kGraph);
  EXPECT_EQ(none.message(), "the graph takes 1 input (image); got 0");
  const absl::Status array = graph->Run({*Tensor::Allocate(DType::kUInt8, {4, 4, 3})}).status();
  EXPECT_EQ(KindOf(array), ErrorKind::kData);
  EXPECT_THAT(std::string(array.message()), HasSubstr("input \"image\" is to be bytes"));
  EXPECT_EQ(ColumnOf(array), "image");
  EXPECT_THAT(std::string(graph->Run({Tensor()}).status().message()), HasSubstr("got none"));
}

TEST(InferenceGraph, NamesTheStepOfDamagedBytes) {
  const std::string picture(Request().bytes_value());
  const absl::Status error = MadeOf(Classifier())->Run({BorrowedBytes(picture.substr(0, 200))}).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "map[1] Decode");
  EXPECT_EQ(GetErrorField(error, ErrorField::kLocation), "serve.py:2");
}

// Only the request says what its shape is.
TEST(InferenceGraph, BlamesTheRequestForAShapeThatAKernelRefuses) {
  RequestGraph of_any({{{"image", ir::ColumnType::Unknown()}}});
  of_any.Map().Step("CenterCrop", {"image"}, {{"size", Ints({20, 24})}});
  const absl::Status error = MadeOf(of_any)->Run({*Tensor::Allocate(DType::kUInt8, {7})}).status();
  EXPECT_EQ(KindOf(error), ErrorKind::kData);
  EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), "map[1] CenterCrop");
}

TEST(InferenceGraph, ChoosesAndRenamesColumns) {
  RequestGraph graph({{{"a", Bytes()}, {"b", Bytes()}, {"c", ir::ColumnType::Of(DType::kInt64, {})}}});
  graph.Map().Step("Decode", {"a"}).Step("Decode", {"b"});
  graph.Add("rename", {{"mapping", ir::PairsValue({{"a", "b"}, {"b", "a"}})}});
  graph.Map().Step("CenterCrop", {"a"}, {{"size", Ints({8, 8})}});
  graph.Add("project", {{"columns", ir::StringsValue({"b", "a"})}});
  const Graph made = MadeOf(graph);
  ASSERT_NE(made, nullptr);
  ASSERT_EQ(made->outputs().size(), 2u);
  EXPECT_EQ(made->outputs()[0].name, "b");
  const Tensor other = fixture::Encoded("grey.jpg");
  const std::vector<Tensor> outputs = *made->Run({Request(), other, *Tensor::Scalar<int64_t>(1)});
  EXPECT_TRUE(TensorsEqual(outputs[0], *RunKernel("Decode", {}, Request())));
  EXPECT_TRUE(
      TensorsEqual(outputs[1], *RunKernel("CenterCrop", {{"size", Ints({8, 8})}}, *RunKernel("Decode", {}, other))));
}

TEST(InferenceGraph, GivesItsInputWhereNothingIsDone) {
  const std::vector<Tensor> outputs = *MadeOf(OfImage())->Run({Request()});
  EXPECT_TRUE(TensorsEqual(outputs[0], Request()));
}

struct RefusedGraph {
  RequestGraph graph;
  std::string op;
  std::string line;
  std::string message;
};

TEST(InferenceGraph, RefusesWhatIsNotOfOneRowByNameAndLine) {
  RequestGraph random = OfImage();
  random.Map().Step("Decode", {"image"}).Step("RandomCrop", {"image"}, {{"size", Ints({8, 8})}});
  RequestGraph batch = OfImage();
  batch.Map().Step("Decode", {"image"});
  batch.Add("batch", {{"size", ir::IntValue(4)}});
  RequestGraph chooser = OfImage();
  chooser.Map().Step("Decode", {"image"}).Step("RandomApply", {"image"});
  ir::proto::Step& apply = *chooser.graph().mutable_nodes(1)->mutable_steps(1);
  *apply.add_branches()->add_steps() = StepOf("Invert", {}, {"image"});
  RequestGraph python = OfImage();
  python.Map().Step("PythonFunction", {"image"}, {{"function", ir::ReferenceValue("train.py:f#0")}});
  RequestGraph files = OfImage();
  files.graph().clear_nodes();
  files.Add("ImageFolder").Map().Step("Decode", {"image"});
  RequestGraph twice = OfImage();
  twice.Map().Step("Decode", {"image"}).Map();
  twice.graph().mutable_nodes(2)->set_inputs(0, 0);
  RequestGraph batches({{{"images", ir::ColumnType::AnyShape(DType::kFloat32)}}});
  batches.Map().Step("MixUp", {"images"});
  const RefusedGraph refused[] = {
      {random, "map[1] RandomCrop", "serve.py:2", "draws random numbers"},
      {batch, "batch[2]", "serve.py:3", "takes rows together"},
      {chooser, "map[1] RandomApply", "serve.py:2", "draws random numbers"},
      {python, "map[1] PythonFunction", "serve.py:2", "is a Python function"},
      {files, "ImageFolder[0]", "serve.py:2", "hr.inference(ds, keep="},
      {twice, "map[2]", "serve.py:3", "are a chain"},
      {batches, "map[1] MixUp", "serve.py:2", ""},
  };
  for (const RefusedGraph& each : refused) {
    SCOPED_TRACE(each.op);
    const absl::Status error = Refused(each.graph);
    EXPECT_EQ(KindOf(error), ErrorKind::kGraph);
    EXPECT_EQ(GetErrorField(error, ErrorField::kOperator), each.op) << error;
    if (each.op != "ImageFolder[0]") {
      EXPECT_EQ(GetErrorField(error, ErrorField::kLocation), each.line);
    }
    EXPECT_THAT(std::string(error.message()), HasSubstr(each.message));
  }
}

TEST(InferenceGraph, FindsMistakesAsAPipelineDoes) {
  RequestGraph wrong = OfImage();
  wrong.Map().Step("Decode", {"imege"});
  EXPECT_THAT(std::string(Refused(wrong).message()), HasSubstr("did you mean \"image\"?"));
  RequestGraph empty = OfImage();
  empty.graph().clear_nodes();
  EXPECT_EQ(Refused(empty).message(), "the graph has no operators");
  RequestGraph newer = Classifier();
  newer.graph().mutable_nodes(1)->mutable_steps(0)->set_version(99);
  EXPECT_EQ(KindOf(Refused(newer)), ErrorKind::kGraph);
  RequestGraph skips = Classifier();
  skips.graph().mutable_skip_failed()->set_max_errors(3);
  EXPECT_THAT(std::string(Refused(skips).message()), HasSubstr("on_error()"));
}

TEST(InferenceGraph, TracesTheStepsAsTheyAreWritten) {
  const absl::StatusOr<std::vector<StepResult>> traced = MadeOf(Classifier())->Trace({Request()});
  ASSERT_TRUE(traced.ok()) << traced.status();
  std::vector<std::string> steps;
  for (const StepResult& each : *traced) steps.push_back(each.step);
  EXPECT_THAT(steps,
              ElementsAre("map[1] Decode", "map[1] Resize", "map[2] CenterCrop", "map[2] Normalize", "map[2] HWC2CHW"));
  EXPECT_EQ((*traced)[0].column, "image");
  EXPECT_TRUE(TensorsEqual((*traced)[0].value, *RunKernel("Decode", {}, Request())));
  EXPECT_TRUE(TensorsEqual(traced->back().value, Classified(Request())));
}

// Each kernel that draws nothing, over the inputs that its declaration gives.
TEST(InferenceGraph, RunsEveryKernelAsItIs) {
  size_t kernels = 0;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    const ir::Traits& traits = declaration->traits;
    const bool of_tests = declaration->python_module == "test";
    const bool of_rows = declaration->role == ir::Role::kKernel && declaration->branching == nullptr && !of_tests;
    if (!of_rows || traits.random || traits.by_batch || traits.python || traits.file_io) continue;
    SCOPED_TRACE(declaration->name);
    const fixture::Given given = fixture::SampleAttributes(*declaration);
    const std::vector<Tensor> inputs = fixture::SampleInputs(*declaration);
    const absl::StatusOr<Tensors> expected = fixture::RunKernelOutputs(declaration->name, given, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    ir::Schema schema;
    std::vector<std::string> columns, outputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      columns.push_back(Cat("in", i));
      schema.columns.push_back({columns.back(), ir::ColumnType::Of(inputs[i].dtype(), inputs[i].shape())});
    }
    for (size_t i = 0; i < expected->size(); ++i) outputs.push_back(Cat("out", i));
    RequestGraph graph(schema);
    graph.Map().Step(declaration->name, columns, outputs, given);
    graph.Add("project", {{"columns", ir::StringsValue(outputs)}});
    const Graph made = MadeOf(graph);
    ASSERT_NE(made, nullptr);
    const absl::StatusOr<std::vector<Tensor>> run = made->Run(inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    for (size_t i = 0; i < run->size(); ++i) EXPECT_TRUE(TensorsEqual((*run)[i], (*expected)[i])) << i;
    ++kernels;
  }
  EXPECT_GT(kernels, 50u);
}

TEST(InferenceGraph, IsCalledByManyThreadsAtOnce) {
  const Graph graph = MadeOf(Classifier());
  const Tensor expected = Classified(Request());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int request = 0; request < 10; ++request) {
        const Tensor slot = *Tensor::Allocate(DType::kFloat32, {3, 32, 32});
        const bool fills = (thread + request) % 2 == 0;
        const std::vector<Tensor> outputs = *(fills ? graph->Run({Request()}, {slot}) : graph->Run({Request()}));
        EXPECT_TRUE(TensorsEqual(outputs[0], expected));
        EXPECT_EQ(outputs[0].raw() == slot.raw(), fills);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headrace

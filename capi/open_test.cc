// Graphs are opened from bytes, from saved graphs and from models, and whatever is wrong with them has a status that
// says what, and in which file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "capi/graph_file.h"
#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "core/text.h"
#include "core/varint.h"
#include "io/files/testing/temporary_folder.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

using fixture::InferenceBytes;
using ::testing::HasSubstr;

void PutField(std::string& message, uint64_t number, const std::string& bytes) {
  PutVarint(message, number << 3 | 2);
  PutVarint(message, bytes.size());
  message += bytes;
}

// A model in ONNX with these properties: ir_version, producer_name, metadata_props.
std::string OnnxOf(const std::vector<std::pair<std::string, std::string>>& properties) {
  std::string model("\x08\x08", 2);
  PutField(model, 2, "test");
  for (const auto& [key, value] : properties) {
    std::string property;
    PutField(property, 1, key);
    PutField(property, 2, value);
    PutField(model, 14, property);
  }
  // graph, with a name.
  PutField(model, 7, std::string("\x12\x01g", 3));
  // opset_import: version 17.
  PutField(model, 8, std::string("\x10\x11", 2));
  return model;
}

std::string Base64(const std::string& bytes) { return absl::Base64Escape(bytes); }

hr_status* OpenPath(const std::string& path, bool verify = false) {
  hr_open_options options = {};
  options.size = sizeof options;
  options.path = path.c_str();
  options.verify = verify ? 1 : 0;
  hr_graph* graph = nullptr;
  hr_status* const status = hr_open(&options, &graph);
  EXPECT_EQ(graph == nullptr, status != nullptr);
  hr_close(graph);
  return status;
}

std::string Refusal(const std::string& bytes) {
  const auto graph = hr::Graph::FromBytes(bytes);
  if (graph.ok()) return "";
  EXPECT_EQ(graph.error().kind(), HR_GRAPH_ERROR) << graph.error().text();
  return std::string(graph.error().text());
}

TEST(CapiOpen, ReadsASavedGraphByItsBytes) {
  const TemporaryFolder folder;
  folder.Write("preprocessing", fixture::PictureGraph());
  folder.Write("model.hrg", fixture::PictureGraph());
  for (const char* name : {"preprocessing", "model.hrg"}) {
    const auto graph = hr::Graph::Open(folder / name);
    ASSERT_TRUE(graph.ok()) << graph.error().text();
    EXPECT_EQ(graph->hash(), hr::Graph::FromBytes(fixture::PictureGraph()).value().hash());
  }
}

TEST(CapiOpen, ReadsTheGraphOfAModel) {
  const TemporaryFolder folder;
  folder.Write("model.onnx", OnnxOf({{"author", "x"}, {"headrace.graph", Base64(fixture::PictureGraph())}}));
  folder.Write("other.bin", "a model of another format");
  folder.Write("other.bin.hrg", Cat("{\"headrace.graph\": \"", Base64(fixture::PictureGraph()), "\"}"));
  for (const char* name : {"model.onnx", "other.bin", "other.bin.hrg"}) {
    const auto graph = hr::Graph::Open(folder / name);
    ASSERT_TRUE(graph.ok()) << name << ": " << graph.error().text();
    EXPECT_TRUE(graph->Run(hr::View::Bytes(fixture::ReadTestFile("rgb.png"))).ok());
  }
}

TEST(CapiOpen, SaysThatAModelHasNoGraph) {
  const TemporaryFolder folder;
  folder.Write("model.onnx", OnnxOf({{"author", "x"}}));
  hr_status* const status = OpenPath(folder / "model.onnx");
  EXPECT_EQ(hr_status_kind(status), HR_NOT_FOUND_ERROR);
  EXPECT_EQ(hr_status_file(status), folder / "model.onnx");
  EXPECT_THAT(hr_status_text(status), HasSubstr("has no graph"));
  hr_status_free(status);
}

TEST(CapiOpen, SaysWhichFileIsWrong) {
  const TemporaryFolder folder;
  folder.Write("text.onnx", OnnxOf({{"headrace.graph", "?"}}));
  folder.Write("cut.onnx", OnnxOf({{"headrace.graph", Base64(fixture::PictureGraph().substr(0, 40))}}));
  folder.Write("nothing", "");
  folder.Write("picture.jpg", fixture::ReadTestFile("baseline_420.jpg"));
  for (const char* name : {"missing.onnx", "text.onnx", "cut.onnx", "nothing", "picture.jpg"}) {
    SCOPED_TRACE(name);
    hr_status* const status = OpenPath(folder / name);
    ASSERT_NE(status, nullptr);
    EXPECT_EQ(hr_status_file(status), folder / name);
    EXPECT_THAT(hr_status_text(status), HasSubstr(name));
    EXPECT_NE(hr_status_kind(status), HR_INTERNAL_ERROR) << hr_status_text(status);
    hr_status_free(status);
  }
}

TEST(CapiOpen, RefusesGraphsThatAreCutAnywhere) {
  const std::string whole = fixture::PictureGraph();
  EXPECT_EQ(Refusal(whole), "");
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_NE(Refusal(whole.substr(0, bytes)), "") << bytes;
  }
}

TEST(CapiOpen, RefusesFilesOfGraphsThatAreCutAnywhere) {
  const TemporaryFolder folder;
  const std::string whole = fixture::PictureGraph();
  const std::string path = folder.Write("saved.hrg", whole);
  ASSERT_EQ(OpenPath(path), nullptr);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    folder.Write("saved.hrg", whole.substr(0, bytes));
    hr_status* const status = OpenPath(path);
    ASSERT_NE(status, nullptr) << bytes;
    EXPECT_EQ(hr_status_file(status), path);
    hr_status_free(status);
  }
  folder.Write("model.onnx", OnnxOf({{"headrace.graph", Base64(whole.substr(0, whole.size() - 16))}}));
  hr_status* const status = OpenPath(folder / "model.onnx");
  EXPECT_THAT(hr_status_text(status), HasSubstr("the graph is cut off"));
  hr_status_free(status);
}

TEST(CapiOpen, RefusesModelsThatAreCutAnywhere) {
  const TemporaryFolder folder;
  const std::string whole = OnnxOf({{"headrace.graph", Base64(fixture::PictureGraph())}});
  for (size_t bytes = 0; bytes < whole.size(); bytes += 3) {
    folder.Write("model.onnx", whole.substr(0, bytes));
    // What was cut off after the graph may be missed.
    hr_status_free(OpenPath(folder / "model.onnx"));
  }
}

TEST(CapiOpen, RefusesGraphsOfLaterVersions) {
  InferenceBytes later;
  later.Input("image", ir::ColumnType::Of(DType::kBytes, {})).Step("Decode", {"image"}, {"image"});
  later.graph().set_format(3);
  EXPECT_THAT(Refusal(later.Bytes()), HasSubstr("format 3"));
  later.graph().set_format(2);
  EXPECT_EQ(Refusal(later.Bytes()), "");
  later.graph().mutable_nodes(1)->mutable_steps(0)->set_version(999);
  EXPECT_THAT(Refusal(later.Bytes()), HasSubstr("999"));
}

TEST(CapiOpen, RefusesWhatIsNoInferenceGraph) {
  InferenceBytes random;
  random.Input("image", ir::ColumnType::Of(DType::kBytes, {})).Step("Decode", {"image"}, {"image"});
  random.Step("RandomHorizontalFlip", {"image"}, {"image"});
  const auto graph = hr::Graph::FromBytes(random.Bytes());
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().kind(), HR_GRAPH_ERROR);
  EXPECT_EQ(graph.error().location(), "train.py:2");
  EXPECT_THAT(std::string(graph.error().step()), HasSubstr("RandomHorizontalFlip"));
  EXPECT_THAT(Refusal(InferenceBytes().Input("a", ir::ColumnType::Unknown()).Step("Unknown", {"a"}, {"a"}).Bytes()),
              HasSubstr("Unknown"));
}

TEST(CapiOpen, SaysWhatItsOptionsCannotBe) {
  const std::string bytes = fixture::PictureGraph();
  hr_graph* graph = nullptr;
  hr_open_options options = {};
  const auto refusal = [&] { return fixture::KindAndText(hr_open(&options, &graph)); };
  const std::string kind = Cat(static_cast<int>(HR_ARGUMENT_ERROR), ": ");
  EXPECT_EQ(fixture::KindAndText(hr_open(&options, nullptr)), kind + "graph is NULL");
  EXPECT_EQ(fixture::KindAndText(hr_open(nullptr, &graph)), kind + "options is NULL");
  EXPECT_EQ(refusal(), Cat(kind, "size must be sizeof(hr_open_options), which is ", sizeof options, " here; got 0"));
  options.size = sizeof options;
  EXPECT_EQ(refusal(), kind + "give one of path and bytes; got none");
  options.path = "x";
  options.bytes = bytes.data();
  EXPECT_EQ(refusal(), kind + "give one of path and bytes; got both");
  options.path = nullptr;
  options.byte_count = bytes.size();
  options.verify = 1;
  EXPECT_THAT(refusal(), HasSubstr("verify is for models in files"));
  EXPECT_EQ(graph, nullptr);
}

TEST(CapiOpen, TellsGraphsFromModels) {
  EXPECT_TRUE(capi::BeginsAsGraph(fixture::PictureGraph()));
  EXPECT_FALSE(capi::BeginsAsGraph(OnnxOf({})));
  EXPECT_FALSE(capi::BeginsAsGraph(""));
  EXPECT_FALSE(capi::BeginsAsGraph("\x08"));
  EXPECT_FALSE(capi::BeginsAsGraph("\x08\x82"));
}

TEST(CapiOpen, SaysWhichPluginIsNone) {
  EXPECT_THAT(fixture::TextOf(hr_load_plugin(nullptr)), HasSubstr("path is NULL"));
  EXPECT_THAT(fixture::TextOf(hr_load_plugin("no/such/plugin.so")), HasSubstr("no/such/plugin.so"));
}

}  // namespace
}  // namespace headrace

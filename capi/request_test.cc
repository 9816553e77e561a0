// Requests that cannot run have a status that says what is wrong, and of which input or output.
#include "capi/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "core/text.h"
#include "core/version.h"
#include "kernels/testing/golden.h"

namespace headrace {
namespace {

using fixture::EmptyRaw;
using fixture::InferenceBytes;
using fixture::KindAndText;
using ::testing::HasSubstr;

hr::Graph PictureOf() { return hr::Graph::FromBytes(fixture::PictureGraph()).value(); }

// Of one column of that type, which it gives back.
hr::Graph Passing(const ir::ColumnType& type) {
  return hr::Graph::FromBytes(InferenceBytes().Input("value", type).Bytes()).value();
}

std::string Refusal(const hr::Graph& graph, const hr_tensor& input) {
  hr_tensor output = EmptyRaw();
  const std::string text = KindAndText(hr_run(graph.raw(), &input, 1, &output, 1));
  hr_release(&output);
  return text;
}

hr_tensor Picture(const std::string& bytes) { return hr::View::Bytes(bytes).raw(); }

std::string Kind(hr_kind kind) { return Cat(static_cast<int>(kind), ": "); }

TEST(CapiRequest, RunsAPicture) {
  const hr::Graph graph = PictureOf();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  const hr::Result<hr::Tensor> image = graph.Run(hr::View::Bytes(file));
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->dtype(), HR_FLOAT32);
  EXPECT_EQ(image->shape(), (std::vector<int64_t>{3, 32, 32}));
  EXPECT_EQ(image->bytes(), 3U * 32 * 32 * sizeof(float));
  EXPECT_NE(image->data<float>(), nullptr);
  EXPECT_EQ(image->data<double>(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(image->data()) % 64, 0U);
}

TEST(CapiRequest, WritesIntoTheCallersMemory) {
  const hr::Graph graph = PictureOf();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  const hr::Result<hr::Tensor> image = graph.Run(hr::View::Bytes(file));
  std::vector<float> slot(3 * 32 * 32 + 1, 7.0F);
  const auto error = graph.RunInto({hr::View::Bytes(file)}, {hr::View::Numbers(slot.data(), {3, 32, 32})});
  ASSERT_FALSE(error.has_value()) << error->text();
  EXPECT_EQ(std::vector<float>(slot.begin(), slot.end() - 1),
            std::vector<float>(image->data<float>(), image->data<float>() + 3 * 32 * 32));
  EXPECT_EQ(slot.back(), 7.0F) << "more than its own bytes";
}

TEST(CapiRequest, SaysWhatTheCallLacks) {
  const hr::Graph graph = PictureOf();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  const hr_tensor input = Picture(file);
  hr_tensor output = EmptyRaw();
  const auto refusal = [&](const hr_graph* given, const hr_tensor* inputs, size_t in, hr_tensor* outputs, size_t out) {
    return KindAndText(hr_run(given, inputs, in, outputs, out));
  };
  const std::string kind = Kind(HR_ARGUMENT_ERROR);
  EXPECT_EQ(refusal(nullptr, &input, 1, &output, 1), kind + "graph is NULL");
  EXPECT_EQ(refusal(graph.raw(), nullptr, 1, &output, 1), kind + "inputs is NULL");
  EXPECT_EQ(refusal(graph.raw(), &input, 1, nullptr, 1), kind + "outputs is NULL");
  EXPECT_EQ(refusal(graph.raw(), &input, 0, &output, 1), kind + "the graph has 1 input (image); got 0");
  EXPECT_EQ(refusal(graph.raw(), &input, 1, &output, 2), kind + "the graph has 1 output (image); got 2");
}

TEST(CapiRequest, SaysWhatAStructureCannotBe) {
  const hr::Graph graph = Passing(ir::ColumnType::Unknown());
  alignas(8) uint8_t memory[64] = {};
  struct Case {
    std::function<void(hr_tensor&)> change;
    std::string text;
  };
  int64_t offsets[] = {0, 3, 2};
  const std::vector<Case> cases = {
      {[](hr_tensor& tensor) { tensor.size = 0; }, "size must be sizeof(hr_tensor)"},
      {[](hr_tensor& tensor) { ++tensor.size; }, "size must be sizeof(hr_tensor)"},
      {[](hr_tensor& tensor) { tensor.dtype = HR_UNKNOWN; }, "dtype must be one of hr_dtype"},
      {[](hr_tensor& tensor) { tensor.dtype = 99; }, "dtype must be one of hr_dtype"},
      {[](hr_tensor& tensor) { tensor.dtype = -1; }, "dtype must be one of hr_dtype"},
      {[](hr_tensor& tensor) { tensor.axes = -1; }, "axes must be 0 to 32; got -1"},
      {[](hr_tensor& tensor) { tensor.axes = 33; }, "axes must be 0 to 32; got 33"},
      {[](hr_tensor& tensor) { tensor.shape[1] = -1; }, "shape must not be negative; got (2, -1)"},
      {[](hr_tensor& tensor) { tensor.shape[0] = INT64_MAX; }, "more elements than memory can hold"},
      {[](hr_tensor& tensor) { tensor.bytes = 23; }, "bytes must be at least 24 for float32 (2, 3); got 23"},
      {[](hr_tensor& tensor) { tensor.data = nullptr; }, "data is NULL"},
      {[](hr_tensor& tensor) { tensor.data = static_cast<uint8_t*>(tensor.data) + 1; }, "aligned to 4 bytes"},
      {[&](hr_tensor& tensor) { tensor.offsets = offsets; }, "offsets must be NULL for float32"},
      {[](hr_tensor& tensor) { tensor.dtype = HR_BYTES; }, "offsets is NULL"},
      {[&](hr_tensor& tensor) {
         tensor.dtype = HR_STRING;
         tensor.axes = 1;
         tensor.offsets = offsets;
       },
       "offset 2 is 2"},
      {[&](hr_tensor& tensor) {
         tensor.dtype = HR_BYTES;
         tensor.axes = 0;
         tensor.offsets = offsets;
       },
       "offsets must be NULL for a single value"},
      {[&](hr_tensor& tensor) {
         tensor.dtype = HR_BOOL;
         static_cast<uint8_t*>(tensor.data)[5] = 2;
       },
       "element 5 is 2"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.text);
    std::fill(std::begin(memory), std::end(memory), uint8_t{0});
    hr_tensor tensor = EmptyRaw();
    tensor.dtype = HR_FLOAT32;
    tensor.axes = 2;
    tensor.shape[0] = 2;
    tensor.shape[1] = 3;
    tensor.data = memory;
    tensor.bytes = 24;
    EXPECT_EQ(Refusal(graph, tensor), Kind(HR_OK));
    each.change(tensor);
    EXPECT_THAT(Refusal(graph, tensor), HasSubstr(each.text));
    EXPECT_THAT(Refusal(graph, tensor), HasSubstr("input \"value\": "));
  }
}

TEST(CapiRequest, NamesTheInputOfAnotherType) {
  const hr::Graph graph = PictureOf();
  const std::vector<float> numbers(12);
  const hr_tensor input = hr::View::Numbers(numbers.data(), {2, 2, 3}).raw();
  hr_tensor output = EmptyRaw();
  hr_status* const status = hr_run(graph.raw(), &input, 1, &output, 1);
  EXPECT_EQ(hr_status_kind(status), HR_DATA_ERROR);
  EXPECT_STREQ(hr_status_column(status), "image");
  EXPECT_THAT(hr_status_text(status), HasSubstr("float32 (2, 2, 3)"));
  hr_status_free(status);
}

TEST(CapiRequest, NamesTheOutputWhoseMemoryNoResultFits) {
  const hr::Graph graph = PictureOf();
  const std::string bytes = fixture::ReadTestFile("baseline_420.jpg");
  const hr_tensor input = Picture(bytes);
  std::vector<float> memory(3 * 32 * 31);
  hr_tensor output = hr::View::Numbers(memory.data(), {3, 32, 31}).raw();
  hr_status* const status = hr_run(graph.raw(), &input, 1, &output, 1);
  EXPECT_EQ(hr_status_kind(status), HR_DATA_ERROR);
  EXPECT_STREQ(hr_status_column(status), "image");
  EXPECT_THAT(hr_status_text(status), HasSubstr("does not fit the memory given for it, float32 (3, 32, 31)"));
  hr_status_free(status);
}

// Of outputs whose sizes nobody knows before, the second one.
TEST(CapiRequest, NamesTheOutputThatDoesNotFitAmongSeveral) {
  InferenceBytes both;
  both.Input("value", ir::ColumnType::Unknown()).Input("image", ir::ColumnType::Of(DType::kBytes, {}));
  const hr::Graph graph = hr::Graph::FromBytes(both.Step("Decode", {"image"}, {"image"}).Bytes()).value();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  const std::string damaged = "no picture";
  const std::vector<float> numbers(2);
  hr_tensor inputs[] = {hr::View::Numbers(numbers.data(), {2}).raw(), Picture(file)};
  std::vector<float> copied(2);
  std::vector<uint8_t> pixels(40 * 31 * 3);
  hr_tensor outputs[] = {hr::View::Numbers(copied.data(), {2}).raw(),
                         hr::View::Numbers(pixels.data(), {40, 31, 3}).raw()};
  hr_status* status = hr_run(graph.raw(), inputs, 2, outputs, 2);
  EXPECT_EQ(hr_status_kind(status), HR_DATA_ERROR);
  EXPECT_STREQ(hr_status_column(status), "image");
  EXPECT_THAT(hr_status_text(status), HasSubstr("output \"image\" is uint8"));
  hr_status_free(status);
  // What a step refuses is of no output, whatever memory is given.
  inputs[1] = Picture(damaged);
  status = hr_run(graph.raw(), inputs, 2, outputs, 2);
  EXPECT_STREQ(hr_status_column(status), "");
  EXPECT_THAT(hr_status_operator(status), HasSubstr("Decode"));
  hr_status_free(status);
}

TEST(CapiRequest, NamesTheStepOfADamagedPicture) {
  const hr::Graph graph = PictureOf();
  const std::string whole = fixture::ReadTestFile("baseline_420.jpg");
  for (const std::string& bytes : {std::string(), std::string("no picture"), whole.substr(0, 100)}) {
    const hr_tensor input = Picture(bytes);
    hr_tensor output = EmptyRaw();
    hr_status* const status = hr_run(graph.raw(), &input, 1, &output, 1);
    EXPECT_EQ(hr_status_kind(status), HR_DATA_ERROR);
    EXPECT_THAT(hr_status_operator(status), HasSubstr("Decode"));
    EXPECT_STREQ(hr_status_location(status), "train.py:1");
    EXPECT_THAT(hr_status_text(status), HasSubstr("train.py:1"));
    EXPECT_EQ(output.data, nullptr);
    EXPECT_EQ(output.owner, nullptr);
    hr_status_free(status);
  }
}

TEST(CapiRequest, RefusesMemoryThatAnOutputDoesNotFit) {
  const hr::Graph graph = PictureOf();
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  std::vector<float> memory(3 * 32 * 32);
  const auto refusal = [&](const hr::View& slot) {
    const auto error = graph.RunInto({hr::View::Bytes(file)}, {slot});
    return error ? std::string(error->text()) : std::string();
  };
  EXPECT_EQ(refusal(hr::View::Numbers(memory.data(), {3, 32, 32})), "");
  EXPECT_THAT(refusal(hr::View::Numbers(memory.data(), {32, 32, 3})), HasSubstr("float32 (3, 32, 32)"));
  EXPECT_THAT(refusal(hr::View::Of(HR_INT32, memory.data(), memory.size() * 4, {3, 32, 32})), HasSubstr("int32"));
  EXPECT_THAT(refusal(hr::View::Of(HR_FLOAT32, memory.data(), 100, {3, 32, 32})), HasSubstr("output \"image\": bytes"));
  EXPECT_THAT(refusal(hr::View::Bytes(memory.data(), 100)), HasSubstr("whose length is not known before"));
}

TEST(CapiRequest, GivesArraysOfStringsBack) {
  const hr::Graph graph = Passing(ir::ColumnType::AnyShape(DType::kString));
  const std::string joined = "xxonetwothree";
  const int64_t offsets[] = {2, 5, 8, 8, 13};
  hr_tensor input = hr::View::String(joined).raw();
  input.axes = 2;
  input.shape[0] = 2;
  input.shape[1] = 2;
  input.offsets = offsets;
  hr_tensor output = EmptyRaw();
  ASSERT_EQ(KindAndText(hr_run(graph.raw(), &input, 1, &output, 1)), Kind(HR_OK));
  const hr::Tensor result(output);
  EXPECT_EQ(result.shape(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(result.bytes_at(0), "one");
  EXPECT_EQ(result.bytes_at(1), "two");
  EXPECT_EQ(result.bytes_at(2), "");
  EXPECT_EQ(result.bytes_at(3), "three");
  EXPECT_NE(result.data(), input.data);
}

TEST(CapiRequest, TakesTensorsWithoutElements) {
  const hr::Graph graph = Passing(ir::ColumnType::Unknown());
  hr_tensor input = EmptyRaw();
  input.dtype = HR_FLOAT32;
  input.axes = 2;
  input.shape[1] = 3;
  EXPECT_EQ(Refusal(graph, input), Kind(HR_OK));
}

TEST(CapiRequest, DescribesItsColumns) {
  const hr::Graph graph = PictureOf();
  const auto inputs = graph.inputs().value();
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, "image");
  EXPECT_EQ(inputs[0].dtype, HR_BYTES);
  EXPECT_EQ(inputs[0].shape, std::vector<int64_t>());
  const auto outputs = graph.outputs().value();
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].dtype, HR_FLOAT32);
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{3, 32, 32}));
  EXPECT_EQ(graph.hash().size(), 32U);
  hr_column column = {};
  EXPECT_THAT(KindAndText(hr_input(graph.raw(), 0, &column)), HasSubstr("size must be sizeof(hr_column)"));
  column.size = sizeof column;
  EXPECT_THAT(KindAndText(hr_input(graph.raw(), 1, &column)), HasSubstr("index must be less than 1"));
  EXPECT_THAT(KindAndText(hr_input(graph.raw(), 0, nullptr)), HasSubstr("column is NULL"));
  EXPECT_THAT(KindAndText(hr_output(nullptr, 0, &column)), HasSubstr("graph is NULL"));
}

TEST(CapiRequest, NothingIsFreedTwiceOrOfNull) {
  hr_status_free(nullptr);
  hr_close(nullptr);
  hr_release(nullptr);
  hr_pool_close(nullptr);
  EXPECT_EQ(hr_input_count(nullptr), 0U);
  EXPECT_EQ(hr_output_count(nullptr), 0U);
  EXPECT_STREQ(hr_graph_hash(nullptr), "");
  EXPECT_STREQ(hr_status_text(nullptr), "");
  EXPECT_EQ(hr_status_kind(nullptr), HR_OK);
  const std::string file = fixture::ReadTestFile("baseline_420.jpg");
  const hr_tensor input = Picture(file);
  hr_tensor output = EmptyRaw();
  const hr::Graph graph = PictureOf();
  ASSERT_EQ(KindAndText(hr_run(graph.raw(), &input, 1, &output, 1)), Kind(HR_OK));
  hr_release(&output);
  hr_release(&output);
}

TEST(CapiRequest, SaysItsVersion) {
  EXPECT_EQ(hr_abi(), HEADRACE_ABI);
  EXPECT_EQ(hr_version(), kVersion);
}

}  // namespace
}  // namespace headrace

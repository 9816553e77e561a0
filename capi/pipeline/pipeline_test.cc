// Pipelines through the C interface give the rows of the engine, go on from states, and refuse what they cannot do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "io/files/testing/temporary_folder.h"
#include "ir/graph.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "ops/testing/graph_builder.h"

namespace headrace {
namespace {

using fixture::EmptyRaw;
using fixture::KindAndText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Batches = std::vector<std::vector<int64_t>>;

std::string BytesOf(const GraphBuilder& builder) {
  ir::proto::Graph graph = builder.Build().value();
  graph.set_producer("headrace 0.1.0");
  return ir::SerializeGraph(graph);
}

// The numbers below `rows`, in batches of two.
std::string Counting(int64_t rows, bool shuffled = false) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", ir::IntValue(rows)}, {"shuffle", ir::BoolValue(shuffled)}});
  builder.Add("batch", {0}, {{"size", ir::IntValue(2)}});
  return BytesOf(builder);
}

hr::Pipeline PipelineOf(const std::string& bytes, const std::vector<hr::Pipeline::Option>& options = {},
                        std::string_view state = {}) {
  return hr::Pipeline::FromBytes(bytes, options, state).value();
}

std::optional<std::vector<int64_t>> NextOf(hr::Pipeline& pipeline) {
  std::optional<std::vector<hr::Tensor>> row = pipeline.Next().value();
  if (!row) return std::nullopt;
  const hr::Tensor& values = row->front();
  return std::vector<int64_t>(values.data<int64_t>(), values.data<int64_t>() + values.shape()[0]);
}

Batches RestOf(hr::Pipeline& pipeline) {
  Batches batches;
  while (std::optional<std::vector<int64_t>> batch = NextOf(pipeline)) batches.push_back(*std::move(batch));
  return batches;
}

TEST(CapiPipeline, GivesTheRowsOfEachEpoch) {
  hr::Pipeline pipeline = PipelineOf(Counting(5));
  const std::vector<hr::Column> columns = pipeline.columns().value();
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_EQ(columns[0].dtype, HR_INT64);
  EXPECT_THAT(RestOf(pipeline), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  // Stays at the end.
  EXPECT_THAT(RestOf(pipeline), ElementsAre());
  EXPECT_FALSE(pipeline.NextEpoch());
  EXPECT_THAT(RestOf(pipeline), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(CapiPipeline, EpochsAndSeedsAreThoseOfTheOptions) {
  hr::Pipeline first = PipelineOf(Counting(50, true), {{"seed", int64_t{7}}});
  const Batches epoch_0 = RestOf(first);
  ASSERT_FALSE(first.NextEpoch());
  const Batches epoch_1 = RestOf(first);
  EXPECT_NE(epoch_0, epoch_1);
  hr::Pipeline later = PipelineOf(Counting(50, true), {{"seed", int64_t{7}}, {"epoch", int64_t{1}}});
  EXPECT_EQ(RestOf(later), epoch_1);
  hr::Pipeline other = PipelineOf(Counting(50, true), {{"seed", int64_t{8}}});
  EXPECT_NE(RestOf(other), epoch_0);
}

TEST(CapiPipeline, ThreadsChangeNothing) {
  hr::Pipeline pulled = PipelineOf(Counting(200, true));
  hr::Pipeline threaded = PipelineOf(Counting(200, true), {{"pull", int64_t{0}}, {"workers", int64_t{2}}});
  EXPECT_EQ(RestOf(pulled), RestOf(threaded));
}

TEST(CapiPipeline, GoesOnFromAState) {
  const std::string graph = Counting(51, true);
  hr::Pipeline pipeline = PipelineOf(graph);
  for (int taken = 0;; ++taken) {
    const std::string state = pipeline.State().value();
    hr::Pipeline restored = PipelineOf(graph, {{"pull", int64_t{taken % 2}}}, state);
    hr::Pipeline whole = PipelineOf(graph);
    for (int i = 0; i < taken; ++i) NextOf(whole);
    ASSERT_EQ(RestOf(restored), RestOf(whole)) << taken;
    if (!NextOf(pipeline)) break;
  }
}

TEST(CapiPipeline, RowsOutliveTheirPipeline) {
  std::optional<std::vector<hr::Tensor>> row;
  {
    hr::Pipeline pipeline = PipelineOf(Counting(5));
    row = pipeline.Next().value();
  }
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->front().data<int64_t>()[1], 1);
}

TEST(CapiPipeline, OpensFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("graph.hrg", Counting(3));
  hr::Pipeline pipeline = hr::Pipeline::Open(path).value();
  EXPECT_THAT(RestOf(pipeline), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  const hr::Result<hr::Pipeline> missing = hr::Pipeline::Open(path + "x");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind(), HR_NOT_FOUND_ERROR);
}

TEST(CapiPipeline, ExplainsWhatRuns) {
  hr::Pipeline pipeline = PipelineOf(Counting(5));
  RestOf(pipeline);
  EXPECT_THAT(pipeline.Explain().value(), HasSubstr("Range"));
}

TEST(CapiPipeline, ErrorsOfRowsComeAgain) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("rows.jsonl", "{\"x\": 1}\n{\"x\": oops}\n");
  GraphBuilder builder;
  builder.Add("JsonLines", {}, {{"patterns", ir::StringsValue({path})}, {"fields", ir::StringsValue({"x int32"})}});
  hr::Pipeline pipeline = PipelineOf(BytesOf(builder));
  ASSERT_TRUE(pipeline.Next().value().has_value());
  const hr::Result<std::optional<std::vector<hr::Tensor>>> failed = pipeline.Next();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind(), HR_DATA_ERROR);
  EXPECT_THAT(std::string(failed.error().text()), HasSubstr("rows.jsonl"));
  EXPECT_EQ(pipeline.Next().error().text(), failed.error().text());
}

std::string OpenRefusal(const hr_pipeline_options& options) {
  hr_pipeline* pipeline = nullptr;
  const std::string text = KindAndText(hr_pipeline_open(&options, &pipeline));
  EXPECT_EQ(pipeline, nullptr);
  return text;
}

hr_pipeline_options OptionsOver(const std::string& graph) {
  hr_pipeline_options options = {};
  options.size = sizeof options;
  options.bytes = graph.data();
  options.byte_count = graph.size();
  return options;
}

TEST(CapiPipeline, RefusesWrongCalls) {
  const std::string graph = Counting(5);
  hr_pipeline* pipeline = nullptr;
  EXPECT_THAT(KindAndText(hr_pipeline_open(nullptr, &pipeline)), HasSubstr("1: options is NULL"));
  hr_pipeline_options options = OptionsOver(graph);
  EXPECT_THAT(KindAndText(hr_pipeline_open(&options, nullptr)), HasSubstr("1: pipeline is NULL"));
  options.size = 3;
  EXPECT_THAT(OpenRefusal(options), HasSubstr("1: size must be sizeof(hr_pipeline_options)"));
  options = OptionsOver(graph);
  options.path = "x";
  EXPECT_THAT(OpenRefusal(options), HasSubstr("1: give one of path and bytes; got both"));
  options = OptionsOver(graph);
  options.option_count = 1;
  EXPECT_THAT(OpenRefusal(options), HasSubstr("1: options is NULL"));
  options = OptionsOver(graph);
  options.state_bytes = 1;
  EXPECT_THAT(OpenRefusal(options), HasSubstr("1: state is NULL"));

  hr::Pipeline made = PipelineOf(graph);
  hr_tensor output = EmptyRaw();
  int32_t row = 0;
  EXPECT_THAT(KindAndText(hr_pipeline_next(nullptr, &output, 1, &row)), HasSubstr("1: pipeline is NULL"));
  EXPECT_THAT(KindAndText(hr_pipeline_next(made.raw(), &output, 1, nullptr)), HasSubstr("1: row is NULL"));
  EXPECT_THAT(KindAndText(hr_pipeline_next(made.raw(), &output, 2, &row)), HasSubstr("has 1 columns; got 2 outputs"));
  EXPECT_THAT(KindAndText(hr_pipeline_next(made.raw(), nullptr, 1, &row)), HasSubstr("1: outputs is NULL"));
  int64_t room[2];
  output.data = room;
  EXPECT_THAT(KindAndText(hr_pipeline_next(made.raw(), &output, 1, &row)), HasSubstr("set data to NULL"));
  output = EmptyRaw();
  output.size = 1;
  EXPECT_THAT(KindAndText(hr_pipeline_next(made.raw(), &output, 1, &row)), HasSubstr("1: size must be"));
  EXPECT_THAT(KindAndText(hr_pipeline_state(made.raw(), nullptr)), HasSubstr("1: state is NULL"));
  EXPECT_THAT(KindAndText(hr_pipeline_next_epoch(made.raw())), HasSubstr("the epoch is not at its end"));
  hr_column column = {};
  EXPECT_THAT(KindAndText(hr_pipeline_column(made.raw(), 1, &column)), HasSubstr("index must be less than 1"));
  EXPECT_EQ(hr_pipeline_column_count(nullptr), 0U);
  hr_pipeline_close(nullptr);
  // All that was wrong changed nothing.
  EXPECT_THAT(RestOf(made), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(CapiPipeline, RefusesWrongOptionsAndGraphs) {
  const std::string graph = Counting(5);
  const auto refusal = [](const std::string& bytes, const std::vector<hr::Pipeline::Option>& options,
                          std::string_view state = {}) {
    const hr::Result<hr::Pipeline> pipeline = hr::Pipeline::FromBytes(bytes, options, state);
    return pipeline.ok() ? std::string() : std::string(pipeline.error().text());
  };
  EXPECT_THAT(refusal(graph, {{"worker", int64_t{1}}}), HasSubstr("a run has no option \"worker\""));
  EXPECT_THAT(refusal(graph, {{"workers", "two"}}), HasSubstr("workers must be an integer"));
  EXPECT_THAT(refusal(graph, {{"device", "cuda:0"}}), HasSubstr("has no option \"device\""));
  EXPECT_THAT(refusal(graph, {{"endless", int64_t{0}}}), HasSubstr("has no option \"endless\""));
  EXPECT_THAT(refusal(graph, {}, "no state"), HasSubstr("state"));
  for (size_t cut = 0; cut < graph.size(); ++cut) EXPECT_NE(refusal(graph.substr(0, cut), {}), "") << cut;

  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", ir::IntValue(5)}});
  builder.Add("map", {0});
  builder.Step("PythonFunction", {"value"}, {"value"}, {{"function", ir::ReferenceValue("train.py:augment#0")}});
  EXPECT_THAT(refusal(BytesOf(builder), {}), HasSubstr("train.py:augment#0"));
}

}  // namespace
}  // namespace headrace

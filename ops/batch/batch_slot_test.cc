// Rows of a map are written where they go in their batch.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/exec/pipeline.h"
#include "kernels/kernel.h"
#include "ops/testing/run_operator.h"

namespace headrace {
namespace {

using ir::IntValue;

constexpr int64_t kWidth = 300;

std::mutex written_mutex;
std::map<std::pair<uint64_t, int64_t>, const uint8_t*>& Written() {
  static auto* const written = new std::map<std::pair<uint64_t, int64_t>, const uint8_t*>;
  return *written;
}

// Writes a number many times over and notes where.
class Spread : public UnaryKernel {
 public:
  explicit Spread(const ir::Attributes&) {}
  absl::StatusOr<Tensor> Apply(const Tensor& input, KernelContext& context) const override {
    HEADRACE_ASSIGN_OR_RETURN(Tensor output, context.AllocateOutput(DType::kFloat32, {kWidth}));
    const int64_t value = input.value<int64_t>();
    for (int64_t i = 0; i < kWidth; ++i) output.mutable_data<float>()[i] = static_cast<float>(value);
    const std::lock_guard<std::mutex> lock(written_mutex);
    Written()[{context.random().row(), value}] = output.raw();
    return output;
  }
};

const KernelRegistration batch_slot_registration{
    {.name = "FakeSpread",
     .summary = "Writes a number many times over.",
     .doc = "Errors: none.",
     .python_module = "internal",
     .infer_kernel = [](const ir::Attributes&,
                        absl::Span<const ir::ColumnType>) -> absl::StatusOr<std::vector<ir::ColumnType>> {
       return std::vector{ir::ColumnType::Of(DType::kFloat32, {kWidth})};
     }},
    Makes<Spread>()};

GraphBuilder Spreading(int64_t rows) {
  GraphBuilder builder;
  builder.Add("Range", {}, {{"stop", IntValue(rows)}});
  builder.Add("map", {0});
  builder.Step("FakeSpread", {"value"}, {"value"});
  return builder;
}

struct Counted {
  int rows = 0;
  int in_slots = 0;
  int64_t peak_bytes = 0;
};

// Runs with threads and compares where each row of a batch lies with where it was written.
Counted CountInSlots(const GraphBuilder& builder, PipelineOptions options = {}) {
  Written().clear();
  const auto graph = builder.Build();
  EXPECT_TRUE(graph.ok()) << graph.status();
  auto pipeline = Pipeline::Make(*graph, std::move(options));
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  Counted counted;
  std::vector<ResultRow> kept;  // so that no memory is written again
  for (uint64_t epoch = 0; epoch <= (*pipeline)->plan().epochs.last;) {
    ResultRow row;
    const auto outcome = (*pipeline)->Next(std::chrono::seconds(30), row);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok() || *outcome == Pipeline::Outcome::kNothingYet) break;
    epoch += *outcome == Pipeline::Outcome::kEpochEnd ? 1 : 0;
    if (*outcome == Pipeline::Outcome::kRow) kept.push_back(std::move(row));
  }
  (*pipeline)->Close();
  counted.peak_bytes = (*pipeline)->report().peak_bytes;
  for (const ResultRow& row : kept) {
    const Tensor& batch = row.columns[0];
    for (int64_t i = 0; i < batch.dim(0); ++i) {
      const auto value = static_cast<int64_t>(batch.Index(i).data<float>()[0]);
      EXPECT_EQ(batch.Index(i).data<float>()[kWidth - 1], static_cast<float>(value));
      ++counted.rows;
      for (const auto& [key, slot] : Written()) counted.in_slots += slot == batch.Index(i).raw() ? 1 : 0;
    }
  }
  return counted;
}

TEST(BatchSlot, RowsOfAMapAreWrittenThere) {
  GraphBuilder builder = Spreading(100);
  builder.Add("batch", {1}, {{"size", IntValue(8)}});
  const Counted counted = CountInSlots(builder);
  EXPECT_EQ(counted.rows, 100);
  EXPECT_EQ(counted.in_slots, 100);
}

// One that is filled, one that waits and the rows on their way: more is not needed, nor is it taken.
TEST(BatchSlot, WithinABudgetOfLittleMoreThanThreeBatches) {
  GraphBuilder builder = Spreading(1000);
  builder.Add("batch", {1}, {{"size", IntValue(8)}});
  PipelineOptions options;
  options.memory = 4 * 8 * kWidth * static_cast<int64_t>(sizeof(float));
  const Counted counted = CountInSlots(builder, options);
  EXPECT_EQ(counted.rows, 1000);
  EXPECT_EQ(counted.in_slots, 1000);
  // Admission goes by the largest messages seen before: the first ones may take a row more, but not another batch.
  EXPECT_LE(counted.peak_bytes, options.memory + kWidth * static_cast<int64_t>(sizeof(float)));
}

TEST(BatchSlot, BatchesThatCrossPassesToo) {
  GraphBuilder builder = Spreading(10);
  builder.Add("repeat", {1}, {{"count", IntValue(3)}});
  builder.Add("batch", {2}, {{"size", IntValue(8)}});
  const Counted counted = CountInSlots(builder);
  EXPECT_EQ(counted.rows, 30);
  // Notes the slot of each number, the last time it was written.
  EXPECT_EQ(counted.in_slots, 10);
}

TEST(BatchSlot, OfEveryEpoch) {
  GraphBuilder builder = Spreading(10);
  builder.Add("batch", {1}, {{"size", IntValue(8)}});
  PipelineOptions options;
  options.epochs = {0, 2};
  const Counted counted = CountInSlots(builder, options);
  EXPECT_EQ(counted.rows, 30);
  EXPECT_EQ(counted.in_slots, 10);
}

TEST(BatchSlot, WhatAFilterMovesIsCopied) {
  GraphBuilder builder = Spreading(100);
  builder.Add("skip", {1}, {{"count", IntValue(3)}});
  builder.Add("batch", {2}, {{"size", IntValue(8)}});
  EXPECT_EQ(CountInSlots(builder).rows, 97);
}

TEST(BatchSlot, AnEndlessRepeatEndsAtOnce) {
  GraphBuilder builder = Spreading(10);
  builder.Add("batch", {1}, {{"size", IntValue(4)}});
  builder.Add("repeat", {2});
  builder.Add("take", {3}, {{"count", IntValue(4)}});
  PipelineOptions options;
  options.epochs = {0, 2};
  EXPECT_EQ(CountInSlots(builder, options).rows, 3 * 14);
}

TEST(BatchSlot, TheSameEveryWay) {
  GraphBuilder builder = Spreading(21);
  builder.Add("repeat", {1}, {{"count", IntValue(2)}});
  builder.Add("take", {2}, {{"count", IntValue(37)}});
  builder.Add("batch", {3}, {{"size", IntValue(4)}});
  RunSpec spec;
  spec.little_memory = 1 << 18;
  EXPECT_EQ(RunEveryWay(builder, spec).Texts(0).size(), 10u);
}

}  // namespace
}  // namespace headrace

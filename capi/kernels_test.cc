// Every kernel gives through the C interface what it gives by itself, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "core/error.h"
#include "core/testing/dispatched_target.h"
#include "core/text.h"
#include "hwy/highway.h"
#include "ir/declaration.h"
#include "kernels/testing/run_kernel.h"
#include "kernels/testing/sample.h"

namespace headrace {
namespace {

using fixture::AsRaw;
using fixture::InferenceBytes;

bool IsRefused(const ir::Declaration& kernel) {
  return kernel.traits.random || kernel.traits.by_batch || kernel.traits.python || kernel.traits.file_io;
}

std::vector<const ir::Declaration*> SampledKernels() {
  std::vector<const ir::Declaration*> kernels;
  for (const ir::Declaration* declaration : ir::Registry::Global().All()) {
    if (declaration->role == ir::Role::kKernel && declaration->branching == nullptr) kernels.push_back(declaration);
  }
  return kernels;
}

std::vector<std::string> Names(std::string_view prefix, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(Cat(prefix, i));
  return names;
}

// Gives its results as outputs of their own, after the inputs.
std::string GraphOf(const ir::Declaration& kernel, const std::vector<Tensor>& inputs, size_t outputs) {
  InferenceBytes graph;
  const std::vector<std::string> names = Names("in", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph.Input(names[i], ir::ColumnType::Of(inputs[i].dtype(), inputs[i].shape()));
  }
  return graph.Step(kernel.name, names, Names("out", outputs), fixture::SampleAttributes(kernel)).Bytes();
}

void ExpectRefused(const ir::Declaration& kernel) {
  const auto inputs = fixture::SampleInputs(kernel);
  const auto graph = hr::Graph::FromBytes(GraphOf(kernel, inputs, 1));
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().kind(), HR_GRAPH_ERROR) << graph.error().text();
}

// Into memory of the caller's, where that can be.
void ExpectInPlace(const hr::Graph& graph, const std::vector<hr_tensor>& inputs,
                   const std::vector<hr_tensor>& outputs) {
  std::vector<hr_tensor> slots = outputs;
  std::vector<std::vector<uint64_t>> memory;
  for (hr_tensor& slot : slots) {
    slot.owner = nullptr;
    slot.data = nullptr;
    if (slot.dtype >= HR_BYTES) continue;
    memory.emplace_back(slot.bytes / 8 + 1);
    slot.data = memory.back().data();
  }
  EXPECT_EQ(fixture::TextOf(hr_run(graph.raw(), inputs.data(), inputs.size(), slots.data(), slots.size())), "");
  for (size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].bytes, outputs[i].bytes);
    if (outputs[i].bytes > 0) {
      EXPECT_EQ(std::memcmp(slots[i].data, outputs[i].data, outputs[i].bytes), 0) << i;
    }
    hr_release(&slots[i]);
  }
}

void ExpectEqual(const ir::Declaration& kernel) {
  std::vector<Tensor> inputs;
  for (const Tensor& input : fixture::SampleInputs(kernel)) inputs.push_back(*input.Contiguous());
  const auto expected = fixture::RunKernelOutputs(kernel.name, fixture::SampleAttributes(kernel), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto graph = hr::Graph::FromBytes(GraphOf(kernel, inputs, expected->size()));
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  ASSERT_EQ(hr_output_count(graph->raw()), inputs.size() + expected->size());
  std::vector<hr_tensor> given;
  for (const Tensor& input : inputs) given.push_back(AsRaw(input));
  std::vector<hr_tensor> outputs(inputs.size() + expected->size(), fixture::EmptyRaw());
  ASSERT_EQ(fixture::TextOf(hr_run(graph->raw(), given.data(), given.size(), outputs.data(), outputs.size())), "");
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE(fixture::IsEqual(outputs[i], inputs[i])) << i;
    EXPECT_TRUE(inputs[i].bytes() == 0 || outputs[i].data != inputs[i].raw()) << "it is a view of an input";
  }
  for (size_t i = 0; i < expected->size(); ++i) {
    EXPECT_TRUE(fixture::IsEqual(outputs[inputs.size() + i], (*expected)[i])) << i;
  }
  ExpectInPlace(*graph, given, outputs);
  for (hr_tensor& output : outputs) {
    hr_release(&output);
    EXPECT_EQ(output.data, nullptr);
  }
}

TEST(CapiKernels, EachGivesItsOwnBytesOnEveryCpuTarget) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_EQ(DispatchedTarget(), target);
    size_t equal = 0;
    for (const ir::Declaration* kernel : SampledKernels()) {
      SCOPED_TRACE(kernel->name);
      if (IsRefused(*kernel)) continue;
      ExpectEqual(*kernel);
      ++equal;
    }
    EXPECT_GT(equal, 20U) << "are they linked in?";
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(CapiKernels, WhatNeedsMoreThanARequestIsRefused) {
  for (const ir::Declaration* kernel : SampledKernels()) {
    SCOPED_TRACE(kernel->name);
    if (IsRefused(*kernel)) ExpectRefused(*kernel);
  }
}

}  // namespace
}  // namespace headrace

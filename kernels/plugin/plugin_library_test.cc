#include "kernels/plugin/plugin_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "kernels/kernel.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kLibrary[] = "plugin/testing/sample_plugin.so";

const Plugin& Sample() {
  const absl::StatusOr<const Plugin*> plugin = LoadPlugin(kLibrary);
  EXPECT_TRUE(plugin.ok()) << plugin.status();
  return **plugin;
}

std::unique_ptr<Kernel> Made(const std::string& name, const ir::Attributes& attributes = {}) {
  Sample();
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = MakeKernel(name, attributes);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return *std::move(kernel);
}

ir::Attributes Factor(double factor) {
  ir::Attributes attributes;
  attributes.Set("factor", ir::FloatValue(factor));
  return attributes;
}

Tensor Floats(std::vector<float> values) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

absl::StatusOr<Tensors> Applied(const Kernel& kernel, const std::vector<Tensor>& inputs, OutputAllocator& output,
                                uint64_t row = 0) {
  KernelContext context(RowRandom(7, row), output);
  return kernel.Apply(inputs, context);
}

std::vector<float> Values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.elements()};
}

TEST(PluginLibrary, IsLoadedOnceAndDeclaresItsKernels) {
  const Plugin& plugin = Sample();
  EXPECT_EQ(&plugin, &Sample());
  EXPECT_EQ(plugin.name, "myops");
  EXPECT_EQ(plugin.version, "1.2");
  const ir::Declaration* const scale = ir::Registry::Global().Find("myops.Scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->version, 2);
  EXPECT_EQ(scale->python_module, "myops");
  EXPECT_TRUE(scale->traits.one_to_one && scale->traits.deterministic && !scale->traits.random);
  ASSERT_NE(scale->FindAttribute("factor"), nullptr);
  EXPECT_EQ(scale->FindAttribute("factor")->minimum, 0);
  EXPECT_TRUE(scale->FindAttribute("factor")->exclusive_minimum);
  EXPECT_NE(ir::Registry::Global().Find("myops.Noise")->FindAttribute("seed"), nullptr);
}

TEST(PluginLibrary, IsLoadedOnceByManyThreads) {
  std::vector<const Plugin*> found(8);
  std::vector<std::thread> threads;
  for (const Plugin*& each : found) threads.emplace_back([&each] { each = &Sample(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(found, ::testing::Each(&Sample()));
}

TEST(PluginLibrary, RefusesWhatIsNoPlugin) {
  const absl::Status missing = LoadPlugin("plugin/testing/none.so").status();
  EXPECT_EQ(KindOf(missing), ErrorKind::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("there is no plugin plugin/testing/none.so"));
  EXPECT_EQ(KindOf(LoadPlugin("plugin/testing").status()), ErrorKind::kUnsupported);
}

// As in each program without ops/plugin.
TEST(PluginLibrary, RegistersNoSourcesWithoutWhatReadsThem) {
  const absl::StatusOr<const Plugin*> plugin = LoadPlugin("plugin/testing/reading_plugin.so");
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_FALSE((*plugin)->sources.empty());
  ASSERT_FALSE((*plugin)->formats.empty());
  EXPECT_EQ(ir::Registry::Global().Find((*plugin)->sources[0].op), nullptr);
  EXPECT_EQ(ir::Registry::Global().Find((*plugin)->formats[0].op), nullptr);
}

TEST(PluginKernel, WritesIntoTheBatchSlot) {
  const std::unique_ptr<Kernel> kernel = Made("myops.Scale", Factor(3));
  const Tensor slot = *Tensor::Allocate(DType::kFloat32, {2});
  OutputAllocator output(slot);
  const absl::StatusOr<Tensors> result = Applied(*kernel, {Floats({1, 2})}, output);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].raw(), slot.raw());
  EXPECT_THAT(Values((*result)[0]), ElementsAre(3, 6));
}

TEST(PluginKernel, GetsViewsRowMajor) {
  const Tensor square = *Floats({0, 1, 2, 3, 4, 5}).Reshape({3, 2}).Slice(1, 1, 1).Contiguous();
  const Tensor view = Floats({0, 1, 2, 3, 4, 5}).Reshape({3, 2}).Slice(1, 1, 1);
  ASSERT_FALSE(view.contiguous());
  const std::unique_ptr<Kernel> kernel = Made("myops.Scale", Factor(1));
  OutputAllocator output;
  EXPECT_TRUE(TensorsEqual((*Applied(*kernel, {view}, output))[0], square));
}

TEST(PluginKernel, DrawsFromTheRowsOwnStream) {
  const std::unique_ptr<Kernel> kernel = Made("myops.Noise");
  for (uint64_t row = 0; row < 200; ++row) {
    OutputAllocator output;
    const Tensor input = Floats({1});
    const Tensor result = (*Applied(*kernel, {input}, output, row))[0];
    RowRandom random(7, row);
    if (random.Next32() % 4 == 0) {
      EXPECT_EQ(result.raw(), input.raw());
      continue;
    }
    const double uniform = random.Uniform();
    const double normal = random.Normal();
    const auto die = static_cast<double>(random.Below(6));
    EXPECT_EQ(Values(result)[0], static_cast<float>(1 + uniform + normal + die + static_cast<double>(row % 7)));
  }
}

TEST(PluginKernel, GivesErrorsOfItsOwn) {
  const absl::Status refused = MakeKernel("myops.Scale", Factor(13)).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kGraph);
  EXPECT_EQ(refused.message(), "does not scale by 13");
  const std::unique_ptr<Kernel> kernel = Made("myops.Scale", Factor(1));
  OutputAllocator output;
  EXPECT_EQ(KindOf(Applied(*kernel, {Floats({std::nanf("")})}, output).status()), ErrorKind::kData);
  EXPECT_EQ(KindOf(Applied(*kernel, {*Tensor::Scalar<int32_t>(1)}, output).status()), ErrorKind::kGraph);
}

TEST(PluginKernel, RunsOnManyThreads) {
  const std::unique_ptr<Kernel> kernel = Made("myops.Scale", Factor(2));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&kernel, t] {
      for (int i = 0; i < 1000; ++i) {
        OutputAllocator output;
        const auto value = static_cast<float>(t * 1000 + i);
        EXPECT_THAT(Values((*Applied(*kernel, {Floats({value})}, output))[0]), ElementsAre(value * 2));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headrace

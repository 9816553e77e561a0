// Kernels of plugins run through the C interface, once the plugin is loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "capi/headrace.hpp"
#include "capi/testing/as_raw.h"
#include "capi/testing/inference_bytes.h"
#include "ir/value.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr char kPlugin[] = "plugin/testing/sample_plugin.so";

std::string ScaleGraph() {
  return fixture::InferenceBytes()
      .Input("x", ir::ColumnType::Of(DType::kFloat32, {2}))
      .Step("myops.Scale", {"x"}, {"x"}, {{"factor", ir::FloatValue(3)}})
      .Bytes();
}

TEST(CapiLoadPlugin, RunsItsKernels) {
  const auto before = hr::Graph::FromBytes(ScaleGraph());
  ASSERT_FALSE(before.ok()) << "opening a graph loads no library";
  EXPECT_THAT(std::string(before.error().text()), HasSubstr("myops"));
  ASSERT_EQ(fixture::TextOf(hr_load_plugin(kPlugin)), "");
  ASSERT_EQ(fixture::TextOf(hr_load_plugin(kPlugin)), "") << "a second time";
  const auto graph = hr::Graph::FromBytes(ScaleGraph());
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  const std::vector<float> numbers = {1, 5};
  const auto scaled = graph->Run(hr::View::Numbers(numbers.data(), {2}));
  ASSERT_TRUE(scaled.ok()) << scaled.error().text();
  EXPECT_EQ(std::vector<float>(scaled->data<float>(), scaled->data<float>() + 2), (std::vector<float>{3, 15}));
}

// Not what the system's folders of libraries have under that name.
TEST(CapiLoadPlugin, FindsAFileOfTheWorkingFolderByItsName) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path("plugin/testing");
  EXPECT_EQ(fixture::TextOf(hr_load_plugin("sample_plugin.so")), "");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace headrace

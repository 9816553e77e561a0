#include "ir/reference.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ir/attributes.h"
#include "ir/front_module.h"

namespace headrace::ir {
namespace {

nlohmann::json Parsed(const std::string& json) {
  nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(parsed.is_discarded()) << json;
  return parsed;
}

TEST(Reference, SaysEverythingThatIsDeclared) {
  Registry registry;
  RequireRegistered(
      registry.Register({.name = "Resize",
                         .version = 2,
                         .role = Role::kKernel,
                         .summary = "Resizes \"an image\".",
                         .doc = "Line one.\nLine two.\nErrors: none.",
                         .max_inputs = -1,
                         .attributes = {{.name = "size", .doc = "How large.", .minimum = 1, .lengths = {1, 2}},
                                        {.name = "how",
                                         .type = AttributeType::kString,
                                         .default_value = "'area'",
                                         .choices = {"area", "nearest"},
                                         .tuning = true,
                                         .path = true,
                                         .hidden = true}},
                         .traits = {.random = true, .geometric = true},
                         .python_module = "vision",
                         .python = {.parameters = "size: int", .docs = {{"size"}, {"how", "In which way."}}},
                         .example = "V.Resize(3)",
                         .sample = {.attributes = {{"size", "3"}}, .inputs = {SampleInput::kImage}},
                         .companions = {{CompanionRole::kBoxes, "ResizeOfBoxes"}},
                         .target_work = TargetWork::kChangesBoxes,
                         .doubt = [](const Attributes&, absl::Span<const KnownInput>) { return std::string(); }}));
  const nlohmann::json parsed = Parsed(DeclarationsJson(registry));
  const auto& resize = parsed.at("operators").at(0);
  EXPECT_EQ(resize.at("name"), "Resize");
  EXPECT_EQ(resize.at("version"), 2);
  EXPECT_EQ(resize.at("role"), "kernel");
  EXPECT_EQ(resize.at("summary"), "Resizes \"an image\".");
  EXPECT_EQ(resize.at("doc"),
            "Line one.\nLine two. A clip, (T, H, W, C), is taken frame by frame, with the draws of one image.\n"
            "Errors: none.");
  EXPECT_EQ(resize.at("clips"), "by_frame");
  EXPECT_EQ(resize.at("python_module"), "vision");
  EXPECT_EQ(resize.at("python_name"), "Resize");
  EXPECT_EQ(resize.at("example"), "V.Resize(3)");
  EXPECT_EQ(resize.at("inputs").at("least"), 1);
  EXPECT_TRUE(resize.at("inputs").at("most").is_null());
  EXPECT_TRUE(resize.at("traits").at("geometric"));
  EXPECT_FALSE(resize.at("traits").at("python"));
  const auto& attributes = resize.at("attributes");
  ASSERT_EQ(attributes.size(), 4u);  // with seed and name
  const auto& size = attributes.at(0);
  EXPECT_EQ(size.at("minimum"), 1);
  EXPECT_TRUE(size.at("maximum").is_null());
  EXPECT_TRUE(size.at("default").is_null());
  EXPECT_EQ(size.at("lengths").at(1), 2);
  const auto& how = attributes.at(1);
  EXPECT_EQ(how.at("default"), "'area'");
  EXPECT_EQ(how.at("python_type"), "str");
  EXPECT_EQ(how.at("choices").at(1), "nearest");
  EXPECT_TRUE(how.at("tuning"));
  EXPECT_TRUE(how.at("path"));
  EXPECT_TRUE(how.at("hidden"));
  EXPECT_FALSE(size.at("hidden"));
  const auto& python = resize.at("python");
  EXPECT_EQ(python.at("parameters"), "size: int");
  EXPECT_TRUE(python.at("docs").at("size").is_null());
  EXPECT_EQ(python.at("docs").at("how"), "In which way.");
  EXPECT_EQ(python.at("returns"), "Dataset");
  EXPECT_EQ(resize.at("companions").at("boxes"), "ResizeOfBoxes");
  EXPECT_EQ(resize.at("target_work"), "changes_boxes");
  EXPECT_TRUE(resize.at("doubts"));
  const auto& sample = resize.at("sample");
  EXPECT_EQ(sample.at("attributes").at("size"), "3");
  EXPECT_EQ(sample.at("inputs").at(0), "image");
}

TEST(Reference, ListsTheModulesOfTheFront) {
  const nlohmann::json parsed = Parsed(DeclarationsJson(Registry()));
  const auto& modules = parsed.at("modules");
  ASSERT_EQ(modules.size(), FrontModules().size());
  for (size_t i = 0; i < modules.size(); ++i) {
    const auto& module = modules.at(i);
    EXPECT_EQ(module.at("name"), FrontModules()[i].name);
    EXPECT_EQ(module.at("prefix"), FrontModules()[i].prefix);
    EXPECT_EQ(module.at("kernels"), FrontModules()[i].has_kernels());
    EXPECT_EQ(module.at("images"), FrontModules()[i].images);
  }
}

TEST(FrontModule, IsFoundByItsName) {
  EXPECT_EQ(FindFrontModule("vision")->prefix, "V.");
  EXPECT_EQ(FindFrontModule("myplugin"), nullptr);
  EXPECT_TRUE(IsOfImages("vision"));
  EXPECT_FALSE(IsOfImages("transforms") || IsOfImages("myplugin"));
}

TEST(Reference, CountsTheOutputsOfASample) {
  Registry registry;
  RequireRegistered(registry.Register({.name = "Split",
                                       .attributes = {{.name = "parts", .doc = "How many."}},
                                       .sample = {.attributes = {{"parts", "3"}}, .inputs = {SampleInput::kVector}},
                                       .infer_kernel = [](const Attributes& attributes, absl::Span<const ColumnType>)
                                           -> absl::StatusOr<std::vector<ColumnType>> {
                                         return std::vector<ColumnType>(static_cast<size_t>(attributes.Int("parts")));
                                       }}));
  RequireRegistered(registry.Register({.name = "Unsampled"}));
  const nlohmann::json parsed = Parsed(DeclarationsJson(registry));
  const auto& operators = parsed.at("operators");
  EXPECT_EQ(operators.at(0).at("outputs"), 3);
  EXPECT_TRUE(operators.at(1).at("outputs").is_null());
}

TEST(Reference, ListsThePasses) {
  const nlohmann::json parsed = Parsed(DeclarationsJson(Registry()));
  EXPECT_EQ(parsed.at("operators").size(), 0u);
  ASSERT_GE(parsed.at("passes").size(), 2u);
  for (const auto& pass : parsed.at("passes")) {
    EXPECT_NE(pass.at("doc"), "");
    EXPECT_TRUE(pass.contains("details"));
  }
}

}  // namespace
}  // namespace headrace::ir

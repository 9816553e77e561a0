#include "ir/reference.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "ir/attributes.h"
#include "ir/front_module.h"

namespace headrace::ir {
namespace {

google::protobuf::Struct Parsed(const std::string& json) {
  google::protobuf::Struct parsed;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &parsed);
  EXPECT_TRUE(status.ok()) << status.ToString() << json;
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
  const google::protobuf::Struct parsed = Parsed(DeclarationsJson(registry));
  const auto& resize = parsed.fields().at("operators").list_value().values(0).struct_value().fields();
  EXPECT_EQ(resize.at("name").string_value(), "Resize");
  EXPECT_EQ(resize.at("version").number_value(), 2);
  EXPECT_EQ(resize.at("role").string_value(), "kernel");
  EXPECT_EQ(resize.at("summary").string_value(), "Resizes \"an image\".");
  EXPECT_EQ(resize.at("doc").string_value(),
            "Line one.\nLine two. A clip, (T, H, W, C), is taken frame by frame, with the draws of one image.\n"
            "Errors: none.");
  EXPECT_EQ(resize.at("clips").string_value(), "by_frame");
  EXPECT_EQ(resize.at("python_module").string_value(), "vision");
  EXPECT_EQ(resize.at("python_name").string_value(), "Resize");
  EXPECT_EQ(resize.at("example").string_value(), "V.Resize(3)");
  EXPECT_EQ(resize.at("inputs").struct_value().fields().at("least").number_value(), 1);
  EXPECT_TRUE(resize.at("inputs").struct_value().fields().at("most").has_null_value());
  EXPECT_TRUE(resize.at("traits").struct_value().fields().at("geometric").bool_value());
  EXPECT_FALSE(resize.at("traits").struct_value().fields().at("python").bool_value());
  const auto& attributes = resize.at("attributes").list_value();
  ASSERT_EQ(attributes.values_size(), 4);  // with seed and name
  const auto& size = attributes.values(0).struct_value().fields();
  EXPECT_EQ(size.at("minimum").number_value(), 1);
  EXPECT_TRUE(size.at("maximum").has_null_value());
  EXPECT_TRUE(size.at("default").has_null_value());
  EXPECT_EQ(size.at("lengths").list_value().values(1).number_value(), 2);
  const auto& how = attributes.values(1).struct_value().fields();
  EXPECT_EQ(how.at("default").string_value(), "'area'");
  EXPECT_EQ(how.at("python_type").string_value(), "str");
  EXPECT_EQ(how.at("choices").list_value().values(1).string_value(), "nearest");
  EXPECT_TRUE(how.at("tuning").bool_value());
  EXPECT_TRUE(how.at("path").bool_value());
  EXPECT_TRUE(how.at("hidden").bool_value());
  EXPECT_FALSE(size.at("hidden").bool_value());
  const auto& python = resize.at("python").struct_value().fields();
  EXPECT_EQ(python.at("parameters").string_value(), "size: int");
  EXPECT_TRUE(python.at("docs").struct_value().fields().at("size").has_null_value());
  EXPECT_EQ(python.at("docs").struct_value().fields().at("how").string_value(), "In which way.");
  EXPECT_EQ(python.at("returns").string_value(), "Dataset");
  EXPECT_EQ(resize.at("companions").struct_value().fields().at("boxes").string_value(), "ResizeOfBoxes");
  EXPECT_EQ(resize.at("target_work").string_value(), "changes_boxes");
  EXPECT_TRUE(resize.at("doubts").bool_value());
  const auto& sample = resize.at("sample").struct_value().fields();
  EXPECT_EQ(sample.at("attributes").struct_value().fields().at("size").string_value(), "3");
  EXPECT_EQ(sample.at("inputs").list_value().values(0).string_value(), "image");
}

TEST(Reference, ListsTheModulesOfTheFront) {
  const google::protobuf::Struct parsed = Parsed(DeclarationsJson(Registry()));
  const auto& modules = parsed.fields().at("modules").list_value();
  ASSERT_EQ(modules.values_size(), static_cast<int>(FrontModules().size()));
  for (int i = 0; i < modules.values_size(); ++i) {
    const auto& module = modules.values(i).struct_value().fields();
    EXPECT_EQ(module.at("name").string_value(), FrontModules()[i].name);
    EXPECT_EQ(module.at("prefix").string_value(), FrontModules()[i].prefix);
    EXPECT_EQ(module.at("kernels").bool_value(), FrontModules()[i].has_kernels());
    EXPECT_EQ(module.at("images").bool_value(), FrontModules()[i].images);
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
  const google::protobuf::Struct parsed = Parsed(DeclarationsJson(registry));
  const auto& operators = parsed.fields().at("operators").list_value();
  EXPECT_EQ(operators.values(0).struct_value().fields().at("outputs").number_value(), 3);
  EXPECT_TRUE(operators.values(1).struct_value().fields().at("outputs").has_null_value());
}

TEST(Reference, ListsThePasses) {
  const google::protobuf::Struct parsed = Parsed(DeclarationsJson(Registry()));
  EXPECT_EQ(parsed.fields().at("operators").list_value().values_size(), 0);
  ASSERT_GE(parsed.fields().at("passes").list_value().values_size(), 2);
  for (const auto& pass : parsed.fields().at("passes").list_value().values()) {
    EXPECT_NE(pass.struct_value().fields().at("doc").string_value(), "");
    EXPECT_TRUE(pass.struct_value().fields().contains("details"));
  }
}

}  // namespace
}  // namespace headrace::ir

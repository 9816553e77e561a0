#include "ops/source/table_reading.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "core/error.h"

namespace headrace {
namespace {

// None: the files are read in splits.
ir::Attribute DeclareIndex(ir::AttributeType type, std::string_view doc) {
  return {.name = "index",
          .type = type,
          .doc = Cat(doc, " None: the files are read in splits."),
          .default_value = "None",
          .nullable = true,
          .indexes = true};
}

}  // namespace

std::vector<std::string> TextsOf(const PathArena& paths) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<size_t>(paths.size()));
  for (int64_t i = 0; i < paths.size(); ++i) texts.emplace_back(paths[i]);
  return texts;
}

OpFactories TableFactories(MakeStreamSource stream, MakeIndexedSource indexed) {
  OpFactories factories = SplitFactories(std::move(stream));
  factories.indexed_source = std::move(indexed);
  return factories;
}

ir::Attribute DeclareBuiltIndex(std::string_view doc) {
  ir::Attribute attribute = DeclareIndex(ir::AttributeType::kString, doc);
  attribute.choices = {std::string(kBuildIndex)};
  return attribute;
}

ir::Attribute DeclareNamedIndex(std::string_view doc) {
  ir::Attribute attribute = DeclareIndex(ir::AttributeType::kStrings, doc);
  attribute.length = ir::ListLength{};
  attribute.path = true;
  return attribute;
}

bool BuildsIndex(const ir::Attributes& attributes) {
  if (attributes.IsNone("index")) return false;
  const std::vector<std::string> given = attributes.Paths("index");
  return given.size() == 1 && given[0] == kBuildIndex;
}

std::vector<std::string> WrittenIndices(const ir::Attributes& attributes) {
  if (!BuildsIndex(attributes)) return {};
  return {Cat("indices beside ", absl::StrJoin(attributes.Paths("paths"), ", "))};
}

}  // namespace headrace

#include "ir/declaration.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "ir/attributes.h"
#include "ir/salts.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

[[noreturn]] void Die(std::string_view name, std::string_view why) {
  std::fputs(Cat("Headrace: the declaration of ", name, " ", why, "\n").c_str(), stderr);
  std::abort();
}

Attribute SeedAttribute() {
  return {.name = "seed",
          .type = AttributeType::kInt,
          .doc = "This operator's own seed; None: the pipeline's.",
          .default_value = "None",
          .nullable = true};
}

Attribute NameAttribute() {
  return {.name = std::string(kNameAttribute),
          .type = AttributeType::kString,
          .doc =
              "Names this operator's random numbers, so that they stay the same when operators of its kind are added "
              "or removed; unique in the pipeline.",
          .default_value = "None",
          .nullable = true};
}

bool MayDraw(const Declaration& declaration) {
  return declaration.traits.random || std::any_of(declaration.attributes.begin(), declaration.attributes.end(),
                                                  [](const auto& attribute) { return !attribute.puts_above.empty(); });
}

void CheckDefaults(const Declaration& declaration) {
  for (const Attribute& attribute : declaration.attributes) {
    if (!attribute.default_value.has_value()) continue;
    absl::StatusOr<proto::Value> value = DefaultValue(attribute);
    if (!value.ok()) Die(declaration.name, value.status().ToString());
  }
}

}  // namespace

std::string_view SampleInputName(SampleInput input) {
  switch (input) {
    case SampleInput::kImage:
      return "image";
    case SampleInput::kEncoded:
      return "encoded";
    case SampleInput::kVector:
      return "vector";
    case SampleInput::kImages:
      return "images";
    case SampleInput::kClasses:
      return "classes";
  }
  return "?";
}

InferOp PassesSchema() {
  return [](const Attributes&, absl::Span<const Schema> inputs) -> absl::StatusOr<Schema> {
    if (inputs.empty()) return InternalError("PassesSchema() of an op without inputs");
    return inputs[0];
  };
}

Reads PassesColumns() {
  return [](const Attributes&, absl::Span<const Schema> inputs, const ColumnSet& wanted) {
    std::vector<ColumnSet> reads(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const Column& column : inputs[i].columns) {
        if (wanted.count(column.name) > 0) reads[i].insert(column.name);
      }
    }
    return reads;
  };
}

MostRows NoMoreRows() {
  return [](const Attributes&, absl::Span<const std::optional<uint64_t>> inputs) { return inputs[0]; };
}

const Attribute* Declaration::FindAttribute(std::string_view attribute) const {
  for (const Attribute& declared : attributes) {
    if (declared.name == attribute) return &declared;
  }
  return nullptr;
}

bool Declaration::TakesImage(const Attributes& values, bool channels_first) const {
  if (takes_layout != nullptr) return takes_layout(values, channels_first);
  return !channels_first || !NeedsChannelsLast(traits);
}

Registry& Registry::Global() {
  // Never destroyed, because threads may use it while the process exits.
  static Registry* registry = new Registry;
  return *registry;
}

void Registry::Register(Declaration declaration) {
  if (declaration.name.empty()) Die("an operator", "has no name");
  if (Find(declaration.name) != nullptr) Die(declaration.name, "occurs twice");
  if (MayDraw(declaration)) {
    if (declaration.FindAttribute("seed") == nullptr) declaration.attributes.push_back(SeedAttribute());
    declaration.attributes.push_back(NameAttribute());
  }
  CheckDefaults(declaration);
  auto found = std::lower_bound(declarations_.begin(), declarations_.end(), declaration.name,
                                [](const auto& known, const std::string& name) { return known->name < name; });
  declarations_.insert(found, std::make_unique<Declaration>(std::move(declaration)));
}

const Declaration* Registry::Find(std::string_view name) const {
  auto found = std::lower_bound(declarations_.begin(), declarations_.end(), name,
                                [](const auto& known, std::string_view wanted) { return known->name < wanted; });
  return found != declarations_.end() && (*found)->name == name ? found->get() : nullptr;
}

std::vector<const Declaration*> Registry::All() const {
  std::vector<const Declaration*> all;
  for (const auto& declaration : declarations_) all.push_back(declaration.get());
  return all;
}

}  // namespace headrace::ir

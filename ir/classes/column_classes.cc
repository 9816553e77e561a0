#include "ir/classes/column_classes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "ir/branches.h"
#include "ir/declaration.h"
#include "ir/graph.pb.h"

namespace headrace::ir {
namespace {

// Whether the step has this text as an attribute, or by default. A kernel without the attribute has it as well.
bool HasText(const Declaration& kernel, const proto::Step& step, std::string_view attribute, std::string_view text) {
  for (const proto::Attribute& given : step.attributes()) {
    if (given.name() == attribute)
      return given.value().kind_case() == proto::Value::kText && given.value().text() == text;
  }
  const Attribute* const declared = kernel.FindAttribute(attribute);
  if (declared == nullptr) return true;
  const std::string& by_default = declared->default_value.value_or("");
  return by_default.size() == text.size() + 2 && std::string_view(by_default).substr(1, text.size()) == text;
}

// Files that are read, images that are decoded and pixels that are moved have the labels that they had, if no pixel is
// made of several.
bool KeepsPixels(const Declaration& kernel, const proto::Step& step) {
  const Traits& traits = kernel.traits;
  if (traits.decodes) return HasText(kernel, step, "mode", "unchanged");
  const bool moves = traits.geometric || kernel.CompanionFor(CompanionRole::kObjectMasks) != nullptr;
  return traits.file_io || traits.layout || moves;
}

bool KeepsClasses(const Declaration& kernel, const proto::Step& step) {
  const bool keeps = kernel.traits.casts || kernel.traits.keeps_classes || KeepsPixels(kernel, step);
  return keeps && HasText(kernel, step, "interpolation", "nearest");
}

// The type that the step casts to; not set: it casts to none.
std::optional<DType> CastOf(const Declaration& kernel, const proto::Step& step) {
  if (!kernel.traits.casts) return std::nullopt;
  for (const proto::Attribute& given : step.attributes()) {
    const Attribute* const declared = kernel.FindAttribute(given.name());
    if (declared != nullptr && declared->type == AttributeType::kDType) return DTypeFromName(given.value().text());
  }
  return std::nullopt;
}

// Up to which the type has each label. -1: it has none, as all but 0 are true.
int64_t GreatestLabelIn(DType type) {
  switch (type) {
    case DType::kBool:
      return -1;
    case DType::kInt8:
      return std::numeric_limits<int8_t>::max();
    case DType::kInt16:
      return std::numeric_limits<int16_t>::max();
    case DType::kInt32:
      return std::numeric_limits<int32_t>::max();
    case DType::kUInt8:
      return std::numeric_limits<uint8_t>::max();
    case DType::kUInt16:
      return std::numeric_limits<uint16_t>::max();
    case DType::kUInt32:
      return std::numeric_limits<uint32_t>::max();
    case DType::kFloat16:
      return int64_t{1} << 11;
    case DType::kBFloat16:
      return int64_t{1} << 8;
    case DType::kFloat32:
      return int64_t{1} << 24;
    case DType::kFloat64:
      return int64_t{1} << 53;
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

bool Holds(std::optional<DType> cast, const ColumnClasses& classes) {
  return classes.names < 0 || !cast.has_value() || classes.greatest <= GreatestLabelIn(*cast);
}

// Of an output of several inputs, such as the mask beside its image. A kernel that joins any number of columns keeps
// the classes of all; others those of the column that has some.
ColumnClasses OfInputs(const Declaration& kernel, const std::vector<const ColumnClasses*>& inputs) {
  const ColumnClasses* known = nullptr;
  for (const ColumnClasses* const input : inputs) {
    const bool has_names = input != nullptr && input->names >= 0;
    if (!has_names && kernel.max_inputs >= 0) continue;
    if (!has_names || (known != nullptr && known->names != input->names)) return {};
    known = input;
  }
  return known == nullptr ? ColumnClasses() : *known;
}

void FollowKernel(const proto::Step& step, ClassesByColumn& classes) {
  const Declaration* const kernel = Registry::Global().Find(step.kernel());
  const bool keeps = kernel != nullptr && KeepsClasses(*kernel, step);
  std::vector<const ColumnClasses*> inputs;
  for (const std::string& name : step.inputs()) {
    const auto found = classes.find(name);
    inputs.push_back(found == classes.end() ? nullptr : &found->second);
  }
  const bool in_pairs = step.inputs_size() == step.outputs_size();
  const std::optional<DType> cast = keeps ? CastOf(*kernel, step) : std::nullopt;
  std::vector<ColumnClasses> kept;
  for (int i = 0; i < step.outputs_size(); ++i) {
    ColumnClasses output;
    if (keeps && in_pairs && inputs[static_cast<size_t>(i)] != nullptr) output = *inputs[static_cast<size_t>(i)];
    if (keeps && !in_pairs) output = OfInputs(*kernel, inputs);
    if (!Holds(cast, output)) output = {};
    kept.push_back(std::move(output));
  }
  for (int i = 0; i < step.outputs_size(); ++i) {
    ColumnClasses& output = kept[static_cast<size_t>(i)];
    const bool known = output.names >= 0 || !output.changed_by.empty();
    // A column that never had labels has none now.
    if (!known && classes.find(step.outputs(i)) == classes.end()) continue;
    if (!known) output.changed_by = step.kernel();
    classes[step.outputs(i)] = std::move(output);
  }
}

// What all branches keep, and those of rows that go through none.
void FollowChooser(const proto::Step& step, ClassesByColumn& classes) {
  const ClassesByColumn before = classes;
  for (int i = 0; i < std::min(step.inputs_size(), step.outputs_size()); ++i) {
    const auto found = before.find(step.inputs(i));
    if (found != before.end()) {
      classes[step.outputs(i)] = found->second;
    } else if (before.find(step.outputs(i)) != before.end()) {
      classes[step.outputs(i)] = {.changed_by = step.kernel()};
    }
  }
  const ClassesByColumn begin = classes;
  for (const proto::Branch& branch : step.branches()) {
    ClassesByColumn after = begin;
    for (const proto::Step& nested : branch.steps()) FollowClasses(nested, after);
    for (const std::string& name : step.outputs()) {
      const auto found = after.find(name);
      if (found == after.end()) continue;
      const auto at_first = begin.find(name);
      if (at_first != begin.end() && at_first->second == found->second) continue;
      const std::string& changed_by = found->second.changed_by;
      classes[name] = {.changed_by = changed_by.empty() ? step.kernel() : changed_by};
    }
  }
}

}  // namespace

void FollowClasses(const proto::Step& step, ClassesByColumn& classes) {
  if (ChooserOf(step) != nullptr) {
    FollowChooser(step, classes);
  } else {
    FollowKernel(step, classes);
  }
}

}  // namespace headrace::ir

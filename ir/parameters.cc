#include "ir/parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "ir/value.h"

namespace headrace::ir {
namespace {

bool IsNumeric(AttributeType type) {
  return type == AttributeType::kInt || type == AttributeType::kFloat || type == AttributeType::kInts ||
         type == AttributeType::kFloats;
}

// How an attribute of the step that is a parameter is declared; null: it is none.
const Attribute* DeclaredParameter(const proto::Step& step, const proto::Attribute& attribute) {
  if (!attribute.value().has_reference()) return nullptr;
  const Declaration* const declaration = Registry::Global().Find(step.kernel());
  const Attribute* const declared = declaration == nullptr ? nullptr : declaration->FindAttribute(attribute.name());
  return declared != nullptr && IsParameter(*declared, attribute.value()) ? declared : nullptr;
}

// Calls visit(declared, value) for each attribute of the step that is a parameter.
template <typename Visit>
void VisitParameters(proto::Step& step, const Visit& visit) {
  for (proto::Attribute& attribute : *step.mutable_attributes()) {
    const Attribute* const declared = DeclaredParameter(step, attribute);
    if (declared != nullptr) visit(*declared, *attribute.mutable_value());
  }
}

// Spreads real examples over the bounds, and counts whole ones up from the lower bound.
double NumberWithin(const Attribute& attribute, int number) {
  const double least = attribute.minimum.value_or(std::min(0.0, attribute.maximum.value_or(0.0)));
  const double most = attribute.maximum.value_or(std::max(least, 0.0) + 4 * kExamples);
  const bool whole = attribute.type == AttributeType::kInt || attribute.type == AttributeType::kInts;
  if (!whole) return least + (most - least) * (number + 1) / (kExamples + 1);
  const double first = std::ceil(least) + (attribute.exclusive_minimum && std::ceil(least) == least ? 1 : 0);
  return std::min(first + number, std::max(first, std::floor(most)));
}

int ElementsOf(const Attribute& attribute) {
  return attribute.lengths.empty() ? 1 : *std::max_element(attribute.lengths.begin(), attribute.lengths.end());
}

}  // namespace

bool IsParameter(const Attribute& attribute, const proto::Value& value) {
  return value.has_reference() && IsNumeric(attribute.type);
}

bool ReadsParameter(const proto::Step& step) {
  return std::any_of(step.attributes().begin(), step.attributes().end(), [&step](const proto::Attribute& attribute) {
    return DeclaredParameter(step, attribute) != nullptr;
  });
}

std::string WhyNoParameter(const Declaration& declaration, const Attribute& attribute) {
  const bool list = attribute.type == AttributeType::kInts || attribute.type == AttributeType::kFloats;
  if (declaration.branching != nullptr && list) return "is a parameter; a list of one number a branch is fixed";
  if (attribute.name == "seed") return "is a parameter; a seed is the same in each epoch, and draws are not";
  if (attribute.hidden || attribute.tuning) return "is a parameter; it is the same in each epoch";
  return "";
}

proto::Value ExampleOf(const Attribute& attribute, int number) {
  if (number == 0 && attribute.default_value.has_value()) {
    absl::StatusOr<proto::Value> value = DefaultValue(attribute);
    if (value.ok() && !value->has_none()) return *std::move(value);
  }
  const double example = NumberWithin(attribute, number);
  const auto count = static_cast<size_t>(ElementsOf(attribute));
  switch (attribute.type) {
    case AttributeType::kInt:
      return IntValue(static_cast<int64_t>(example));
    case AttributeType::kInts:
      return IntsValue(std::vector<int64_t>(count, static_cast<int64_t>(example)));
    case AttributeType::kFloats:
      return FloatsValue(std::vector<double>(count, example));
    default:
      return FloatValue(example);
  }
}

proto::Step WithExamples(const proto::Step& step, int number) {
  proto::Step made = step;
  VisitParameters(made,
                  [number](const Attribute& declared, proto::Value& value) { value = ExampleOf(declared, number); });
  return made;
}

absl::Status PutValues(const ParameterValues& values, Steps* steps) {
  absl::Status status;
  VisitSteps(steps, [&](proto::Step& step) {
    VisitParameters(step, [&](const Attribute& declared, proto::Value& value) {
      if (!status.ok()) return;
      absl::StatusOr<proto::Value> given = values(value.reference().name());
      status = given.status();
      if (!status.ok()) return;
      FitValue(declared, *given);
      const std::vector<std::string> wrong = CheckValue(declared, *given);
      if (wrong.empty()) {
        value = *std::move(given);
      } else {
        // References are numbered: "strength#0".
        const std::string& reference = value.reference().name();
        status = GraphError("hr.parameter(\"", reference.substr(0, reference.rfind('#')), "\"): ", step.kernel(), ": ",
                            declared.name, " ", wrong[0]);
      }
    });
  });
  return status;
}

}  // namespace headrace::ir

#include "ir/parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/value.h"
#include "ir/value_text.h"

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

// Spreads real examples over the bounds, and counts whole ones up from the lower bound. The last whole one is large:
// small sizes may all come to the same.
double NumberWithin(const Attribute& attribute, int number) {
  constexpr double kLarge = 1 << 16;
  const double least = attribute.minimum.value_or(std::min(0.0, attribute.maximum.value_or(0.0)));
  const double most = attribute.maximum.value_or(std::max(least, 0.0) + 4 * kExamples);
  const bool whole = attribute.type == AttributeType::kInt || attribute.type == AttributeType::kInts;
  if (!whole) return least + (most - least) * (number + 1) / (kExamples + 1);
  const double first = std::ceil(least) + (attribute.exclusive_minimum && std::ceil(least) == least ? 1 : 0);
  const double last = std::min(std::floor(attribute.maximum.value_or(first + kLarge)), first + kLarge);
  return number == kExamples - 1 ? std::max(first, last) : std::min(first + number, std::max(first, last));
}

int ElementsOf(const Attribute& attribute, int elements) {
  return attribute.lengths.empty() ? elements : *std::max_element(attribute.lengths.begin(), attribute.lengths.end());
}

// References are numbered: "strength#0".
std::string TextOfReference(const proto::Value& value) {
  const std::string_view reference = value.reference().name();
  return ParameterText(reference.substr(0, reference.rfind('#')));
}

void AppendParameters(const proto::Step& step, const proto::Step& made, std::string& text) {
  for (int i = 0; i < step.attributes_size(); ++i) {
    const proto::Attribute& attribute = step.attributes(i);
    if (DeclaredParameter(step, attribute) == nullptr) continue;
    Append(text, text.empty() ? "" : "; ", attribute.name(), " is ", TextOfReference(attribute.value()), ", ",
           ValueText(made.attributes(i).value()));
  }
  for (int b = 0; b < step.branches_size(); ++b) {
    for (int i = 0; i < step.branches(b).steps_size(); ++i) {
      AppendParameters(step.branches(b).steps(i), made.branches(b).steps(i), text);
    }
  }
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
  const bool counts = declaration.branching != nullptr && attribute.type == AttributeType::kInts;
  if (counts) return "is a parameter; how many kernels a branch has is the same in each epoch";
  if (attribute.name == "seed") return "is a parameter; a seed is the same in each epoch, and draws are not";
  if (attribute.hidden || attribute.tuning) return "is a parameter; it is the same in each epoch";
  return "";
}

std::string ParameterText(std::string_view name) {
  const bool list = !name.empty() && name.front() == '[';
  return list ? std::string(name) : Cat("hr.parameter(\"", name, "\")");
}

std::string ParametersText(const proto::Step& step, const proto::Step& made) {
  std::string text;
  AppendParameters(step, made, text);
  return text;
}

proto::Value ExampleOf(const Attribute& attribute, int number, int elements) {
  if (number == 0 && attribute.default_value.has_value()) {
    absl::StatusOr<proto::Value> value = DefaultValue(attribute);
    if (value.ok() && !value->has_none()) return *std::move(value);
  }
  const double example = NumberWithin(attribute, number);
  const auto count = static_cast<size_t>(ElementsOf(attribute, elements));
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
  // A list of any length is longer in each further example: its length may be a size of the result.
  const int elements = step.branches_size() > 0 ? step.branches_size() : 1 + number;
  VisitParameters(
      made, [&](const Attribute& declared, proto::Value& value) { value = ExampleOf(declared, number, elements); });
  return made;
}

absl::Status PutValues(const ParameterValues& values, uint64_t epoch, Steps* steps) {
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
        status = GraphError(TextOfReference(value), " in epoch ", epoch, ": ", step.kernel(), ": ", declared.name, " ",
                            wrong[0]);
      }
    });
  });
  return status;
}

}  // namespace headrace::ir

#include "engine/plan/steps_text.h"

#include <string_view>

#include "core/text.h"

namespace headrace {
namespace {

using Steps = google::protobuf::RepeatedPtrField<ir::proto::Step>;

std::string ColumnsOf(const ir::proto::Step& step) {
  std::string text;
  for (const std::string& output : step.outputs()) Append(text, text.empty() ? "" : ", ", output);
  return text;
}

// A function by its name, "train.py:clean", without the number that sets functions of one name apart.
std::string NameOf(const ir::proto::Step& step) {
  for (const ir::proto::Attribute& attribute : step.attributes()) {
    if (attribute.value().kind_case() != ir::proto::Value::kReference) continue;
    const std::string_view reference = attribute.value().reference().name();
    return Cat("function ", reference.substr(0, reference.rfind('#')));
  }
  return step.kernel();
}

std::string ChainText(const Steps& steps, bool with_columns);

std::string StepText(const ir::proto::Step& step) {
  std::string text = NameOf(step);
  for (int i = 0; i < step.branches_size(); ++i) {
    Append(text, i == 0 ? "(" : " | ", ChainText(step.branches(i).steps(), false));
  }
  return step.branches_size() == 0 ? text : Cat(text, ")");
}

std::string ChainText(const Steps& steps, bool with_columns) {
  std::string text;
  const ir::proto::Step* before = nullptr;
  for (const ir::proto::Step& step : steps) {
    const std::string columns = with_columns ? ColumnsOf(step) : "";
    const bool goes_on = before != nullptr && (!with_columns || ColumnsOf(*before) == columns);
    const bool same_pass = goes_on && step.fused() != 0 && step.fused() == before->fused();
    if (goes_on) {
      text += same_pass ? " + " : ", ";
    } else {
      if (before != nullptr) text += "; ";
      if (!columns.empty()) Append(text, columns, ": ");
    }
    text += StepText(step);
    before = &step;
  }
  return text;
}

}  // namespace

std::string StepsText(const Steps& steps) { return ChainText(steps, true); }

}  // namespace headrace

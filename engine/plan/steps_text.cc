#include "engine/plan/steps_text.h"

#include "core/printable.h"
#include "core/text.h"
#include "ir/graph.pb.h"
#include "ir/salts.h"

namespace headrace {
namespace {

using Steps = google::protobuf::RepeatedPtrField<ir::proto::Step>;

std::string ColumnsOf(const ir::proto::Step& step) {
  std::string text;
  for (const std::string& output : step.outputs()) Append(text, text.empty() ? "" : ", ", output);
  return text;
}

std::string NameOf(const ir::proto::Step& step) {
  const std::string function = ir::FunctionNameOf(step);
  return function.empty() ? step.kernel() : Cat("function ", function);
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

std::string StepsText(const Steps& steps) { return Printable(ChainText(steps, true)); }

}  // namespace headrace

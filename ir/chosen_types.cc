#include "ir/chosen_types.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/error.h"
#include "ir/branches.h"
#include "ir/graph.pb.h"
#include "ir/infer.h"
#include "ir/suggestion.h"

namespace headrace::ir {
namespace {

// What a row may have gone through, and its columns then.
struct Outcome {
  int branch = -1;  // -1: none
  Schema schema;
};

// "after Crop, Flip", "where none is drawn".
std::string WhereText(const proto::Step& step, int branch) {
  if (branch < 0) return "before";
  return Cat("after ", absl::StrJoin(step.branches(branch).steps(), ", ",
                                     [](std::string* out, const proto::Step& each) { *out += each.kernel(); }));
}

bool DTypesAgree(const ColumnType& a, const ColumnType& b) {
  const bool known = a.dtype != DType::kUnknown && b.dtype != DType::kUnknown;
  return (!known || a.dtype == b.dtype) && a.optional == b.optional && a.ragged == b.ragged && a.fields == b.fields;
}

// What is true of both.
ColumnType Common(const ColumnType& a, const ColumnType& b) {
  ColumnType common = a;
  if (a.dtype != b.dtype) common.dtype = DType::kUnknown;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    common.shape = std::nullopt;
    return common;
  }
  for (size_t i = 0; i < a.shape->size(); ++i) {
    if ((*a.shape)[i] != (*b.shape)[i]) (*common.shape)[i] = kUnknownDim;
  }
  return common;
}

// Makes the outputs of `result` what they are for both outcomes.
absl::Status Merge(const proto::Step& step, const Outcome& other, Outcome& result) {
  for (const std::string& name : step.outputs()) {
    const ColumnType& a = result.schema.Find(name)->type;
    const ColumnType& b = other.schema.Find(name)->type;
    if (!DTypesAgree(a, b)) {
      return GraphError("column \"", name, "\" is ", TypeName(a), " ", WhereText(step, result.branch), ", and ",
                        TypeName(b), " ", WhereText(step, other.branch),
                        "; what is drawn may not change a type: convert all rows, in every branch or outside of it");
    }
    SetColumn(result.schema, name, Common(a, b));
  }
  return absl::OkStatus();
}

// Applies the steps of a branch. The message names the one that fails.
absl::Status ApplyBranch(const proto::Branch& branch, Schema& schema) {
  for (const proto::Step& step : branch.steps()) {
    const absl::Status status = ApplyStep(step, schema);
    if (!status.ok()) return MakeError(KindOf(status), Cat(step.kernel(), ": ", std::string(status.message())));
  }
  return absl::OkStatus();
}

// What a row may have between the branches of a chooser of several. Follows what one leaves to another once, because
// branches may be nested; sizes that change each time are then unknown.
absl::Status Widen(const proto::Step& step, const Branching& branching, Schema& schema) {
  for (const bool again : {false, true}) {
    Outcome widened = {-1, schema};
    for (int i = 0; i < step.branches_size(); ++i) {
      Outcome after = {i, schema};
      HEADRACE_RETURN_IF_ERROR(ApplyBranch(step.branches(i), after.schema));
      if (branching.drawn[static_cast<size_t>(i)]) HEADRACE_RETURN_IF_ERROR(Merge(step, after, widened));
    }
    if (widened.schema == schema) return absl::OkStatus();
    schema = std::move(widened.schema);
    if (!again) continue;
    for (const std::string& name : step.outputs()) SetColumn(schema, name, ColumnType::Unknown());
  }
  return absl::OkStatus();
}

absl::StatusOr<Schema> Begin(const proto::Step& step, const Branching& branching, const Schema& schema) {
  if (step.inputs_size() != step.outputs_size()) {
    return GraphError("gives as many columns as it takes; it takes ", step.inputs_size(), " and gives ",
                      step.outputs_size());
  }
  Schema result = schema;
  for (int i = 0; i < step.inputs_size(); ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const Column* column, FindColumn(schema, step.inputs(i)));
    SetColumn(result, step.outputs(i), column->type);
  }
  if (branching.several) HEADRACE_RETURN_IF_ERROR(Widen(step, branching, result));
  return result;
}

}  // namespace

absl::StatusOr<Schema> SchemaInBranches(const Declaration& chooser, const proto::Step& step, const Schema& schema) {
  HEADRACE_ASSIGN_OR_RETURN(const Branching branching, BranchingOfStep(chooser, step));
  return Begin(step, branching, schema);
}

absl::Status ApplyChooser(const Declaration& chooser, const proto::Step& step, Schema& schema) {
  HEADRACE_ASSIGN_OR_RETURN(const Branching branching, BranchingOfStep(chooser, step));
  HEADRACE_ASSIGN_OR_RETURN(Schema begin, Begin(step, branching, schema));
  if (branching.several) {
    // Holds after each of them as well.
    schema = std::move(begin);
    return absl::OkStatus();
  }
  std::optional<Outcome> result;
  if (branching.none) result = {-1, begin};
  for (int i = 0; i < step.branches_size(); ++i) {
    Outcome after = {i, begin};
    HEADRACE_RETURN_IF_ERROR(ApplyBranch(step.branches(i), after.schema));
    if (!branching.drawn[static_cast<size_t>(i)]) continue;
    if (result.has_value()) {
      HEADRACE_RETURN_IF_ERROR(Merge(step, after, *result));
    } else {
      result = std::move(after);
    }
  }
  if (!result.has_value()) return InternalError(step.kernel(), " can draw nothing, and says that it does");
  schema = std::move(result->schema);
  return absl::OkStatus();
}

}  // namespace headrace::ir

#include "kernels/vision/targets/target_labels.h"

#include "core/error.h"

namespace headrace {
namespace {

bool Agree(const Tensor& labels, size_t count) {
  return labels.rank() > 0 && labels.dim(0) == static_cast<int64_t>(count);
}

}  // namespace

absl::Status CheckLabels(const Tensor& labels, size_t count, std::string_view owner) {
  if (Agree(labels, count)) return absl::OkStatus();
  return GraphError("needs one label a ", owner, ", of shape (", count, ", …); got ", labels.TypeName());
}

absl::Status CheckGivenLabels(absl::Span<const Tensor> labels, size_t count, std::string_view owner,
                              const std::vector<std::string>& columns) {
  const auto named = [&columns](size_t i) {
    return i < columns.size() ? Cat("column \"", columns[i], "\"") : std::string(i == 0 ? "what they label" : "labels");
  };
  for (size_t i = 0; i < labels.size(); ++i) {
    if (Agree(labels[i], count)) continue;
    return DataError(named(i + 1), " is ", labels[i].TypeName(), ", and ", named(0), " has ", count,
                     "; it needs one element for each ", owner, ", of shape (", count, ", …)");
  }
  return absl::OkStatus();
}

ir::Attribute LabelColumnsAttribute() {
  return {.name = "columns",
          .type = ir::AttributeType::kStrings,
          .doc = "The names of the column of targets and of those of their labels, for errors.",
          .default_value = "()",
          .length = ir::ListLength{.least = 0}};
}

}  // namespace headrace

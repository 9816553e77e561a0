#include "ops/source/arrays/npz_fields.h"

#include <algorithm>

#include "core/error.h"
#include "io/formats/npy/npy_table.h"
#include "ir/suggestion.h"
#include "ops/source/arrays/fixed_columns.h"

namespace headrace {
namespace {

absl::Status CheckNpzColumns(const FileSystem& files, const std::string& path,
                             const std::vector<std::string>& columns) {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> arrays, FindNpzArrays(files, path));
  for (const std::string& column : columns) {
    const auto of_it = [&](const std::string& array) { return IsNpzColumnOf(column, array); };
    if (std::any_of(arrays.begin(), arrays.end(), of_it)) continue;
    absl::Status error = GraphError("no column \"", column, "\"", ir::DidYouMean(column, arrays),
                                    " (arrays: ", ListNpzArrays(arrays), ")");
    AddErrorField(error, ErrorField::kFile, path);
    return error;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindNpzFieldTexts(const FileSystem& files, const std::string& path,
                                                           const std::vector<std::string>* columns) {
  NpzChoice choice;
  if (columns != nullptr) {
    HEADRACE_RETURN_IF_ERROR(CheckNpzColumns(files, path, *columns));
    choice = {false, *columns};
  }
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<FixedField> fields, FindNpzFields(files, path, choice));
  return FixedFieldTexts(fields);
}

}  // namespace headrace

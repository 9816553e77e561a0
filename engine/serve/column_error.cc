#include "engine/serve/column_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace headrace {
namespace {

constexpr absl::string_view kColumnUrl = "headrace/column";

}  // namespace

absl::Status OfColumn(absl::Status error, std::string_view column) {
  if (!error.ok()) error.SetPayload(kColumnUrl, absl::Cord(absl::string_view(column.data(), column.size())));
  return error;
}

std::string ColumnOf(const absl::Status& error) {
  const auto column = error.GetPayload(kColumnUrl);
  return column ? std::string(*column) : std::string();
}

}  // namespace headrace

#include "engine/report/named_rows.h"

#include <string_view>

#include "core/text.h"

namespace headrace {
namespace {

NamedRows Name(const WarningReport& rows, std::string_view what) {
  return {Cat(rows.name, ": ", rows.rows, " ", rows.counted, rows.rows == 1 ? " " : "s ", what), rows.first,
          rows.rows > rows.first.size()};
}

}  // namespace

std::vector<NamedRows> RowsToName(const Report& report) {
  std::vector<NamedRows> named;
  for (const WarningReport& warnings : report.warnings) {
    if (warnings.rows > 0) named.push_back(Name(warnings, "with a warning"));
  }
  for (const WarningReport& skipped : report.skipped) {
    named.push_back(Name(skipped, Cat("failed and left out (at most ", report.max_errors.value_or(0), " an epoch)")));
  }
  return named;
}

}  // namespace headrace

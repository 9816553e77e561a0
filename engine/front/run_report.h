// `ReportFields` gives the report of a run as names and values, which fronts turn into what their language has for
// data. Threads: pure functions.
#ifndef HEADRACE_ENGINE_FRONT_RUN_REPORT_H_
#define HEADRACE_ENGINE_FRONT_RUN_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/exec/pipeline.h"

namespace headrace {

struct ReportField;
struct ReportValue;

// Values of different kinds whose number is fixed.
struct ReportTuple {
  std::vector<ReportValue> values;
};

struct ReportValue {
  // The names and values of one thing; a list of things of one kind; a tuple.
  using Value = std::variant<bool, int64_t, uint64_t, double, std::string, std::vector<ReportField>,
                             std::vector<ReportValue>, ReportTuple>;
  Value value;
};

struct ReportField {
  std::string_view name;  // a literal
  ReportValue value;
};

// "stages", "warnings", "work", "skipped", "wall_s", "user_wait_s", "delivered", "held_bytes", "peak_bytes",
// "budget_bytes", "workers", "stores" (of a run that uses far ones), "device" (of a run that sends to one), "limit"
// (LimitName), "advice".
std::vector<ReportField> ReportFields(const Report& report);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_FRONT_RUN_REPORT_H_

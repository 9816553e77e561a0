// `WaitText` says how long the consumer loop waited for data, and the share of its time: "83.0 ms (99.3%)".
// Threads: pure.
#ifndef HEADRACE_ENGINE_REPORT_WAIT_TEXT_H_
#define HEADRACE_ENGINE_REPORT_WAIT_TEXT_H_

#include <algorithm>
#include <string>

#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/exec/pipeline.h"
#include "engine/report/decimal.h"

namespace headrace {

inline std::string WaitText(const Report& report) {
  const double share = 100.0 * report.user_wait_s / std::max(report.wall_s, 1e-9);
  return Cat(SecondsText(report.user_wait_s), " (", Decimal(std::min(100.0, share), 1), "%)");
}

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_WAIT_TEXT_H_

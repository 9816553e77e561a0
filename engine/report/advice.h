// `FindLimit` tells what limited a run, and `Advice` what would help, in sentences derived from its report.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_REPORT_ADVICE_H_
#define HEADRACE_ENGINE_REPORT_ADVICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/exec/pipeline.h"

namespace headrace {

enum class LimitKind {
  kNotRun,
  kConsumer,  // the user's loop: rows waited for it
  kMemory,    // the budget
  kPython,    // the user's functions, or the lock that they need
  kCpu,       // all workers were busy
  kWorkers,   // all workers that iterate(workers=…) allows were busy
  kOrder,     // an operator that takes its rows one after the other
  kDisk,      // all threads that read files were busy
  kNetwork,   // the same, of a far store, whose replies took long to arrive
  kStore,     // … to begin, or it asked to slow down
  kWindow,    // stages waited for slots while others waited for rows
  kNoneAlone,
};

struct Limit {
  LimitKind kind = LimitKind::kNotRun;
  std::string stage;     // the stage of the sentence; may be empty
  std::string sentence;  // "map[1] is the bottleneck: …"
};

Limit FindLimit(const Report& report);
// For a stage that reads files: "a read took 10.2 ms (110.0 KiB), 12.0 MiB/s".
std::string ReadText(const Report& report, const StageReport& stage);
// "consumer", "memory", "python", "cpu", "workers", "order", "disk", "network", "store", "window", "none alone", "not
// run".
std::string_view LimitName(LimitKind kind);
// The limit's sentence first, then what would help.
std::vector<std::string> Advice(const Report& report);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_ADVICE_H_

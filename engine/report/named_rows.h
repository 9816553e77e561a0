// `RowsToName` gives the rows of a run that its reports name: those made in spite of a fault, and those that failed and
// were left out.
// Threads: a pure function.
#ifndef HEADRACE_ENGINE_REPORT_NAMED_ROWS_H_
#define HEADRACE_ENGINE_REPORT_NAMED_ROWS_H_

#include <string>
#include <vector>

#include "engine/exec/pipeline.h"

namespace headrace {

struct NamedRows {
  std::string sentence;            // "map[1]: 3 rows with a warning"
  std::vector<std::string> first;  // some of them, and why
  bool more = false;               // there are others
};

// One for each operator and kind, those with warnings first.
std::vector<NamedRows> RowsToName(const Report& report);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_NAMED_ROWS_H_

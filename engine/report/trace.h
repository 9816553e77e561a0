// `ChromeTrace` writes a profile as a trace in Chrome's JSON format, for Perfetto and chrome://tracing: a track per
// thread with its tasks, a track per connector with its level, and one of the memory held.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_REPORT_TRACE_H_
#define HEADRACE_ENGINE_REPORT_TRACE_H_

#include <string>

#include "engine/exec/profiler.h"

namespace headrace {

// Times are microseconds since the pipeline was made.
std::string ChromeTrace(const Profile& profile);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_TRACE_H_

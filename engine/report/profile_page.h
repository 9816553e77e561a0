// `ProfilePage` writes a profile as one self-contained HTML page: the tree, times, queue levels and threads over time,
// and advice. The page is also well-formed XML.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_REPORT_PROFILE_PAGE_H_
#define HEADRACE_ENGINE_REPORT_PROFILE_PAGE_H_

#include <string>

#include "engine/exec/pipeline.h"
#include "engine/exec/profiler.h"

namespace headrace {

std::string ProfilePage(const Report& report, const Profile& profile);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_REPORT_PROFILE_PAGE_H_

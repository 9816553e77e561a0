// `SessionOf` starts a run of what the C interface says of one.
// Threads: any thread.
#ifndef HEADRACE_CAPI_PIPELINE_PIPELINE_REQUEST_H_
#define HEADRACE_CAPI_PIPELINE_PIPELINE_REQUEST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "capi/headrace.h"
#include "engine/front/session.h"

namespace headrace::capi {

// Argument errors, and those of reading the graph, of its options, and of Session::Start.
absl::StatusOr<std::unique_ptr<Session>> SessionOf(const hr_pipeline_options* given);

}  // namespace headrace::capi

#endif  // HEADRACE_CAPI_PIPELINE_PIPELINE_REQUEST_H_

// `RunOptionsOf` makes the options of a run of names and values, as front ends get them: keyword arguments in Python,
// keys and values in C. What is an object of the front's own language (functions, a shelf of caches) the front sets in
// the result.
// Threads: pure functions.
#ifndef HEADRACE_ENGINE_FRONT_RUN_OPTIONS_H_
#define HEADRACE_ENGINE_FRONT_RUN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/exec/iteration.h"

namespace headrace {

// Integers are int64_t where they fit, and uint64_t above.
using RunOptionValue = std::variant<bool, int64_t, uint64_t, std::string, std::vector<std::string>>;

struct RunOption {
  std::string_view name;
  RunOptionValue value;
};

// By name: seed, epoch, endless, rank, world, even, state, start, stop, optimize, disabled_passes, pull,
// workers, window, group, memory (bytes), cache_folder, profile (batches), failed_rows_log, device ("cuda:0"),
// device_depth (batches), device_memory (bytes), page_locked_of (the number of a GPU in use, from whose memory the user
// sends), and "storage[s3].endpoint" and so on: a setting of a far store (io/files/storage_settings.h) by a scheme or
// the beginning of URLs. Of two of one name the later counts. Errors: kGraph: no such option, with the nearest name; a
// value of another type, or one that does not fit; no device that there could be.
absl::StatusOr<IterateOptions> RunOptionsOf(absl::Span<const RunOption> given);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_FRONT_RUN_OPTIONS_H_

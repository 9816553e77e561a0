// `ReadSidecar` and `SidecarText` read and write entries that lie in a file of their own beside a model: MODEL.hrg, a
// JSON object of texts.
// Threads: pure functions.
#ifndef HEADRACE_IO_FORMATS_MODEL_SIDECAR_H_
#define HEADRACE_IO_FORMATS_MODEL_SIDECAR_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

// Where the entries of a model lie that are not in its own file; the model may be a folder.
std::string SidecarOf(std::string_view model);
// Whether the path is of such a file.
bool IsSidecarPath(std::string_view path);

// `json` is the whole file. kData: it is not such a file.
absl::StatusOr<std::vector<ModelEntry>> ReadSidecar(std::string_view json, WantedKey key);
std::string SidecarText(absl::Span<const ModelEntry> entries);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_SIDECAR_H_

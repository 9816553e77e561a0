// `ReadTorchEntries` reads the extra files in an archive of torch, a TorchScript or an exported program (.pt2): members
// NAME/extra/KEY of a zip archive.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MODEL_TORCH_ARCHIVE_H_
#define HEADRACE_IO_FORMATS_MODEL_TORCH_ARCHIVE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "io/files/file_system.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

// Whether a file that begins so begins with a member of a zip archive.
bool BeginsAsZip(std::string_view start);

// nullopt: it is an archive that torch did not write. kData: it is damaged, or has two members for one key.
absl::StatusOr<std::optional<std::vector<ModelEntry>>> ReadTorchEntries(const RandomAccessFile& file, int64_t size,
                                                                        WantedKey key);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_TORCH_ARCHIVE_H_

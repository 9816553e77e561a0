// `ReadSafetensorsEntries` reads __metadata__ in the header of a file of safetensors, and `ChangeSafetensorsEntries`
// says of what a file with another one consists. All else in the header keeps its bytes; tensors are not read.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MODEL_SAFETENSORS_FILE_H_
#define HEADRACE_IO_FORMATS_MODEL_SAFETENSORS_FILE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/model/file_pieces.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

// Whether a file that begins so begins with the length of a header, and a header.
bool BeginsAsSafetensors(std::string_view start);

// kData: it is not a whole file, or was damaged.
absl::StatusOr<std::vector<ModelEntry>> ReadSafetensorsEntries(const RandomAccessFile& file, int64_t size,
                                                               WantedKey key);

// nullopt: the file has none of the entries that are to be removed, and none is set.
absl::StatusOr<std::optional<FilePieces>> ChangeSafetensorsEntries(const RandomAccessFile& file, int64_t size,
                                                                   absl::Span<const ModelChange> changes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_SAFETENSORS_FILE_H_

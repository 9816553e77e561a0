// `ReadOnnxEntries` reads metadata_props of an ONNX model, and `ChangeOnnxEntries` says of what a file with other ones
// consists. Only the heads of the outermost fields are read, so weights of gigabytes cost nothing.
// Threads: pure functions; files are read on the calling thread.
#ifndef HEADRACE_IO_FORMATS_MODEL_ONNX_FILE_H_
#define HEADRACE_IO_FORMATS_MODEL_ONNX_FILE_H_

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

// Whether a file that begins so begins with the version of ONNX's IR. Every writer puts it first, and protobuf does
// not promise it.
bool BeginsAsOnnx(std::string_view start);

// kData: it is not a whole model, or was damaged.
absl::StatusOr<std::vector<ModelEntry>> ReadOnnxEntries(const RandomAccessFile& file, int64_t size, WantedKey key);

// nullopt: the file has none of the entries that are to be removed, and none is set.
absl::StatusOr<std::optional<FilePieces>> ChangeOnnxEntries(const RandomAccessFile& file, int64_t size,
                                                            absl::Span<const ModelChange> changes);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_ONNX_FILE_H_

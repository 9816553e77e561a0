// `ReadModelEntry`, `ReadModelEntries` and `WriteModelEntries` read and write texts that travel with a model: in its
// own file, where the format has a place for them (ONNX, safetensors, archives of torch, OpenVINO), or in MODEL.hrg
// beside it, a JSON object of texts. The format is found by the file's bytes. A path of such a .hrg file may be given
// itself.
// Threads: any thread; files are read and written on the calling thread, and its Interrupt ends the copy of a model.
#ifndef HEADRACE_IO_FORMATS_MODEL_MODEL_ENTRIES_H_
#define HEADRACE_IO_FORMATS_MODEL_MODEL_ENTRIES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

// nullopt: the model has no such entry. kNotFound: there is no file. kData: the file is damaged, or it and the .hrg
// file hold different texts. kUnsupported: the format has no place for entries, and there is no .hrg file.
absl::StatusOr<std::optional<std::string>> ReadModelEntry(const std::string& path, std::string_view key);
absl::StatusOr<std::optional<std::string>> ReadModelEntry(const FileSystem& files, const std::string& path,
                                                          std::string_view key);

// All of them, those that others wrote too, whose bytes need not be UTF-8.
absl::StatusOr<std::vector<ModelEntry>> ReadModelEntries(const std::string& path);
absl::StatusOr<std::vector<ModelEntry>> ReadModelEntries(const FileSystem& files, const std::string& path);

// Sets and removes entries; all others stay, and so does every other byte of the model. Whoever reads the model sees
// the old file or the new one. Entries of formats without a place for them go to the .hrg file. kUnsupported: the
// format is written by its own library, and the message says how. kGraph: a key is empty or there twice, or a text is
// not UTF-8.
absl::Status WriteModelEntries(const std::string& path, absl::Span<const ModelChange> entries);
absl::Status WriteModelEntries(const FileSystem& files, const std::string& path, absl::Span<const ModelChange> entries);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_MODEL_ENTRIES_H_

// `ModelFile` is an opened file of a model: of which format it is, by its bytes, and the entries that it holds itself.
// Threads: one thread at a time.
#ifndef HEADRACE_IO_FORMATS_MODEL_MODEL_FILE_H_
#define HEADRACE_IO_FORMATS_MODEL_MODEL_FILE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/files/file_system.h"
#include "io/formats/model/model_entry.h"

namespace headrace {

enum class ModelFormat {
  kOnnx,
  kSafetensors,
  kTorch,     // TorchScript, .pt2 and other archives of torch
  kOpenVino,  // .xml
  kOther,     // also a folder: entries lie beside it
};

class ModelFile {
 public:
  // kNotFound: there is neither a file nor a folder. Other errors name the file.
  static absl::StatusOr<ModelFile> Open(const FileSystem& files, const std::string& path);

  ModelFormat format() const { return format_; }
  // Of format kOther: none.
  absl::StatusOr<std::vector<ModelEntry>> Read(WantedKey key) const;
  // kUnsupported: this format is not written, and the message says who writes it.
  absl::Status Write(absl::Span<const ModelChange> changes) const;

 private:
  ModelFile(const FileSystem& files, std::string path) : files_(&files), path_(std::move(path)) {}

  absl::Status FindFormat();
  absl::StatusOr<std::vector<ModelEntry>> ReadOpened(WantedKey key) const;
  absl::Status WriteOpened(absl::Span<const ModelChange> changes) const;
  absl::Status Named(const absl::Status& error) const;

  const FileSystem* files_;
  std::string path_;
  FileStat stat_;
  std::shared_ptr<const RandomAccessFile> file_;  // null: a folder
  int64_t size_ = 0;
  ModelFormat format_ = ModelFormat::kOther;
};

// The whole file, if it is not larger than what is read of entries. Errors name it.
absl::StatusOr<std::string> ReadSmallFile(const RandomAccessFile& file, const std::string& path, int64_t size);

}  // namespace headrace

#endif  // HEADRACE_IO_FORMATS_MODEL_MODEL_FILE_H_

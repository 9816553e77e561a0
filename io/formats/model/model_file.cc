#include "io/formats/model/model_file.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/files/file_bytes.h"
#include "io/formats/model/file_pieces.h"
#include "io/formats/model/onnx_file.h"
#include "io/formats/model/openvino_file.h"
#include "io/formats/model/safetensors_file.h"
#include "io/formats/model/sidecar.h"
#include "io/formats/model/torch_archive.h"

namespace headrace {
namespace {

// Of these the outermost element of XML is among the first.
constexpr int64_t kStartBytes = 4096;

absl::Status NotAModelFileError(const std::string& path) {
  return UnsupportedError(path, " is a pipe, a socket or a device, where a file of a model is expected");
}

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const RandomAccessFile& file, const std::string& path, int64_t size) {
  if (size > kMostEntryBytes) {
    return DataError(path, " has ", size, " bytes, at most ", kMostEntryBytes, " are read of such a file");
  }
  HEADRACE_RETURN_IF_ERROR(CheckHeld(path, file, size));
  absl::StatusOr<std::string> text = ReadFileBytes(file, 0, size);
  if (!text.ok()) return Reworded(text.status(), Cat(path, ": ", ToStd(text.status().message())));
  return text;
}

absl::StatusOr<ModelFile> ModelFile::Open(const FileSystem& files, const std::string& path) {
  ModelFile model(files, path);
  absl::StatusOr<FileStat> stat = files.Stat(path);
  if (!stat.ok()) return KindOf(stat.status()) == ErrorKind::kNotFound ? MissingPathError(files, path) : stat.status();
  model.stat_ = *std::move(stat);
  if (model.stat_.type == EntryType::kFolder) return model;
  if (model.stat_.type != EntryType::kFile) return NotAModelFileError(path);
  HEADRACE_ASSIGN_OR_RETURN(model.file_, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(model.size_, model.file_->Size());
  if (const absl::Status found = model.FindFormat(); !found.ok()) return model.Named(found);
  return model;
}

absl::Status ModelFile::Named(const absl::Status& error) const {
  const std::string_view message = ToStd(error.message());
  return message.starts_with(path_) ? error : Reworded(error, Cat(path_, ": ", message));
}

// By the first bytes. ONNX has no mark, so what a model of it may be is looked at as a whole; a file whose name says
// what it is counts as that, so that damage in its first bytes is told.
absl::Status ModelFile::FindFormat() {
  HEADRACE_ASSIGN_OR_RETURN(const std::string start, ReadFileBytes(*file_, 0, std::min(kStartBytes, size_)));
  const std::string_view path = path_;
  if (BeginsAsSafetensors(start)) {
    format_ = ModelFormat::kSafetensors;
  } else if (BeginsAsZip(start)) {
    HEADRACE_ASSIGN_OR_RETURN(const auto entries, ReadTorchEntries(*file_, size_, ""));
    format_ = entries.has_value() ? ModelFormat::kTorch : ModelFormat::kOther;
  } else if (BeginsAsOpenVino(start)) {
    format_ = ModelFormat::kOpenVino;
  } else if (BeginsAsOnnx(start) || path.ends_with(".onnx") || ReadOnnxEntries(*file_, size_, "").ok()) {
    format_ = ModelFormat::kOnnx;
  } else if (path.ends_with(".safetensors")) {
    format_ = ModelFormat::kSafetensors;
  } else if (path.ends_with(".pt2")) {
    format_ = ModelFormat::kTorch;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ModelEntry>> ModelFile::Read(WantedKey key) const {
  absl::StatusOr<std::vector<ModelEntry>> entries = ReadOpened(key);
  if (!entries.ok()) return Named(entries.status());
  return entries;
}

absl::StatusOr<std::vector<ModelEntry>> ModelFile::ReadOpened(WantedKey key) const {
  switch (format_) {
    case ModelFormat::kOnnx:
      return ReadOnnxEntries(*file_, size_, key);
    case ModelFormat::kSafetensors:
      return ReadSafetensorsEntries(*file_, size_, key);
    case ModelFormat::kTorch: {
      HEADRACE_ASSIGN_OR_RETURN(auto entries, ReadTorchEntries(*file_, size_, key));
      if (!entries.has_value()) return DataError("it is a zip archive, but not one that torch wrote");
      return *std::move(entries);
    }
    case ModelFormat::kOpenVino: {
      HEADRACE_ASSIGN_OR_RETURN(const std::string xml, ReadSmallFile(*file_, path_, size_));
      return ReadOpenVinoEntries(xml, key);
    }
    case ModelFormat::kOther:
      break;
  }
  return std::vector<ModelEntry>();
}

absl::Status ModelFile::Write(absl::Span<const ModelChange> changes) const {
  const absl::Status written = WriteOpened(changes);
  return written.ok() ? written : Named(written);
}

absl::Status ModelFile::WriteOpened(absl::Span<const ModelChange> changes) const {
  std::optional<FilePieces> pieces;
  switch (format_) {
    case ModelFormat::kOnnx: {
      HEADRACE_ASSIGN_OR_RETURN(pieces, ChangeOnnxEntries(*file_, size_, changes));
      break;
    }
    case ModelFormat::kSafetensors: {
      HEADRACE_ASSIGN_OR_RETURN(pieces, ChangeSafetensorsEntries(*file_, size_, changes));
      break;
    }
    case ModelFormat::kTorch:
      return UnsupportedError(
          "entries of an archive of torch are written by torch alone: torch.jit.save(module, path, "
          "_extra_files={key: text}), or torch.export.save(program, path, extra_files={key: text}); or write them to ",
          SidecarOf(path_), ", which is read beside it");
    case ModelFormat::kOpenVino:
      return UnsupportedError(
          "entries of an OpenVINO model come from the ONNX model that it was converted from: write them to that before "
          "it is converted; or write them to ",
          SidecarOf(path_), ", which is read beside it");
    case ModelFormat::kOther:
      return InternalError("no entries are written to such a file");
  }
  if (!pieces.has_value()) return absl::OkStatus();
  return ReplaceByPieces(*files_, path_, *file_, stat_, *pieces);
}

}  // namespace headrace

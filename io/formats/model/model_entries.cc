#include "io/formats/model/model_entries.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/seeded_hash.h"
#include "core/utf8.h"
#include "io/formats/model/model_file.h"
#include "io/formats/model/sidecar.h"

namespace headrace {
namespace {

// The entries of a .hrg file; nullopt: there is none.
absl::StatusOr<std::optional<std::vector<ModelEntry>>> ReadSidecarFile(const FileSystem& files, const std::string& path,
                                                                       WantedKey key) {
  const absl::StatusOr<FileStat> stat = files.Stat(path);
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) return std::nullopt;
  HEADRACE_RETURN_IF_ERROR(stat.status());
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(*file, path, size));
  absl::StatusOr<std::vector<ModelEntry>> entries = ReadSidecar(text, key);
  if (!entries.ok()) return Reworded(entries.status(), Cat(path, ": ", ToStd(entries.status().message())));
  return std::optional(*std::move(entries));
}

absl::Status NoPlaceError(const std::string& path) {
  return UnsupportedError(
      path,
      " holds no entries: it is neither an ONNX model, nor a file of safetensors, nor an archive of "
      "torch, nor an OpenVINO model (.xml), and there is no ",
      SidecarOf(path), " beside it");
}

absl::Status DifferError(const std::string& path, std::string_view key) {
  return DataError(path, " and ", SidecarOf(path), " hold different texts for ", ShownKey(key),
                   "; remove the one that is out of date");
}

// Both lists, of a model and of the file beside it.
absl::StatusOr<std::vector<ModelEntry>> JoinEntries(const std::string& path, std::vector<ModelEntry> entries,
                                                    std::vector<ModelEntry> beside) {
  std::unordered_map<std::string, std::string, SeededHash> own(entries.begin(), entries.end());
  for (auto& [key, value] : beside) {
    const auto found = own.find(key);
    if (found == own.end()) {
      entries.emplace_back(std::move(key), std::move(value));
    } else if (found->second != value) {
      return DifferError(path, key);
    }
  }
  return entries;
}

absl::StatusOr<std::vector<ModelEntry>> ReadWanted(const FileSystem& files, const std::string& path, WantedKey key) {
  if (IsSidecarPath(path)) {
    HEADRACE_ASSIGN_OR_RETURN(auto entries, ReadSidecarFile(files, path, key));
    if (!entries.has_value()) return MissingPathError(files, path);
    return *std::move(entries);
  }
  HEADRACE_ASSIGN_OR_RETURN(const ModelFile model, ModelFile::Open(files, path));
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ModelEntry> entries, model.Read(key));
  HEADRACE_ASSIGN_OR_RETURN(auto beside, ReadSidecarFile(files, SidecarOf(path), key));
  if (beside.has_value()) return JoinEntries(path, std::move(entries), *std::move(beside));
  if (model.format() == ModelFormat::kOther) return NoPlaceError(path);
  return entries;
}

absl::Status CheckChanges(absl::Span<const ModelChange> changes) {
  std::unordered_set<std::string, SeededHash> keys;
  for (const auto& [key, value] : changes) {
    if (key.empty()) return GraphError("an entry of a model needs a key that is not empty");
    if (!IsUtf8(key)) return GraphError("a key of an entry is not UTF-8: ", key);
    if (!keys.insert(key).second) return GraphError("two entries have the key ", key);
    if (value.has_value() && !IsUtf8(*value)) {
      return GraphError("the text of the entry ", key, " is not UTF-8; write bytes in base64");
    }
  }
  return absl::OkStatus();
}

bool SetsAny(absl::Span<const ModelChange> changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [](const ModelChange& change) { return change.second.has_value(); });
}

// A file without entries is removed.
absl::Status WriteSidecarFile(const FileSystem& files, const std::string& path, absl::Span<const ModelChange> changes) {
  HEADRACE_ASSIGN_OR_RETURN(const auto found, ReadSidecarFile(files, path, {}));
  std::vector<ModelEntry> entries;
  if (found.has_value()) {
    std::copy_if(found->begin(), found->end(), std::back_inserter(entries),
                 [&](const ModelEntry& entry) { return !HasKeyOf(changes, entry.first); });
    if (entries.size() == found->size() && !SetsAny(changes)) return absl::OkStatus();
  }
  for (const auto& [key, value] : changes) {
    if (value.has_value()) entries.emplace_back(key, *value);
  }
  if (entries.empty()) return files.Remove(path);
  return files.Write(path, {std::string_view(SidecarText(entries))});
}

// Removes entries of which the model's own file now decides.
absl::Status DropFromSidecar(const FileSystem& files, const std::string& path, absl::Span<const ModelChange> changes) {
  std::vector<ModelChange> removed;
  for (const ModelChange& change : changes) removed.emplace_back(change.first, std::nullopt);
  return WriteSidecarFile(files, SidecarOf(path), removed);
}

// Whether the file's own entries are as they shall be, because none is set, and it has none of those that are removed.
absl::StatusOr<bool> HasNone(const ModelFile& model, absl::Span<const ModelChange> changes) {
  if (SetsAny(changes)) return false;
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<ModelEntry> entries, model.Read({}));
  return std::none_of(entries.begin(), entries.end(),
                      [&](const ModelEntry& entry) { return HasKeyOf(changes, entry.first); });
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ReadModelEntry(const FileSystem& files, const std::string& path,
                                                          std::string_view key) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<ModelEntry> entries, ReadWanted(files, path, key));
  if (entries.empty()) return std::nullopt;
  return std::optional(std::move(entries.front().second));
}

absl::StatusOr<std::vector<ModelEntry>> ReadModelEntries(const FileSystem& files, const std::string& path) {
  return ReadWanted(files, path, {});
}

absl::Status WriteModelEntries(const FileSystem& files, const std::string& path,
                               absl::Span<const ModelChange> entries) {
  HEADRACE_RETURN_IF_ERROR(CheckChanges(entries));
  if (IsSidecarPath(path)) return WriteSidecarFile(files, path, entries);
  HEADRACE_ASSIGN_OR_RETURN(const ModelFile model, ModelFile::Open(files, path));
  if (model.format() == ModelFormat::kOther) return WriteSidecarFile(files, SidecarOf(path), entries);
  // Before the model is touched.
  HEADRACE_RETURN_IF_ERROR(ReadSidecarFile(files, SidecarOf(path), {}).status());
  HEADRACE_ASSIGN_OR_RETURN(const bool done, HasNone(model, entries));
  if (!done) HEADRACE_RETURN_IF_ERROR(model.Write(entries));
  return DropFromSidecar(files, path, entries);
}

absl::StatusOr<std::optional<std::string>> ReadModelEntry(const std::string& path, std::string_view key) {
  return ReadModelEntry(*DefaultFileSystem(), path, key);
}

absl::StatusOr<std::vector<ModelEntry>> ReadModelEntries(const std::string& path) {
  return ReadModelEntries(*DefaultFileSystem(), path);
}

absl::Status WriteModelEntries(const std::string& path, absl::Span<const ModelChange> entries) {
  return WriteModelEntries(*DefaultFileSystem(), path, entries);
}

}  // namespace headrace

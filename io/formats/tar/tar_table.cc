#include "io/formats/tar/tar_table.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "core/error.h"
#include "io/formats/item_index.h"
#include "io/formats/tar/tar_format.h"
#include "io/formats/tar/tar_walk.h"
#include "io/formats/tar/wds_index.h"

namespace headrace {
namespace {

// Of the walk: another number where it finds other samples.
constexpr std::string_view kTarWalk = "tar 1";
// Shorter samples are read without a look at what the disk holds of them.
constexpr int64_t kLongSample = int64_t{16} << 20;

// kData: a sample is longer than one can be, or a long one is a hole of a sparse file, which costs whoever made it
// nothing.
absl::Status CheckLengths(const FileSystem& files, const std::string& path, const ItemSpans& samples) {
  std::shared_ptr<const RandomAccessFile> file;
  for (size_t i = 0; i < samples.begins.size(); ++i) {
    const int64_t bytes = samples.ends[i] - samples.begins[i];
    if (bytes <= kLongSample) continue;
    if (bytes > TarFormat::kLongest) return DataError("the sample at byte ", samples.begins[i], " is too long");
    if (file == nullptr) {
      HEADRACE_ASSIGN_OR_RETURN(file, files.Open(path));
    }
    HEADRACE_RETURN_IF_ERROR(CheckHeld(path, *file, bytes));
  }
  return absl::OkStatus();
}

absl::Status AddToTable(const FileSystem& files, const std::string& path, int64_t size, ItemSpans samples,
                        ItemTable& table) {
  absl::Status lengths = CheckLengths(files, path, samples);
  if (!lengths.ok()) AddErrorField(lengths, ErrorField::kFile, path);
  HEADRACE_RETURN_IF_ERROR(lengths);
  table.Add(path, size, std::move(samples));
  return absl::OkStatus();
}

// kData: the archive has samples after those that the index names.
absl::StatusOr<ItemSpans> SamplesOfIndex(const FileSystem& files, const std::string& path, const std::string& index,
                                         int64_t& size) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(size, file->Size());
  HEADRACE_ASSIGN_OR_RETURN(const Tensor text, files.Read(index));
  HEADRACE_ASSIGN_OR_RETURN(ItemSpans samples, ParseWdsIndex(text.bytes_value(), index, size));
  absl::StatusOr<ItemSpans> more = WalkTar(*file, size, samples.end);
  absl::Status wrong = more.status();
  if (more.ok() && !more->begins.empty()) {
    wrong = DataError("the index ", index, " names no sample from byte ", samples.end,
                      " on; is it older than the "
                      "archive, or another one's? Make it anew, or read with index=\"build\"");
  }
  if (!wrong.ok()) AddErrorField(wrong, ErrorField::kFile, path);
  HEADRACE_RETURN_IF_ERROR(wrong);
  return samples;
}

}  // namespace

absl::StatusOr<ItemTable> BuildTarTable(const FileSystem& files, const std::vector<std::string>& paths, bool writes) {
  ItemTable table;
  for (const std::string& path : paths) {
    const auto walk = [](const RandomAccessFile& file, int64_t size) -> absl::StatusOr<ItemIndex> {
      HEADRACE_ASSIGN_OR_RETURN(ItemSpans samples, WalkTar(file, size));
      ItemIndex index;
      index.parts.push_back(std::move(samples));
      return index;
    };
    HEADRACE_ASSIGN_OR_RETURN(FoundItems found, FindItems(files, path, kTarWalk, writes, walk));
    // Whoever wrote the index that is kept.
    const std::vector<ItemSpans>& parts = found.index.parts;
    if (parts.size() != 1 || parts[0].ends.size() != parts[0].begins.size()) {
      return DataError(path, kItemIndexEnding, " is not an index of samples; delete it");
    }
    HEADRACE_RETURN_IF_ERROR(AddToTable(files, path, found.size, std::move(found.index.parts[0]), table));
  }
  return table;
}

absl::StatusOr<ItemTable> ReadTarTable(const FileSystem& files, const std::vector<std::string>& paths,
                                       const std::vector<std::string>& indices) {
  ItemTable table;
  for (size_t i = 0; i < paths.size(); ++i) {
    int64_t size = 0;
    HEADRACE_ASSIGN_OR_RETURN(ItemSpans samples, SamplesOfIndex(files, paths[i], indices[i], size));
    HEADRACE_RETURN_IF_ERROR(AddToTable(files, paths[i], size, std::move(samples), table));
  }
  return table;
}

}  // namespace headrace

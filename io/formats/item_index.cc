#include "io/formats/item_index.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

// The coarsest change times of known file systems: a file that was changed this shortly before it was read may be
// changed again without another time.
constexpr int64_t kCoarseNs = 2'000'000'000;

// Items of each part whose first bytes are compared, at equal distances, and how many bytes of each.
constexpr size_t kMostCompared = 1024;
constexpr size_t kComparedBytes = 256;

struct OpenedFile {
  std::shared_ptr<const RandomAccessFile> file;
  int64_t size = 0;
  int64_t changed_ns = 0;  // as in IndexedFile
};

// Of a version, a number that no time is.
int64_t ChangeOf(const FileStat& stat) {
  if (stat.version.empty()) return stat.changed_ns;
  return -1 - static_cast<int64_t>(VersionHash(stat.version) >> 1);
}

absl::StatusOr<OpenedFile> OpenToIndex(const FileSystem& files, const std::string& path) {
  // Looks before the file is read, so that a later change is noticed.
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files.Stat(path));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  OpenedFile opened;
  HEADRACE_ASSIGN_OR_RETURN(opened.file, files.Open(path));
  HEADRACE_ASSIGN_OR_RETURN(opened.size, opened.file->Size());
  const bool timed = stat.changed_ns > 0 && stat.changed_ns < now_ns - kCoarseNs;
  const bool tells = stat.size == opened.size && (timed || !stat.version.empty());
  opened.changed_ns = tells ? ChangeOf(stat) : 0;
  return opened;
}

absl::Status AddChecksumAt(const OpenedFile& opened, int64_t offset, uint32_t& checksum) {
  HEADRACE_RETURN_IF_ERROR(Interrupt::Check());
  uint8_t bytes[kComparedBytes];
  HEADRACE_ASSIGN_OR_RETURN(const int64_t got, opened.file->ReadAt(offset, absl::MakeSpan(bytes)));
  checksum = Crc32c(bytes, static_cast<size_t>(got), checksum);
  return absl::OkStatus();
}

// Of bytes at the beginnings of items, the first and the last of each part among them, and at the end of the file.
absl::StatusOr<uint32_t> ChecksumOf(const OpenedFile& opened, const ItemIndex& index) {
  uint32_t checksum = 0;
  for (const ItemSpans& spans : index.parts) {
    if (spans.begins.empty()) continue;
    const size_t step = (spans.begins.size() - 1) / kMostCompared + 1;
    for (size_t i = 0; i < spans.begins.size(); i += step) {
      HEADRACE_RETURN_IF_ERROR(AddChecksumAt(opened, spans.begins[i], checksum));
    }
    HEADRACE_RETURN_IF_ERROR(AddChecksumAt(opened, spans.begins.back(), checksum));
  }
  const int64_t tail = std::max<int64_t>(0, opened.size - static_cast<int64_t>(kComparedBytes));
  HEADRACE_RETURN_IF_ERROR(AddChecksumAt(opened, tail, checksum));
  return checksum;
}

absl::StatusOr<bool> IsOf(const OpenedFile& opened, const ParsedItemIndex& parsed) {
  if (parsed.of.size != opened.size) return false;
  if (opened.changed_ns != 0 && opened.changed_ns == parsed.of.changed_ns) return true;
  // It was made of another version, or of this one at another place; no bytes were compared then.
  if (parsed.of.changed_ns < 0) return false;
  // A copy has another time, and so has a file that was only renamed.
  HEADRACE_ASSIGN_OR_RETURN(const uint32_t checksum, ChecksumOf(opened, parsed.index));
  return checksum == parsed.of.checksum;
}

// The index beside the file, if it is of the file as it is now; otherwise nullopt, and whether it may be replaced.
absl::StatusOr<std::optional<ItemIndex>> KeptIndex(const FileSystem& files, const std::string& index_path,
                                                   const OpenedFile& opened, std::string_view format,
                                                   bool& replaceable) {
  replaceable = true;
  const absl::StatusOr<FileStat> stat = files.Stat(index_path);
  if (!stat.ok() && KindOf(stat.status()) == ErrorKind::kNotFound) return std::nullopt;
  replaceable = false;
  if (!stat.ok()) return std::nullopt;
  const absl::StatusOr<Tensor> bytes = files.Read(index_path);
  if (!bytes.ok()) return std::nullopt;
  // Somebody's other file stays.
  replaceable = IsItemIndex(bytes->bytes_value());
  absl::StatusOr<ParsedItemIndex> parsed = ParseItemIndex(bytes->bytes_value(), format, index_path);
  if (!parsed.ok()) return std::nullopt;
  HEADRACE_ASSIGN_OR_RETURN(const bool is_of, IsOf(opened, *parsed));
  if (!is_of) return std::nullopt;
  return std::move(parsed->index);
}

// Whether nothing is known to have changed the file since it was opened.
bool Unchanged(const FileSystem& files, const std::string& path, const OpenedFile& opened) {
  const absl::StatusOr<FileStat> now = files.Stat(path);
  return now.ok() && now->size == opened.size && (opened.changed_ns == 0 || ChangeOf(*now) == opened.changed_ns);
}

absl::Status KeepIndex(const FileSystem& files, const std::string& path, const std::string& index_path,
                       const OpenedFile& opened, std::string_view format, const ItemIndex& index) {
  uint32_t checksum = 0;
  // Each item compared is a request where there are versions.
  if (opened.changed_ns >= 0) {
    HEADRACE_ASSIGN_OR_RETURN(checksum, ChecksumOf(opened, index));
  }
  if (!Unchanged(files, path, opened)) return absl::OkStatus();
  return files.Write(index_path, {FormatItemIndex(format, {opened.size, opened.changed_ns, checksum}, index)});
}

absl::StatusOr<FoundItems> FindIn(const FileSystem& files, const std::string& path, std::string_view format,
                                  bool writes, WalkItems walk) {
  HEADRACE_ASSIGN_OR_RETURN(const OpenedFile opened, OpenToIndex(files, path));
  const std::string index_path = Cat(path, kItemIndexEnding);
  bool replaceable = false;
  HEADRACE_ASSIGN_OR_RETURN(std::optional<ItemIndex> kept, KeptIndex(files, index_path, opened, format, replaceable));
  if (kept.has_value()) return FoundItems{opened.size, *std::move(kept)};
  HEADRACE_ASSIGN_OR_RETURN(ItemIndex index, walk(*opened.file, opened.size));
  if (writes && replaceable && !index.left_out) {
    // A folder that may not be written to costs a walk in every process.
    KeepIndex(files, path, index_path, opened, format, index).IgnoreError();
  }
  return FoundItems{opened.size, std::move(index)};
}

}  // namespace

absl::StatusOr<FoundItems> FindItems(const FileSystem& files, const std::string& path, std::string_view format,
                                     bool writes, WalkItems walk) {
  absl::StatusOr<FoundItems> found = FindIn(files, path, format, writes, walk);
  if (found.ok()) return found;
  absl::Status error = std::move(found).status();
  AddErrorField(error, ErrorField::kFile, path);
  return error;
}

}  // namespace headrace

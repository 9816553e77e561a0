#include "io/formats/coco/coco_reader.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"
#include "io/formats/coco/coco_entries.h"
#include "io/formats/compressed/compression.h"
#include "io/formats/compressed/decompressed_file.h"
#include "io/formats/json/json_scanner.h"
#include "io/formats/read_ahead_file.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

// The bytes of a file that is not compressed.
class PlainBytes : public ByteStream {
 public:
  explicit PlainBytes(std::unique_ptr<ReadAheadFile> file) : file_(std::move(file)) {}

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) override {
    const size_t count = std::min<size_t>(target.size(), static_cast<size_t>(file_->size() - at_));
    if (count == 0) return count;
    HEADRACE_RETURN_IF_ERROR(file_->Read(at_, count, target.data()));
    at_ += static_cast<int64_t>(count);
    return count;
  }

 private:
  const std::unique_ptr<ReadAheadFile> file_;
  int64_t at_ = 0;
};

// What went through a stream.
struct ReadSoFar {
  int64_t bytes = 0;
  uint32_t checksum = 0;
};

// Counts the bytes of another stream, and ends with kClosed where the work should end.
class CountedBytes : public ByteStream {
 public:
  // `so_far` must outlive it.
  CountedBytes(std::unique_ptr<ByteStream> bytes, ReadSoFar& so_far) : bytes_(std::move(bytes)), so_far_(so_far) {}

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> target) override {
    if (StopSignal::Raised()) return StopSignal::Error();
    HEADRACE_ASSIGN_OR_RETURN(const size_t count, bytes_->Read(target));
    so_far_.bytes += static_cast<int64_t>(count);
    so_far_.checksum = Crc32c(target.data(), count, so_far_.checksum);
    return count;
  }

 private:
  const std::unique_ptr<ByteStream> bytes_;
  ReadSoFar& so_far_;
};

absl::StatusOr<std::unique_ptr<ByteStream>> OpenBytes(const FileSystem& files, const std::string& path,
                                                      size_t block_bytes) {
  HEADRACE_ASSIGN_OR_RETURN(const Compression compression, ArchiveCompressionOfFile(files, path));
  if (compression != Compression::kNone) return DecompressedFile::Open(files, path, compression, block_bytes);
  HEADRACE_ASSIGN_OR_RETURN(const FileStat stat, files.Stat(path));
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<ReadAheadFile> file,
                            ReadAheadFile::Open(files, path, 0, stat.size, block_bytes));
  return std::make_unique<PlainBytes>(std::move(file));
}

using ReadEntry = bool (CocoEntries::*)(JsonScanner&);

// The sections that are read; each may occur once.
struct Section {
  std::string_view name;
  std::string_view entry;
  ReadEntry read;
  bool seen = false;
};

// `culprit` becomes the entry in which the file is wrong.
bool ReadSection(JsonScanner& json, CocoEntries& entries, Section& section, std::string& culprit) {
  if (std::exchange(section.seen, true)) return json.Fail(Cat("the file has \"", section.name, "\" twice"));
  if (!json.EnterArray()) return false;
  for (int64_t number = 0; json.NextElement(); ++number) {
    if ((entries.*section.read)(json)) continue;
    culprit = Cat(section.entry, " ", number, " of the list: ");
    return false;
  }
  return json.ok();
}

// Names the entry; not where the file could not be read, or the work ends.
absl::Status OfEntry(const absl::Status& status, std::string_view culprit) {
  return KindOf(status) == ErrorKind::kData ? DataError(culprit, status.message()) : status;
}

absl::Status ReadSections(JsonScanner& json, CocoEntries& entries) {
  Section sections[] = {{"images", "image", &CocoEntries::ReadImage},
                        {"annotations", "annotation", &CocoEntries::ReadAnnotation},
                        {"categories", "category", &CocoEntries::ReadCategory}};
  if (json.Peek() == JsonKind::kArray) {
    return DataError(
        "the file is a list; annotations are an object with \"images\", \"annotations\" and "
        "\"categories\", and results of a model are a list");
  }
  std::string key;
  std::string culprit;
  json.EnterObject();
  while (json.ok() && json.NextKey(key)) {
    Section* const section =
        std::find_if(std::begin(sections), std::end(sections), [&](const Section& each) { return each.name == key; });
    if (section == std::end(sections)) {
      json.Skip();
    } else {
      ReadSection(json, entries, *section, culprit);
    }
  }
  if (!json.AtEnd()) return OfEntry(json.status(), culprit);
  return sections[0].seen ? absl::OkStatus() : DataError("the file has no \"images\"");
}

}  // namespace

absl::StatusOr<CocoTable> ReadCocoStream(std::unique_ptr<ByteStream> bytes, CocoTask task, size_t block_bytes) {
  ReadSoFar so_far;
  JsonScanner json(std::make_unique<CountedBytes>(std::move(bytes), so_far), block_bytes);
  CocoEntries entries(task);
  HEADRACE_RETURN_IF_ERROR(ReadSections(json, entries));
  HEADRACE_ASSIGN_OR_RETURN(CocoTable table, std::move(entries).Joined());
  table.bytes = so_far.bytes;
  table.checksum = so_far.checksum;
  return table;
}

absl::StatusOr<CocoTable> ReadCoco(const FileSystem& files, const std::string& path, CocoTask task,
                                   size_t block_bytes) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, OpenBytes(files, path, block_bytes));
  absl::StatusOr<CocoTable> table = ReadCocoStream(std::move(bytes), task, block_bytes);
  if (table.ok()) return table;
  absl::Status status = table.status();
  AddErrorField(status, ErrorField::kFile, path);
  return status;
}

}  // namespace headrace

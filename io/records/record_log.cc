#include "io/records/record_log.h"

#include <algorithm>
#include <map>
#include <new>
#include <random>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "core/hash.h"
#include "core/seeded_hash.h"
#include "core/stop_signal.h"
#include "io/files/local_files.h"
#include "io/files/output_stream.h"
#include "io/records/crc32c.h"

namespace headrace {
namespace {

constexpr uint64_t kFileMagic = 0x31676f6c64727248;  // "Hrrdlog1"
constexpr uint64_t kListMagic = 0x317473696c647248;  // "Hrdlist1"
constexpr uint32_t kRecordMagic = 0x63657248;        // "Hrec"
constexpr std::string_view kLogEnd = ".rows";
constexpr std::string_view kListEnd = ".list";
// Files up to this size are merged, up to this many bytes at a time.
constexpr int64_t kSmallBytes = int64_t{64} << 20;
constexpr int64_t kMergedBytes = int64_t{256} << 20;
// Entries of a list that are read at a time, and records of a file that are scanned between two looks at the signal.
constexpr size_t kEntriesAtOnce = size_t{1} << 14;

// The layout of bytes in files, little-endian.
struct FileHead {
  uint64_t magic = kFileMagic;
  uint64_t name = 0;
};
struct RecordHead {
  uint32_t magic = kRecordMagic;
  uint32_t own_checksum = 0;  // of the fields that follow
  uint64_t key = 0;
  uint64_t length = 0;
  uint32_t checksum = 0;  // of the bytes
  uint32_t nothing = 0;
};
struct ListHead {
  uint64_t magic = kListMagic;
  uint64_t name = 0;
  uint64_t count = 0;
  int64_t covered = 0;    // bytes of the file that the list covers
  uint32_t checksum = 0;  // of the entries
  uint32_t nothing = 0;
};
struct ListEntry {
  uint64_t key = 0;
  int64_t offset = 0;
  uint64_t length = 0;
  uint32_t checksum = 0;
  uint32_t nothing = 0;
};
static_assert(sizeof(FileHead) == 16 && sizeof(RecordHead) == 32 && sizeof(ListHead) == 40 && sizeof(ListEntry) == 32);

uint32_t HeadChecksum(const RecordHead& head) {
  return Crc32c(&head.key, sizeof(RecordHead) - offsetof(RecordHead, key));
}

bool ReadAll(const RandomAccessFile& file, int64_t offset, void* target, size_t bytes) {
  const absl::StatusOr<int64_t> read = file.ReadAt(offset, absl::MakeSpan(static_cast<uint8_t*>(target), bytes));
  return read.ok() && *read == static_cast<int64_t>(bytes);
}

// nullopt: the size is not known.
std::optional<int64_t> SizeOf(const RandomAccessFile& file) {
  const absl::StatusOr<int64_t> size = file.Size();
  return size.ok() ? std::optional<int64_t>(*size) : std::nullopt;
}

std::string_view BytesOf(const void* data, size_t bytes) { return {static_cast<const char*>(data), bytes}; }

bool EndsWith(std::string_view name, std::string_view end) { return name.size() > end.size() && name.ends_with(end); }

std::string ListPath(const std::string& path) {
  return path.substr(0, path.size() - kLogEnd.size()) + std::string(kListEnd);
}

std::string NewFileName() {
  std::random_device random;
  const uint64_t number = uint64_t{random()} << 32 | random();
  return Cat("/", absl::Hex(number, absl::kZeroPad16), kLogEnd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordLog>> RecordLog::Open(const FileSystem& all, const std::string& named,
                                                           const std::string& name) {
  HEADRACE_RETURN_IF_ERROR(CheckNoNul("the folder", named));
  HEADRACE_ASSIGN_OR_RETURN(const FileSystem::Located located, all.Locate(named));
  const LocalFiles* const files = located.files->local();
  if (files == nullptr) {
    return UnsupportedError(named,
                            ": several processes write to such a folder, which only files of this machine allow");
  }
  HEADRACE_RETURN_IF_ERROR(files->MakeOwnFolder(located.path));
  std::unique_ptr<RecordLog> log(new RecordLog(files, located.path, HashBytes(name)));
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<std::string> paths, log->ListFiles());
  for (const std::string& path : paths) {
    std::optional<Contents> contents = log->ReadContents(path);
    if (StopSignal::Raised()) return StopSignal::Error();
    const std::lock_guard<std::mutex> lock(log->mutex_);
    if (contents.has_value()) log->AdoptLocked(*std::move(contents));
  }
  log->MergeSmallFiles();
  return log;
}

RecordLog::~RecordLog() {
  try {
    Finish();
  } catch (const std::bad_alloc&) {
    // The list is only an index: a process that opens the folder next works without it.
  }
}

absl::StatusOr<std::vector<std::string>> RecordLog::ListFiles() const {
  HEADRACE_ASSIGN_OR_RETURN(const std::vector<FolderEntry> entries, disk_->List(folder_));
  std::vector<std::string> paths;
  for (const FolderEntry& entry : entries) {
    if (entry.type == EntryType::kFile && EndsWith(entry.name, kLogEnd)) paths.push_back(JoinPath(folder_, entry.name));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<RecordLog::Contents> RecordLog::ReadContents(const std::string& path) const {
  const auto file = disk_->Open(path);
  const std::optional<int64_t> size = file.ok() ? SizeOf(**file) : std::nullopt;
  FileHead file_head;
  if (!size.has_value() || !ReadAll(**file, 0, &file_head, sizeof(file_head))) return std::nullopt;
  if (file_head.magic != kFileMagic || file_head.name != name_) return std::nullopt;
  Contents contents{{path, *size}, {}};
  int64_t from = ReadList(contents.file, contents);
  RecordHead head;
  while (from + static_cast<int64_t>(sizeof(head)) <= *size) {
    if (contents.records.size() % kEntriesAtOnce == 0 && StopSignal::Raised()) return std::nullopt;
    if (!ReadAll(**file, from, &head, sizeof(head))) break;
    if (head.magic != kRecordMagic || head.own_checksum != HeadChecksum(head)) break;
    from += static_cast<int64_t>(sizeof(head));
    if (head.length > static_cast<uint64_t>(*size - from)) break;
    contents.records.emplace_back(head.key, Location{0, head.checksum, from, head.length});
    from += static_cast<int64_t>(head.length);
  }
  return contents;
}

// Reads the list in pieces and checks each before the next: memory is taken for entries that fit, not for as many as
// the file claims. Entries are in order and share no byte, so that all records together are no longer than their file.
int64_t RecordLog::ReadList(const File& file, Contents& contents) const {
  constexpr int64_t kNothing = sizeof(FileHead);
  const auto list = disk_->Open(ListPath(file.path));
  const std::optional<int64_t> size = list.ok() ? SizeOf(**list) : std::nullopt;
  ListHead head;
  if (!size.has_value() || !ReadAll(**list, 0, &head, sizeof(head))) return kNothing;
  const uint64_t count = static_cast<uint64_t>(*size - static_cast<int64_t>(sizeof(head))) / sizeof(ListEntry);
  if (head.magic != kListMagic || head.name != name_ || head.count != count) return kNothing;
  if (head.covered < kNothing || head.covered > file.size) return kNothing;
  const auto refuse = [&contents] {
    contents.records.clear();
    return kNothing;
  };
  std::vector<ListEntry> entries;
  uint32_t checksum = 0;
  int64_t end = kNothing;  // of the record before
  for (uint64_t done = 0; done < count; done += entries.size()) {
    if (StopSignal::Raised()) return refuse();
    entries.resize(static_cast<size_t>(std::min<uint64_t>(count - done, kEntriesAtOnce)));
    const size_t bytes = entries.size() * sizeof(ListEntry);
    const auto at = static_cast<int64_t>(sizeof(head) + done * sizeof(ListEntry));
    if (!ReadAll(**list, at, entries.data(), bytes)) return refuse();
    checksum = Crc32c(entries.data(), bytes, checksum);
    for (const ListEntry& entry : entries) {
      const bool fits = entry.offset >= end && entry.offset <= head.covered &&
                        entry.offset - end >= int64_t{sizeof(RecordHead)} &&
                        entry.length <= static_cast<uint64_t>(head.covered - entry.offset);
      if (!fits) return refuse();
      end = entry.offset + static_cast<int64_t>(entry.length);
      contents.records.emplace_back(entry.key, Location{0, entry.checksum, entry.offset, entry.length});
    }
  }
  return checksum == head.checksum ? head.covered : refuse();
}

void RecordLog::AdoptLocked(Contents contents) {
  const auto number = static_cast<uint32_t>(files_.size());
  const int64_t bytes = contents.file.size;
  files_.push_back(std::move(contents.file));
  bytes_ += bytes;
  for (auto& [key, location] : contents.records) {
    location.file = number;
    if (!locations_.try_emplace(key, location).second) spares_[key].push_back(location);
  }
}

absl::StatusOr<RecordLog::SharedFile> RecordLog::OpenForReading(uint32_t file) {
  std::string path;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (static_cast<int>(file) == own_) return own_file_;
    const auto found =
        std::find_if(open_.begin(), open_.end(), [file](const auto& open) { return open.first == file; });
    if (found != open_.end()) {
      std::rotate(open_.begin(), found, found + 1);
      return open_.front().second;
    }
    path = files_[file].path;
  }
  HEADRACE_ASSIGN_OR_RETURN(SharedFile shared, disk_->Open(path));
  const std::lock_guard<std::mutex> lock(mutex_);
  open_.emplace_front(file, shared);
  if (open_.size() > kMostOpen) open_.pop_back();
  return shared;
}

void RecordLog::ListAnew() {
  const std::lock_guard<std::mutex> listing(listing_mutex_);
  const absl::StatusOr<std::vector<std::string>> paths = ListFiles();
  if (!paths.ok()) return;
  std::unordered_set<std::string, SeededHash> added(paths->begin(), paths->end());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<uint32_t> lost;
    for (uint32_t number = 0; number < files_.size(); ++number) {
      const bool there = added.erase(files_[number].path) > 0;
      if (!there && !files_[number].gone && static_cast<int>(number) != own_) lost.push_back(number);
    }
    LoseLocked(lost);
  }
  for (const std::string& path : added) {
    std::optional<Contents> contents = ReadContents(path);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (contents.has_value()) AdoptLocked(*std::move(contents));
  }
}

void RecordLog::LoseLocked(absl::Span<const uint32_t> files) {
  if (files.empty()) return;
  for (const uint32_t number : files) {
    files_[number].gone = true;
    bytes_ -= files_[number].size;
  }
  const auto gone = [this](const Location& location) { return files_[location.file].gone; };
  for (auto& [key, locations] : spares_) std::erase_if(locations, gone);
  std::erase_if(spares_, [](const auto& each) { return each.second.empty(); });
  std::vector<uint64_t> lost;
  for (const auto& [key, location] : locations_) {
    if (gone(location)) lost.push_back(key);
  }
  for (const uint64_t key : lost) {
    locations_.erase(key);
    UseSpareLocked(key);
  }
  std::erase_if(open_, [this](const auto& open) { return files_[open.first].gone; });
}

void RecordLog::MergeSmallFiles() {
  std::vector<uint32_t> small;
  for (uint32_t number = 0; number < files_.size(); ++number) {
    if (files_[number].size <= kSmallBytes) small.push_back(number);
  }
  if (small.size() <= kMostSmall) return;
  std::sort(small.begin(), small.end(), [this](uint32_t a, uint32_t b) { return files_[a].size < files_[b].size; });
  std::map<uint32_t, std::vector<uint64_t>> keys;
  for (const auto& [key, location] : locations_) keys[location.file].push_back(key);
  // In the order of the file, which is read faster, and the same in each run.
  const auto before = [this](uint64_t a, uint64_t b) { return locations_.at(a).offset < locations_.at(b).offset; };
  for (auto& [file, of_file] : keys) std::sort(of_file.begin(), of_file.end(), before);
  std::vector<uint32_t> merged;
  int64_t bytes = 0;
  for (const uint32_t number : small) {
    bytes += files_[number].size;
    if (bytes > kMergedBytes || failed() || StopSignal::Raised()) break;
    if (Merge(number, keys[number])) merged.push_back(number);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  LoseLocked(merged);
}

// Copies records that no other file holds. If it is killed, some records exist twice, which is harmless.
bool RecordLog::Merge(uint32_t file, absl::Span<const uint64_t> keys) {
  const std::string path = files_[file].path;
  const auto locked = disk_->OpenLocked(path);
  // Another process writes to it, or did after it was read.
  if (!locked.ok() || SizeOf(**locked) != files_[file].size) return false;
  for (const uint64_t key : keys) {
    if (!Copy(**locked, key)) return false;
  }
  Delete(path);
  return true;
}

// True if nothing is left to copy: a damaged record is forgotten.
bool RecordLog::Copy(const RandomAccessFile& from, uint64_t key) {
  const Location location = locations_.at(key);
  std::vector<uint8_t> bytes(location.length);
  const bool good = ReadAll(from, location.offset, bytes.data(), bytes.size()) &&
                    Crc32c(bytes.data(), bytes.size()) == location.checksum;
  if (!good) {
    Forget(key, location);
    return true;
  }
  const std::optional<Location> copy = Write(key, bytes, false);
  if (!copy.has_value()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  locations_[key] = *copy;
  return true;
}

void RecordLog::Delete(const std::string& path) const {
  // The list first: without its file it would stay forever.
  disk_->Remove(ListPath(path)).IgnoreError();
  disk_->Remove(path).IgnoreError();
}

std::optional<size_t> RecordLog::Find(uint64_t key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locations_.find(key);
  if (found == locations_.end()) return std::nullopt;
  return found->second.length;
}

bool RecordLog::Read(uint64_t key, absl::Span<uint8_t> bytes) {
  for (bool listed = false;;) {
    Location location;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = locations_.find(key);
      if (found == locations_.end() || found->second.length != bytes.size()) return false;
      location = found->second;
    }
    const absl::StatusOr<SharedFile> file = OpenForReading(location.file);
    if (file.ok()) {
      const bool good = ReadAll(**file, location.offset, bytes.data(), bytes.size()) &&
                        Crc32c(bytes.data(), bytes.size()) == location.checksum;
      if (good) return true;
      Forget(key, location);
      continue;
    }
    // Too many files are open elsewhere in the process: this file still exists.
    if (KindOf(file.status()) == ErrorKind::kResource || listed) return false;
    ListAnew();
    listed = true;
  }
}

void RecordLog::Forget(uint64_t key, const Location& location) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locations_.find(key);
  if (found != locations_.end() && found->second.offset == location.offset && found->second.file == location.file) {
    locations_.erase(found);
    UseSpareLocked(key);
  }
}

void RecordLog::UseSpareLocked(uint64_t key) {
  const auto found = spares_.find(key);
  if (found == spares_.end()) return;
  locations_.emplace(key, found->second.back());
  found->second.pop_back();
  if (found->second.empty()) spares_.erase(found);
}

bool RecordLog::StartWritingLocked() {
  const FileHead head{kFileMagic, name_};
  const std::string path = folder_ + NewFileName();
  auto made = disk_->MakeLocked(path, BytesOf(&head, sizeof(head)));
  if (!made.ok()) return false;
  files_.push_back({path, static_cast<int64_t>(sizeof(head))});
  // No exception from here on.
  own_ = static_cast<int>(files_.size()) - 1;
  own_file_ = *std::move(made);
  bytes_ += static_cast<int64_t>(sizeof(head));
  return true;
}

bool RecordLog::Append(uint64_t key, absl::Span<const uint8_t> bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (locations_.contains(key)) return true;
  }
  const std::optional<Location> location = Write(key, bytes, true);
  if (!location.has_value()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  locations_.try_emplace(key, *location);
  return true;
}

std::optional<RecordLog::Location> RecordLog::Write(uint64_t key, absl::Span<const uint8_t> bytes, bool within_limit) {
  RecordHead head;
  head.key = key;
  head.length = bytes.size();
  head.checksum = Crc32c(bytes.data(), bytes.size());
  head.own_checksum = HeadChecksum(head);
  const int64_t whole = static_cast<int64_t>(sizeof(head) + bytes.size());
  int64_t at = 0;
  std::shared_ptr<const WritableFile> file;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (finished_ || failed() || (within_limit && bytes_ > limit_ - whole)) return std::nullopt;
    if (own_ < 0 && !StartWritingLocked()) {
      failed_ = true;
      return std::nullopt;
    }
    file = own_file_;
    File& own = files_[static_cast<size_t>(own_)];
    at = own.size;
    own.size += whole;
    bytes_ += whole;
    ++writing_;
  }
  // The head is written last: what a killed writer leaves before it is no record.
  const int64_t body = at + static_cast<int64_t>(sizeof(head));
  const absl::Span<const uint8_t> head_bytes(reinterpret_cast<const uint8_t*>(&head), sizeof(head));
  const bool written = file->WriteAt(body, bytes).ok() && file->WriteAt(at, head_bytes).ok();
  const std::lock_guard<std::mutex> lock(mutex_);
  --writing_;
  if (!written) {
    failed_ = true;
    return std::nullopt;
  }
  return Location{static_cast<uint32_t>(own_), head.checksum, body, head.length};
}

bool RecordLog::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return own_ < 0 || (!failed() && own_file_->Sync().ok());
}

void RecordLog::Finish() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A list made while a record is being written would omit it for good: the file is scanned instead.
  if (std::exchange(finished_, true) || own_ < 0 || writing_ > 0 || failed()) return;
  const File& file = files_[static_cast<size_t>(own_)];
  std::vector<ListEntry> entries;
  for (const auto& [key, location] : locations_) {
    if (location.file == static_cast<uint32_t>(own_))
      entries.push_back({key, location.offset, location.length, location.checksum});
  }
  std::sort(entries.begin(), entries.end(), [](const ListEntry& a, const ListEntry& b) { return a.offset < b.offset; });
  ListHead head;
  head.name = name_;
  head.count = entries.size();
  head.covered = file.size;
  const size_t bytes = entries.size() * sizeof(ListEntry);
  head.checksum = Crc32c(entries.data(), bytes);
  // Without the list the next process scans the file.
  disk_
      ->Write(ListPath(file.path), {BytesOf(&head, sizeof(head)), BytesOf(entries.data(), bytes)},
              {.own = true, .durable = false})
      .IgnoreError();
}

void RecordLog::Clear() {
  std::vector<std::string> paths;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<uint32_t> lost;
    for (uint32_t number = 0; number < files_.size(); ++number) {
      if (files_[number].gone) continue;
      lost.push_back(number);
      if (static_cast<int>(number) != own_) paths.push_back(files_[number].path);
    }
    if (own_ >= 0) Delete(files_[static_cast<size_t>(own_)].path);
    LoseLocked(lost);
    // Its list would name records that are gone.
    finished_ = true;
  }
  for (const std::string& path : paths) {
    if (const auto locked = disk_->OpenLocked(path); locked.ok()) Delete(path);
  }
}

size_t RecordLog::open_files() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_.size() + (own_file_ != nullptr ? 1 : 0);
}

size_t RecordLog::records() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return locations_.size();
}

}  // namespace headrace

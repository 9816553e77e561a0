#include "io/record_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "core/error.h"
#include "io/crc32c.h"
#include "io/hash.h"

namespace headrace {
namespace {

constexpr uint64_t kFileMagic = 0x31676f6c64727248;  // "Hrrdlog1"
constexpr uint64_t kListMagic = 0x317473696c647248;  // "Hrdlist1"
constexpr uint32_t kRecordMagic = 0x63657248;        // "Hrec"
constexpr std::string_view kLogEnd = ".rows";
constexpr std::string_view kListEnd = ".list";

// Bytes as they stand in files, little-endian.
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
  int64_t covered = 0;    // bytes of the file that the list is of
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

bool ReadAt(int descriptor, int64_t offset, void* target, size_t bytes) {
  auto* at = static_cast<uint8_t*>(target);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, at, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool WriteAt(int descriptor, int64_t offset, const void* source, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(source);
  while (bytes > 0) {
    const ssize_t put = pwrite(descriptor, at, bytes, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    offset += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

int64_t SizeOf(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) == 0 ? status.st_size : 0;
}

std::string ListPath(const std::string& path) {
  return path.substr(0, path.size() - kLogEnd.size()) + std::string(kListEnd);
}

std::string NewFileName() {
  std::random_device random;
  const uint64_t number = uint64_t{random()} << 32 | random();
  return Cat("/", absl::Hex(number, absl::kZeroPad16), kLogEnd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordLog>> RecordLog::Open(const std::string& folder, const std::string& name) {
  std::unique_ptr<RecordLog> log(new RecordLog(folder, HashBytes(name)));
  HEADRACE_RETURN_IF_ERROR(log->OpenFiles());
  return log;
}

RecordLog::~RecordLog() {
  Finish();
  for (const File& file : files_) close(file.descriptor);
}

absl::Status RecordLog::OpenFiles() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return NotFoundError("cannot make the folder ", folder_, ": ", error.message());
  std::vector<std::string> paths;
  auto entry = std::filesystem::directory_iterator(folder_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == kLogEnd) paths.push_back(entry->path().string());
  }
  if (error) return NotFoundError("cannot read the folder ", folder_, ": ", error.message());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) OpenFile(path);
  return absl::OkStatus();
}

void RecordLog::OpenFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  FileHead head;
  const File file{path, descriptor, SizeOf(descriptor)};
  if (!ReadAt(descriptor, 0, &head, sizeof(head)) || head.magic != kFileMagic || head.name != name_) {
    close(descriptor);
    return;
  }
  const auto number = static_cast<uint32_t>(files_.size());
  files_.push_back(file);
  bytes_ += file.size;
  Scan(file, number, ReadList(file, number));
}

int64_t RecordLog::ReadList(const File& file, uint32_t number) {
  constexpr int64_t kNothing = sizeof(FileHead);
  const int descriptor = open(ListPath(file.path).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return kNothing;
  ListHead head;
  std::vector<ListEntry> entries;
  bool good =
      ReadAt(descriptor, 0, &head, sizeof(head)) && head.magic == kListMagic && head.name == name_ &&
      head.covered <= file.size &&
      head.count == static_cast<uint64_t>(SizeOf(descriptor) - static_cast<int64_t>(sizeof(head))) / sizeof(ListEntry);
  if (good) {
    entries.resize(head.count);
    const size_t bytes = entries.size() * sizeof(ListEntry);
    good = ReadAt(descriptor, sizeof(head), entries.data(), bytes) && Crc32c(entries.data(), bytes) == head.checksum;
  }
  close(descriptor);
  if (!good) return kNothing;
  for (const ListEntry& entry : entries) {
    places_.try_emplace(entry.key, Place{number, entry.checksum, entry.offset, entry.length});
  }
  return head.covered;
}

void RecordLog::Scan(const File& file, uint32_t number, int64_t from) {
  RecordHead head;
  while (from + static_cast<int64_t>(sizeof(head)) <= file.size) {
    if (!ReadAt(file.descriptor, from, &head, sizeof(head))) return;
    if (head.magic != kRecordMagic || head.own_checksum != HeadChecksum(head)) return;
    from += static_cast<int64_t>(sizeof(head));
    if (head.length > static_cast<uint64_t>(file.size - from)) return;
    places_.try_emplace(head.key, Place{number, head.checksum, from, head.length});
    from += static_cast<int64_t>(head.length);
  }
}

std::optional<size_t> RecordLog::Find(uint64_t key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  return found->second.length;
}

bool RecordLog::Read(uint64_t key, absl::Span<uint8_t> bytes) {
  Place place;
  int descriptor = -1;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end() || found->second.length != bytes.size()) return false;
    place = found->second;
    descriptor = files_[place.file].descriptor;
  }
  const bool good = ReadAt(descriptor, place.offset, bytes.data(), bytes.size()) &&
                    Crc32c(bytes.data(), bytes.size()) == place.checksum;
  if (!good) Forget(key, place);
  return good;
}

void RecordLog::Forget(uint64_t key, const Place& place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(key);
  if (found != places_.end() && found->second.offset == place.offset && found->second.file == place.file) {
    places_.erase(found);
  }
}

// Under the lock.
bool RecordLog::StartWriting() {
  const std::string path = folder_ + NewFileName();
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  const FileHead head{kFileMagic, name_};
  if (!WriteAt(descriptor, 0, &head, sizeof(head))) {
    close(descriptor);
    return false;
  }
  own_ = static_cast<int>(files_.size());
  files_.push_back({path, descriptor, static_cast<int64_t>(sizeof(head))});
  bytes_ += static_cast<int64_t>(sizeof(head));
  return true;
}

bool RecordLog::Append(uint64_t key, absl::Span<const uint8_t> bytes) {
  RecordHead head;
  head.key = key;
  head.length = bytes.size();
  head.checksum = Crc32c(bytes.data(), bytes.size());
  head.own_checksum = HeadChecksum(head);
  const int64_t whole = static_cast<int64_t>(sizeof(head) + bytes.size());
  int64_t at = 0;
  int descriptor = -1;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (places_.contains(key)) return true;
    if (finished_ || failed() || bytes_ > limit_ - whole) return false;
    if (own_ < 0 && !StartWriting()) {
      failed_ = true;
      return false;
    }
    File& file = files_[static_cast<size_t>(own_)];
    descriptor = file.descriptor;
    at = file.size;
    file.size += whole;
    bytes_ += whole;
    ++writing_;
  }
  // The head goes last: what a killed writer leaves before it says nothing.
  const int64_t body = at + static_cast<int64_t>(sizeof(head));
  const bool written =
      WriteAt(descriptor, body, bytes.data(), bytes.size()) && WriteAt(descriptor, at, &head, sizeof(head));
  const std::lock_guard<std::mutex> lock(mutex_);
  --writing_;
  if (!written) {
    failed_ = true;
    return false;
  }
  places_.try_emplace(key, Place{static_cast<uint32_t>(own_), head.checksum, body, head.length});
  return true;
}

bool RecordLog::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return own_ < 0 || (!failed() && fdatasync(files_[static_cast<size_t>(own_)].descriptor) == 0);
}

void RecordLog::Finish() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A list made while a record is being written would leave that one out for good: the file is gone through instead.
  if (std::exchange(finished_, true) || own_ < 0 || writing_ > 0 || failed()) return;
  const File& file = files_[static_cast<size_t>(own_)];
  std::vector<ListEntry> entries;
  for (const auto& [key, place] : places_) {
    if (place.file == static_cast<uint32_t>(own_)) entries.push_back({key, place.offset, place.length, place.checksum});
  }
  std::sort(entries.begin(), entries.end(), [](const ListEntry& a, const ListEntry& b) { return a.offset < b.offset; });
  ListHead head;
  head.name = name_;
  head.count = entries.size();
  head.covered = file.size;
  const size_t bytes = entries.size() * sizeof(ListEntry);
  head.checksum = Crc32c(entries.data(), bytes);
  const std::string path = ListPath(file.path);
  const std::string draft = path + ".draft";
  const int descriptor = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  const bool written =
      WriteAt(descriptor, 0, &head, sizeof(head)) && WriteAt(descriptor, sizeof(head), entries.data(), bytes);
  close(descriptor);
  if (!written || rename(draft.c_str(), path.c_str()) != 0) unlink(draft.c_str());
}

size_t RecordLog::records() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return places_.size();
}

}  // namespace headrace

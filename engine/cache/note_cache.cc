#include "engine/cache/note_cache.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "absl/status/statusor.h"
#include "core/row_id.h"
#include "engine/cache/cache_log.h"
#include "engine/cache/lower_to.h"

namespace headrace {
namespace {

constexpr int64_t kNoteOverhead = 128;  // in memory, besides its bytes
// A note is worth another record if it is longer than the last one by this part of that.
constexpr double kWorthWriting = 0.25;
constexpr uint32_t kMostRecords = 8;
// New notes may take this part of what rows may on the disk.
constexpr double kPartOfDisk = 0.125;
// Longer ones in files are not notes that a kernel leaves.
constexpr size_t kMostNoteBytes = size_t{16} << 20;

int64_t ChargeOfNote(size_t bytes) { return static_cast<int64_t>(bytes) + kNoteOverhead; }

uint64_t RecordKey(uint64_t key, uint32_t record) { return MixKey(key, record); }

}  // namespace

void NoteCache::Open(const Use& use) {
  account_ = use.account;
  taken_ = use.taken;
  limit_ = use.memory;
  folder_ = use.folder;
  content_ = use.content + " notes";
  given_ = use.given;
  open_ = true;
}

void NoteCache::Close() {
  if (!std::exchange(open_, false)) return;
  try {
    if (log_ != nullptr) log_->Finish();
  } catch (const std::bad_alloc&) {
    // Rows without notes take longer. Pipelines end here, also where there is no memory.
  }
  DropDownTo(0);
}

// Where the folder cannot be used, notes stay in memory: the rows of the cache beside it have said so.
void NoteCache::OpenFolder() {
  absl::StatusOr<CacheLog> opened = OpenCacheLog(folder_, content_, std::nullopt);
  if (!opened.ok()) return;
  log_ = std::move(opened->log);
  const auto added = static_cast<int64_t>(static_cast<double>(opened->limit - log_->bytes()) * kPartOfDisk);
  log_->SetLimit(log_->bytes() + added);
  opened_ = log_.get();
}

RecordLog* NoteCache::Log() {
  if (!open_ || folder_.empty()) return nullptr;
  std::call_once(log_tried_, [this] {
    try {
      OpenFolder();
    } catch (const std::bad_alloc&) {
      // Notes stay in memory. Leaving call_once by an exception would block all later calls under ThreadSanitizer.
    }
  });
  return opened_;
}

bool NoteCache::Find(uint64_t key, std::string& bytes) {
  try {
    return FindInMemory(key, bytes) || ReadFromDisk(key, bytes);
  } catch (const std::bad_alloc&) {
    // The row is made without it.
    return false;
  }
}

bool NoteCache::FindInMemory(uint64_t key, std::string& bytes) const {
  const size_t part = Scramble(key) % kParts;
  const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
  const auto found = parts_[part].find(key);
  if (found == parts_[part].end()) return false;
  bytes.assign(found->second.bytes);
  return true;
}

bool NoteCache::ReadFromDisk(uint64_t key, std::string& bytes) {
  RecordLog* const log = Log();
  if (log == nullptr) return false;
  const OnDisk found = FindOnDisk(*log, key);
  if (found.records == 0 || found.length > kMostNoteBytes) return false;
  bytes.resize(found.length);
  if (!log->Read(RecordKey(key, found.records - 1), {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()})) {
    return false;
  }
  Keep(key, bytes, EarlierNote::kRightOrNone);
  SetOnDisk(key, found);
  return true;
}

bool NoteCache::FindGiven(uint64_t key, std::string& bytes) {
  try {
    return given_ != nullptr && given_->Find(key, kMostNoteBytes, bytes);
  } catch (const std::bad_alloc&) {
    // The row is made without it.
    return false;
  }
}

void NoteCache::Leave(uint64_t key, std::string_view bytes, EarlierNote earlier) {
  if (!open_ || bytes.size() > kMostNoteBytes || (folder_.empty() && limit_.load() == 0)) return;
  try {
    Keep(key, bytes, earlier);
    Append(key, bytes, earlier);
  } catch (const std::bad_alloc&) {
    // The row is made without it the next time.
  }
}

void NoteCache::Keep(uint64_t key, std::string_view bytes, EarlierNote earlier) {
  std::string note(bytes);
  const size_t part = Scramble(key) % kParts;
  const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
  auto& notes = parts_[part];
  if (const auto found = notes.find(key); found != notes.end()) {
    std::string& before = found->second.bytes;
    // Two epochs may have the row at once: the note of the shorter part may come last.
    if (earlier != EarlierNote::kWrong && note.size() <= before.size()) return;
    if (Reserve(static_cast<int64_t>(note.size()) - static_cast<int64_t>(before.size()))) before.swap(note);
    return;
  }
  const int64_t charge = ChargeOfNote(note.size());
  if (!Reserve(charge)) return;
  try {
    notes.emplace(key, Kept{std::move(note)});
  } catch (const std::bad_alloc&) {
    Reserve(-charge);
    throw;
  }
}

// Whoever adds first and looks at the others then never exceeds the limit together with them.
bool NoteCache::Reserve(int64_t bytes) {
  const int64_t held = memory_bytes_.fetch_add(bytes) + bytes;
  const int64_t taken = bytes > 0 && taken_ ? taken_() : 0;
  if (bytes > 0 && held + taken > limit_.load()) {
    memory_bytes_.fetch_sub(bytes);
    return false;
  }
  account_->Charge(bytes);
  return true;
}

// A log keeps the first record of a key: another note gets another key.
void NoteCache::Append(uint64_t key, std::string_view bytes, EarlierNote earlier) {
  RecordLog* const log = Log();
  if (log == nullptr) return;
  const OnDisk found = FindOnDisk(*log, key);
  const bool longer = static_cast<double>(bytes.size()) >= (1 + kWorthWriting) * static_cast<double>(found.length);
  if (found.records == kMostRecords || (!longer && earlier != EarlierNote::kWrong)) return;
  if (!log->Append(RecordKey(key, found.records), {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})) {
    return;
  }
  SetOnDisk(key, {found.records + 1, static_cast<uint32_t>(bytes.size())});
}

NoteCache::OnDisk NoteCache::FindOnDisk(RecordLog& log, uint64_t key) const {
  const size_t part = Scramble(key) % kParts;
  {
    const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
    const auto kept = parts_[part].find(key);
    if (kept != parts_[part].end() && kept->second.on_disk.has_value()) return *kept->second.on_disk;
  }
  OnDisk found;
  for (; found.records < kMostRecords; ++found.records) {
    const std::optional<size_t> length = log.Find(RecordKey(key, found.records));
    if (!length.has_value()) break;
    found.length = static_cast<uint32_t>(std::min<size_t>(*length, std::numeric_limits<uint32_t>::max()));
  }
  return found;
}

// Notes in memory remember it, so as to ask the log, which has one lock, once a run.
void NoteCache::SetOnDisk(uint64_t key, const OnDisk& on_disk) {
  const size_t part = Scramble(key) % kParts;
  const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
  const auto kept = parts_[part].find(key);
  if (kept != parts_[part].end()) kept->second.on_disk = on_disk;
}

void NoteCache::DropDownTo(int64_t bytes) {
  for (size_t part = 0; part < kParts; ++part) {
    const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
    auto& notes = parts_[part];
    while (!notes.empty() && memory_bytes() > bytes) {
      Reserve(-ChargeOfNote(notes.begin()->second.bytes.size()));
      notes.erase(notes.begin());
    }
  }
}

void NoteCache::Shrink(int64_t memory) {
  memory = std::max<int64_t>(0, memory);
  LowerTo(limit_, memory);
  DropDownTo(memory);
}

NoteCache::Report NoteCache::report() const {
  Report report;
  for (size_t part = 0; part < kParts; ++part) {
    const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
    report.notes += parts_[part].size();
  }
  report.memory_bytes = memory_bytes();
  if (const RecordLog* const log = opened_; log != nullptr) report.disk_bytes = log->bytes();
  if (given_ != nullptr) report.given = given_->notes();
  report.uses = uses_.load(std::memory_order_relaxed);
  return report;
}

}  // namespace headrace

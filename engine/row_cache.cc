#include "engine/row_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/row_id.h"
#include "engine/row_record.h"
#include "io/hash.h"

namespace headrace {
namespace {

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMeasuredRows = 64;
constexpr int64_t kOverhead = 128;  // of a row in memory, besides its bytes
// What is left free, as later rows may be larger than the first ones.
constexpr double kFilled = 0.97;

uint64_t HashOf(uint64_t key) { return Scramble(key ^ 0x726f7763616368ULL); }

// The highest hash of a row that is kept.
uint64_t ShareOf(double limit, double each, uint64_t rows) {
  const double share = limit * kFilled / (each * static_cast<double>(rows));
  return share >= 1 ? kAll : static_cast<uint64_t>(std::max(0.0, share) * 0x1p64);
}

// A reference that keeps the row alive and counts no bytes: the cache has them on its own account.
template <typename Holder>
BufferRef Uncounted(const uint8_t* data, Holder holder) {
  return BufferRef::Foreign(const_cast<uint8_t*>(data), 0, [keep = std::move(holder)] {});
}

std::string FolderOf(const std::string& parent, const std::string& content) {
  return Cat(parent, "/", absl::Hex(HashBytes(content), absl::kZeroPad16),
             absl::Hex(HashBytes(content, 1), absl::kZeroPad16));
}

}  // namespace

struct RowCache::Bytes {
  explicit Bytes(size_t bytes)
      : size(bytes),
        data(static_cast<uint8_t*>(std::aligned_alloc(
            kBufferAlignment, (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment))) {}
  ~Bytes() { std::free(data); }
  Bytes(const Bytes&) = delete;
  absl::Span<const uint8_t> span() const { return {data, size}; }
  int64_t charge() const { return static_cast<int64_t>(size) + kOverhead; }

  const size_t size;
  uint8_t* const data;  // null: there was no memory
};

absl::Status RowCache::Open(const Use& use) {
  account_ = use.account;
  rows_ = use.rows;
  memory_share_ = disk_share_ = kAll;
  settled_ = !by_key_;
  memory_limit_ = limits_.memory.has_value() ? std::min(*limits_.memory, use.budget / 4 * 3) : use.budget / 2;
  if (!limits_.folder.empty()) {
    folder_ = FolderOf(limits_.folder, use.content);
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    const auto space = std::filesystem::space(folder_, error);
    HEADRACE_ASSIGN_OR_RETURN(log_, RecordLog::Open(folder_, use.content));
    // What earlier runs kept is there already: it takes nothing of what is free.
    const int64_t half_free = error ? 0 : static_cast<int64_t>(space.available / 2);
    disk_limit_ = limits_.disk.value_or(log_->bytes() + half_free);
    log_->SetLimit(disk_limit_);
  }
  open_ = true;
  return absl::OkStatus();
}

void RowCache::Close() {
  if (!std::exchange(open_, false)) return;
  bool unsettled = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    unsettled = !settled_ && measured_ > 0;
  }
  if (unsettled && !off_) Settle(static_cast<double>(measured_bytes_) / static_cast<double>(measured_));
  if (log_ != nullptr) log_->Finish();
  off_ = true;
  DropMemory(0);
}

RowCache::Part& RowCache::PartOf(uint64_t key) const { return parts_[HashOf(key) % parts_.size()]; }

RowCache::Record RowCache::FindInMemory(uint64_t key) const {
  Part& part = PartOf(key);
  const std::lock_guard<std::mutex> lock(part.mutex);
  const auto found = part.records.find(key);
  return found == part.records.end() ? nullptr : found->second;
}

bool RowCache::Find(uint64_t key, std::vector<Tensor>& row) {
  if (off_.load(std::memory_order_relaxed)) return false;
  bool found = false;
  if (Record record = FindInMemory(key)) {
    const uint8_t* data = record->data;
    auto read = ReadRecord(record->span(), [&](size_t) { return Uncounted(data, record); });
    found = read.ok();
    if (found) row = *std::move(read);
  } else {
    found = log_ != nullptr && ReadFromDisk(key, row);
  }
  (found ? hits_ : misses_).fetch_add(1, std::memory_order_relaxed);
  return found;
}

bool RowCache::ReadFromDisk(uint64_t key, std::vector<Tensor>& row) {
  const std::optional<size_t> length = log_->Find(key);
  if (!length.has_value()) return false;
  BufferRef buffer = BufferPool::Current().Allocate(*length);
  if (!buffer || !log_->Read(key, {buffer->data(), *length})) return false;
  // Lets the larger tensors alone stand for the buffer that all of them share.
  const auto hold = [&](size_t bytes) { return 2 * bytes >= *length ? buffer : Uncounted(buffer->data(), buffer); };
  auto read = ReadRecord({buffer->data(), *length}, hold);
  if (!read.ok()) return false;
  row = *std::move(read);
  Keep(key, row);
  Measure(*length);
  return true;
}

bool RowCache::Offer(uint64_t key, absl::Span<const Tensor> row, uint64_t cost_ns) {
  if (off_.load(std::memory_order_relaxed)) return false;
  made_.fetch_add(1, std::memory_order_relaxed);
  made_ns_.fetch_add(cost_ns, std::memory_order_relaxed);
  const bool kept = Keep(key, row);
  Measure(RecordBytes(row));
  return kept;
}

bool RowCache::Reserve(int64_t bytes) {
  if (memory_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= memory_limit_) {
    account_->Charge(bytes);
    return true;
  }
  memory_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

bool RowCache::Keep(uint64_t key, absl::Span<const Tensor> row) {
  const uint64_t hash = HashOf(key);
  const size_t bytes = RecordBytes(row);
  const int64_t charge = static_cast<int64_t>(bytes) + kOverhead;
  const bool for_disk = log_ != nullptr && settled_ && hash <= disk_share_ && !log_->failed();
  const bool for_memory = hash <= memory_share_ && Reserve(charge);
  if (!for_disk && !for_memory) return false;
  // On the disk alone: already there, as a rule, when it was read from there.
  if (!for_memory && log_->Find(key).has_value()) return true;
  auto record = std::make_shared<Bytes>(bytes);
  bool in_memory = false;
  if (record->data != nullptr) {
    WriteRecord(row, record->data);
    if (for_memory) {
      Part& part = PartOf(key);
      const std::lock_guard<std::mutex> lock(part.mutex);
      in_memory = part.records.try_emplace(key, record).second;
    }
  }
  if (for_memory && !in_memory) {
    memory_bytes_.fetch_sub(charge, std::memory_order_relaxed);
    account_->Charge(-charge);
  }
  const bool on_disk = for_disk && record->data != nullptr && log_->Append(key, record->span());
  return in_memory || on_disk;
}

void RowCache::Measure(size_t bytes) {
  if (settled_.load(std::memory_order_acquire)) return;
  double mean = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++measured_;
    measured_bytes_ += bytes;
    if (measured_ != std::min(kMeasuredRows, rows_)) return;
    mean = static_cast<double>(measured_bytes_) / static_cast<double>(measured_);
  }
  Settle(mean);
}

void RowCache::Settle(double mean_bytes) {
  memory_share_ = ShareOf(static_cast<double>(memory_limit_), mean_bytes + kOverhead, rows_);
  if (log_ != nullptr) disk_share_ = ShareOf(static_cast<double>(disk_limit_), mean_bytes + 32, rows_);
  WriteKept();
  DropMemory(memory_share_);
  settled_.store(true, std::memory_order_release);
}

// Writes to the disk what was kept in memory alone until the share was known.
void RowCache::WriteKept() {
  if (log_ == nullptr) return;
  for (Part& part : parts_) {
    std::vector<std::pair<uint64_t, Record>> records;
    {
      const std::lock_guard<std::mutex> lock(part.mutex);
      records.assign(part.records.begin(), part.records.end());
    }
    for (const auto& [key, record] : records) {
      if (HashOf(key) <= disk_share_) log_->Append(key, record->span());
    }
  }
}

// Gives back what has a hash above; 0: everything.
void RowCache::DropMemory(uint64_t above) {
  int64_t dropped = 0;
  for (Part& part : parts_) {
    const std::lock_guard<std::mutex> lock(part.mutex);
    for (auto at = part.records.begin(); at != part.records.end();) {
      const auto here = at++;
      if (above != 0 && HashOf(here->first) <= above) continue;
      dropped += here->second->charge();
      part.records.erase(here);
    }
  }
  memory_bytes_.fetch_sub(dropped, std::memory_order_relaxed);
  if (dropped > 0) account_->Charge(-dropped);
}

void RowCache::TurnOff(std::string why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    why_off_ = std::move(why);
  }
  off_ = true;
  DropMemory(0);
}

CacheReport RowCache::report() const {
  CacheReport report;
  report.name = name_;
  report.folder = folder_.empty() ? limits_.folder : folder_;
  report.by_key = by_key_;
  report.rows = rows_;
  for (Part& part : parts_) {
    const std::lock_guard<std::mutex> lock(part.mutex);
    report.kept += part.records.size();
  }
  report.memory_bytes = memory_bytes();
  report.memory_limit = memory_limit_;
  if (log_ != nullptr) {
    report.kept = std::max<uint64_t>(report.kept, log_->records());
    report.disk_bytes = log_->bytes();
    report.disk_limit = disk_limit_;
  }
  report.hits = hits_.load(std::memory_order_relaxed);
  report.misses = misses_.load(std::memory_order_relaxed);
  const uint64_t made = made_.load(std::memory_order_relaxed);
  const double each = made == 0 ? 0 : static_cast<double>(made_ns_.load(std::memory_order_relaxed)) * 1e-9 / made;
  report.saved_s = each * static_cast<double>(report.hits);
  const std::lock_guard<std::mutex> lock(mutex_);
  report.off = why_off_;
  return report;
}

}  // namespace headrace

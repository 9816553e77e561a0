#include "engine/cache/row_cache.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/cord.h"
#include "core/error.h"
#include "core/row_id.h"
#include "engine/cache/cache_log.h"
#include "engine/cache/lower_to.h"
#include "engine/cache/row_record.h"

namespace headrace {
namespace {

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMeasuredRows = 64;
constexpr int64_t kOverhead = 128;  // of a row in memory, besides its bytes
constexpr int64_t kFileOverhead = 32;
// What is left free, as later rows may be larger than the first ones.
constexpr double kFilled = 0.97;

uint64_t HashOf(uint64_t key) { return Scramble(key ^ 0x726f7763616368ULL); }

double FractionOf(double limit, double each, uint64_t rows) {
  return limit * kFilled / (each * static_cast<double>(rows));
}

// The highest hash of a row that is kept.
uint64_t ShareOf(double limit, double each, uint64_t rows) {
  const double share = FractionOf(limit, each, rows);
  return share >= 1 ? kAll : static_cast<uint64_t>(std::max(0.0, share) * 0x1p64);
}

int64_t ChargeOf(size_t bytes) { return static_cast<int64_t>(bytes) + kOverhead; }

size_t PartOf(uint64_t key) { return HashOf(key) % KeptRows::kParts; }

constexpr std::string_view kDamagedCache = "headrace/damaged_cache";

}  // namespace

absl::Status DamagedCacheError(std::string_view cache) {
  absl::Status error = DataError("the files of the cache are damaged or gone; delete its directory");
  error.SetPayload(ToAbsl(kDamagedCache), absl::Cord(ToAbsl(cache)));
  return error;
}

std::optional<std::string> DamagedCacheOf(const absl::Status& error) {
  const absl::optional<absl::Cord> cache = error.GetPayload(ToAbsl(kDamagedCache));
  if (!cache.has_value()) return std::nullopt;
  return std::string(*cache);
}

void CacheShelf::Put(const std::string& content, KeptRows rows) {
  const std::lock_guard<std::mutex> lock(mutex_);
  KeptRows& kept = kept_[content];
  if (rows.charge >= kept.charge) std::swap(kept, rows);
}

KeptRows CacheShelf::Take(const std::string& content) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = kept_.find(content);
  if (found == kept_.end()) return {};
  KeptRows rows = std::move(found->second);
  kept_.erase(found);
  return rows;
}

absl::Status RowCache::Open(const Use& use) {
  account_ = use.account;
  rows_ = use.rows;
  budget_ = use.budget;
  fits_ = use.fits;
  room_ = use.room;
  memory_share_ = disk_share_ = kAll;
  settled_ = !by_key_;
  memory_limit_ = limits_.memory.has_value() ? std::min(*limits_.memory, use.budget / 4 * 3) : use.budget / 2;
  if (!limits_.folder.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(CacheLog opened, OpenCacheLog(limits_.folder, use.content, limits_.disk));
    log_ = std::move(opened.log);
    folder_ = std::move(opened.folder);
    disk_limit_ = opened.limit;
  }
  shelf_ = use.shelf;
  content_ = use.content;
  open_ = true;
  if (shelf_ != nullptr) {
    kept_ = shelf_->Take(content_);
    memory_bytes_ = kept_.charge;
    account_->Charge(kept_.charge);
    measured_ = kept_.measured;
    measured_bytes_ = kept_.measured_bytes;
    // Under another budget, another share.
    if (by_key_ && measured_ > 0) Settle(static_cast<double>(measured_bytes_) / static_cast<double>(measured_));
    if (!by_key_ && memory_bytes_ > memory_limit_) DropMemory(0);
  }
  return absl::OkStatus();
}

void RowCache::Close() {
  if (!std::exchange(open_, false)) return;
  bool unsettled = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    unsettled = !settled_ && measured_ > 0;
  }
  try {
    if (unsettled && !off_) Settle(static_cast<double>(measured_bytes_) / static_cast<double>(measured_));
    if (log_ != nullptr) log_->Finish();
    const bool keeps = !off_.exchange(true) && shelf_ != nullptr;
    if (keeps) shelf_->Put(content_, TakeMemory());
  } catch (const std::bad_alloc&) {
    // What is not kept is made anew. Pipelines end here, also where there is no memory.
    off_ = true;
  }
  DropMemory(0);
}

KeptRows RowCache::TakeMemory() {
  KeptRows rows;
  for (size_t part = 0; part < KeptRows::kParts; ++part) {
    const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
    rows.parts[part] = std::exchange(kept_.parts[part], {});
    for (const auto& [key, record] : rows.parts[part]) rows.charge += ChargeOf(record.bytes);
  }
  memory_bytes_.fetch_sub(rows.charge, std::memory_order_relaxed);
  account_->Charge(-rows.charge);
  const std::lock_guard<std::mutex> lock(mutex_);
  rows.measured = measured_;
  rows.measured_bytes = measured_bytes_;
  return rows;
}

RowCache::Record RowCache::FindInMemory(uint64_t key) const {
  const size_t part = PartOf(key);
  const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
  const auto found = kept_.parts[part].find(key);
  return found == kept_.parts[part].end() ? Record() : found->second;
}

bool RowCache::Find(uint64_t key, std::vector<Tensor>& row) {
  if (off_.load(std::memory_order_relaxed)) return false;
  bool found = false;
  if (const Record record = FindInMemory(key); record.buffer) {
    // Shares its one buffer, so that no caller writes to the row.
    auto read = ReadRecord({record.buffer->data(), record.bytes}, [&](size_t) { return record.buffer; });
    found = read.ok();
    if (found) row = *std::move(read);
  } else {
    found = log_ != nullptr && ReadFromDisk(key, row);
  }
  if (found) hits_.fetch_add(1, std::memory_order_relaxed);
  return found;
}

bool RowCache::ReadFromDisk(uint64_t key, std::vector<Tensor>& row) {
  const std::optional<size_t> length = log_->Find(key);
  // No row of the run's own is larger than its budget, as a rule: a file that says so may lie.
  if (!length.has_value() || static_cast<int64_t>(*length) > budget_) return false;
  BufferRef buffer = BufferPool::Current().Allocate(*length);
  if (!buffer || !log_->Read(key, {buffer->data(), *length})) return false;
  // Lets the larger tensors alone stand for the buffer that all of them share.
  const BufferRef uncounted = BufferRef::Foreign(buffer->data(), 0, [buffer] {});
  const auto hold = [&](size_t bytes) { return 2 * bytes >= *length ? buffer : uncounted; };
  auto read = ReadRecord({buffer->data(), *length}, hold);
  if (!read.ok() || (fits_ && !fits_(*read))) return false;
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

bool RowCache::Wants(uint64_t key) const {
  if (!on()) return false;
  const uint64_t hash = HashOf(key);
  const bool for_memory = hash <= memory_share_ && memory_bytes() < MemoryNow();
  return for_memory || (log_ != nullptr && settled_ && hash <= disk_share_ && !log_->failed());
}

double RowCache::ShareInMemory(double bytes) const {
  return std::min(1.0, FractionOf(static_cast<double>(memory_limit()), bytes + kOverhead, rows_));
}

double RowCache::ShareOnDisk(double bytes) const {
  if (log_ == nullptr) return 0;
  return std::min(1.0, FractionOf(static_cast<double>(disk_limit_), bytes + kFileOverhead, rows_));
}

// Takes the memory of a row where the limit leaves room, and gives it back unless the row is kept, also where an
// allocation throws.
class RowCache::Reservation {
 public:
  // `wanted`: whether to ask for it at all.
  Reservation(RowCache& cache, bool wanted, int64_t bytes) : cache_(cache), bytes_(wanted ? bytes : 0) {
    if (bytes_ == 0) return;
    // Whoever adds first and looks at the others then never exceeds the limit together with them.
    const bool fits = cache_.memory_bytes_.fetch_add(bytes_) + bytes_ <= cache_.MemoryNow();
    if (fits) {
      cache_.account_->Charge(bytes_);
    } else {
      cache_.memory_bytes_.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
    }
  }
  ~Reservation() {
    if (bytes_ == 0) return;
    cache_.memory_bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
    cache_.account_->Charge(-bytes_);
  }
  Reservation(const Reservation&) = delete;
  bool made() const { return bytes_ > 0; }
  void Keep() { bytes_ = 0; }

 private:
  RowCache& cache_;
  int64_t bytes_;
};

bool RowCache::Keep(uint64_t key, absl::Span<const Tensor> row) {
  if (FindInMemory(key).buffer) return true;
  const uint64_t hash = HashOf(key);
  const size_t bytes = RecordBytes(row);
  const bool for_disk = log_ != nullptr && settled_ && hash <= disk_share_ && !log_->failed();
  Reservation reserved(*this, hash <= memory_share_, ChargeOf(bytes));
  if (!for_disk && !reserved.made()) return false;
  if (!reserved.made() && OnDisk(key)) return true;
  const BufferRef buffer = memory_.Allocate(bytes);
  bool in_memory = false;
  if (buffer) {
    WriteRecord(row, buffer->data());
    if (reserved.made()) {
      const size_t part = PartOf(key);
      const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
      in_memory = kept_.parts[part].try_emplace(key, Record{buffer, bytes}).second;
      if (in_memory) reserved.Keep();
    }
  }
  const bool on_disk = for_disk && buffer && log_->Append(key, {buffer->data(), bytes});
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
  memory_share_ = ShareOf(static_cast<double>(memory_limit()), mean_bytes + kOverhead, rows_);
  if (log_ != nullptr) disk_share_ = ShareOf(static_cast<double>(disk_limit_), mean_bytes + kFileOverhead, rows_);
  settled_.store(true, std::memory_order_release);
  WriteKept();
  DropMemory(memory_share_);
  // A share of few rows may be more than its part of the bytes.
  while (memory_bytes() > memory_limit_) {
    memory_share_ = memory_share_ / 16 * 15;
    DropMemory(memory_share_);
  }
}

// Writes to the disk what was kept in memory alone until the share was known.
void RowCache::WriteKept() {
  if (log_ == nullptr) return;
  for (size_t part = 0; part < KeptRows::kParts; ++part) {
    std::vector<std::pair<uint64_t, Record>> records;
    {
      const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
      records.assign(kept_.parts[part].begin(), kept_.parts[part].end());
    }
    for (const auto& [key, record] : records) {
      if (HashOf(key) <= disk_share_) log_->Append(key, {record.buffer->data(), record.bytes});
    }
  }
}

// Gives back what has a hash above; 0: everything.
void RowCache::DropMemory(uint64_t above) {
  int64_t dropped = 0;
  for (size_t part = 0; part < KeptRows::kParts; ++part) {
    const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
    auto& records = kept_.parts[part];
    for (auto at = records.begin(); at != records.end();) {
      const auto here = at++;
      if (above != 0 && HashOf(here->first) <= above) continue;
      dropped += ChargeOf(here->second.bytes);
      records.erase(here);
    }
  }
  memory_bytes_.fetch_sub(dropped, std::memory_order_relaxed);
  if (dropped > 0) account_->Charge(-dropped);
}

void RowCache::Shrink(int64_t memory) {
  memory = std::max<int64_t>(0, memory);
  LowerTo(memory_limit_, memory);
  // Drops a little more than must go, so as not to come again for each row.
  for (int64_t held = memory_bytes(); held > memory; held = memory_bytes()) {
    const double share = 0.9 * static_cast<double>(memory) / static_cast<double>(held);
    memory_share_ = static_cast<uint64_t>(share * static_cast<double>(memory_share_ / 2)) * 2;
    DropMemory(memory_share_);
  }
}

void RowCache::TurnOff(std::string why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    why_off_ = std::move(why);
  }
  off_ = true;
  DropMemory(0);
}

void RowCache::Discard() {
  if (log_ != nullptr) log_->Clear();
  TurnOff("as its files were found damaged: this run makes every row anew, and the next one fills it again");
}

CacheReport RowCache::report() const {
  CacheReport report;
  report.name = name_;
  report.folder = folder_.empty() ? limits_.folder : folder_;
  report.by_key = by_key_;
  report.rows = rows_;
  for (size_t part = 0; part < KeptRows::kParts; ++part) {
    const std::lock_guard<std::mutex> lock(part_mutexes_[part]);
    report.kept += kept_.parts[part].size();
  }
  report.memory_bytes = memory_bytes();
  report.memory_limit = memory_limit_;
  if (log_ != nullptr) {
    report.kept = std::max<uint64_t>(report.kept, log_->records());
    report.disk_bytes = log_->bytes();
    report.disk_limit = disk_limit_;
  }
  report.hits = hits_.load(std::memory_order_relaxed);
  report.made = made_.load(std::memory_order_relaxed);
  const double made_s = static_cast<double>(made_ns_.load(std::memory_order_relaxed)) * 1e-9;
  const double each = report.made == 0 ? 0 : made_s / static_cast<double>(report.made);
  report.saved_s = each * static_cast<double>(report.hits);
  const std::lock_guard<std::mutex> lock(mutex_);
  report.off = why_off_;
  return report;
}

}  // namespace headrace

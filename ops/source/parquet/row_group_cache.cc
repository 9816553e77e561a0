#include "ops/source/parquet/row_group_cache.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "core/stop_signal.h"

namespace headrace {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

const ParquetRun& DecodedGroup::RunOf(uint64_t row) const {
  const auto after = std::upper_bound(runs.begin(), runs.end(), row,
                                      [](uint64_t wanted, const ParquetRun& run) { return wanted < run.first; });
  return *(after - 1);
}

RowGroupCache::Entries::iterator RowGroupCache::Find(size_t group) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.group == group; });
}

class RowGroupCache::Claim {
 public:
  Claim(RowGroupCache* cache, size_t group) : cache_(cache), group_(group) {}
  ~Claim() {
    const std::lock_guard<std::mutex> lock(cache_->mutex_);
    const auto own = cache_->Find(group_);
    if (own != cache_->entries_.end() && own->decoded == nullptr) cache_->entries_.erase(own);
    cache_->decoded_.notify_all();
  }
  Claim(const Claim&) = delete;

 private:
  RowGroupCache* const cache_;
  const size_t group_;
};

absl::StatusOr<std::shared_ptr<const DecodedGroup>> RowGroupCache::KeptOrClaimed(size_t group) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (auto found = Find(group); found != entries_.end(); found = Find(group)) {
    if (found->decoded != nullptr) {
      std::rotate(entries_.begin(), found, found + 1);
      return entries_.front().decoded;
    }
    // Another thread is at it. A pipeline that is closed does not wait for it.
    if (StopSignal::Raised()) return StopSignal::Error();
    decoded_.wait_for(lock, kBetweenLooks);
  }
  entries_.push_front({group, nullptr});
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const DecodedGroup>> RowGroupCache::Get(size_t group) {
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const DecodedGroup> kept, KeptOrClaimed(group));
  if (kept != nullptr) return kept;
  const Claim claim(this, group);
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<const DecodedGroup> decoded, Decode(group));
  // Freed without the lock.
  std::vector<std::shared_ptr<const DecodedGroup>> dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  Keep(group, decoded, dropped);
  return decoded;
}

void RowGroupCache::Keep(size_t group, std::shared_ptr<const DecodedGroup> decoded,
                         std::vector<std::shared_ptr<const DecodedGroup>>& dropped) {
  const auto own = Find(group);
  std::rotate(entries_.begin(), own, own + 1);
  entries_.front().decoded = std::move(decoded);
  int64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.decoded == nullptr ? 0 : entry.decoded->bytes;
  for (auto entry = entries_.end(); bytes > most_bytes_ && entry != entries_.begin() + 1;) {
    --entry;
    if (entry->decoded == nullptr) continue;
    bytes -= entry->decoded->bytes;
    dropped.push_back(std::move(entry->decoded));
    entry = entries_.erase(entry);
  }
}

absl::StatusOr<std::shared_ptr<const DecodedGroup>> RowGroupCache::Decode(size_t group) const {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<ParquetGroupReader> reader, files_->OpenGroup(group));
  auto decoded = std::make_shared<DecodedGroup>();
  decoded->opened = reader->opened();
  for (uint64_t rows = 0; rows < files_->table().groups()[group].rows;) {
    HEADRACE_ASSIGN_OR_RETURN(ParquetRun run, reader->Next());
    // The reader says that it ends early.
    rows += run.rows;
    decoded->bytes += run.bytes;
    decoded->runs.push_back(std::move(run));
  }
  return decoded;
}

}  // namespace headrace

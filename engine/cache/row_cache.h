// `RowCache` keeps rows by their 64-bit keys, in memory and in a folder, so that they need not be made again. Nothing
// is evicted: the bytes of the first rows settle once which share of the rows fits, and a row is kept if a hash of its
// key is below that share. So the same rows are kept whatever their order, and the others are made again each time.
// Memory counts in the pipeline's budget; the folder also serves later runs.
// Threads: Open and Close from one thread, the others from any; no lock is held while a row's bytes move.
#ifndef HEADRACE_ENGINE_CACHE_ROW_CACHE_H_
#define HEADRACE_ENGINE_CACHE_ROW_CACHE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/seeded_hash.h"
#include "core/tensor.h"
#include "engine/cache/note_cache.h"
#include "engine/cache/row_memory.h"
#include "io/records/record_log.h"

namespace headrace {

// Rows in memory by key. A row's buffer counts no bytes: the owner of the rows charges them to its own account.
struct KeptRows {
  struct Record {
    BufferRef buffer;
    size_t bytes = 0;
  };
  static constexpr size_t kParts = 16;

  std::array<std::unordered_map<uint64_t, Record, SeededHash>, kParts> parts;
  int64_t charge = 0;  // bytes of all
  // The number of rows that determined their mean size.
  uint64_t measured = 0;
  uint64_t measured_bytes = 0;
};

// Holds the rows of a cache in memory between two iterators of a data set, under the name of their content. Safe from
// any thread.
class CacheShelf {
 public:
  // Replaces the rows kept under the name if these are more.
  void Put(const std::string& content, KeptRows rows);
  // Takes the rows off the shelf; empty if there are none.
  KeptRows Take(const std::string& content);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, KeptRows, SeededHash> kept_;
};

struct CacheReport {
  std::string name;    // "cache[2]"
  std::string folder;  // of its files; empty: only memory
  bool by_key = true;  // else by number
  std::string off;     // why it keeps nothing; empty: it does
  uint64_t rows = 0;   // that may be looked up; 0: not known
  uint64_t kept = 0;
  int64_t memory_bytes = 0, memory_limit = 0;
  int64_t disk_bytes = 0, disk_limit = 0;
  uint64_t hits = 0, made = 0;
  double saved_s = 0;  // the estimated cost of the rows found, from that of the rows made
  // Of notes that kernels left of rows, and the rows for which one saved work.
  NoteCache::Report notes;
  // Whether it is the automatic cache of a map.
  bool automatic = false;
  std::string point;       // where in the map: "after Decode"; empty: not chosen
  std::string most_point;  // the last one that could be chosen
  std::string why;         // what it was chosen for
  std::string no_folder;   // why nothing goes to the folder that the user named
};

class RowCache {
 public:
  // The user's limits; nullopt: the engine chooses.
  struct Limits {
    std::optional<int64_t> memory;  // bytes
    std::string folder;             // empty: only memory
    std::optional<int64_t> disk;    // bytes
  };
  struct Use {
    MemoryAccount* account = nullptr;
    int64_t budget = 0;   // of the pipeline, in bytes
    std::string content;  // names the content of the rows, so that different contents are never mixed up in the folder
    uint64_t rows = 0;    // that may be looked up by key
    CacheShelf* shelf = nullptr;  // holds the rows before and after; outlives the cache
    // Checks untrusted rows of the folder: only rows that fit are returned.
    std::function<bool(absl::Span<const Tensor>)> fits = nullptr;
    // Bytes that those who share the memory leave for rows at the moment; null: nobody shares it.
    std::function<int64_t()> room = nullptr;
  };

  // `by_key`: any share of the rows is useful; otherwise rows have numbers, and all or none are kept.
  RowCache(std::string name, bool by_key, Limits limits)
      : name_(std::move(name)), by_key_(by_key), limits_(std::move(limits)) {}
  ~RowCache() { Close(); }
  RowCache(const RowCache&) = delete;

  absl::Status Open(const Use& use);
  // Whether it has a folder, where rows may outlive the run.
  bool lasting() const { return !limits_.folder.empty(); }
  // Whether it is open and not turned off.
  bool on() const { return open_ && !off_.load(std::memory_order_relaxed); }
  // Closes the files and returns all memory, or moves it to the shelf; rows already returned stay valid.
  void Close();

  // Sets the row's tensors; false if it is not kept.
  bool Find(uint64_t key, std::vector<Tensor>& row);
  // Whether a row with this key would be kept if it were offered.
  bool Wants(uint64_t key) const;
  // The fraction of all rows that would fit if each had so many bytes; 0 to 1.
  double ShareInMemory(double bytes) const;
  double ShareOnDisk(double bytes) const;
  // Offers a row that cost so much to make. Returns whether it is kept now.
  bool Offer(uint64_t key, absl::Span<const Tensor> row, uint64_t cost_ns);
  // From now on keeps at most so many bytes in memory.
  void Shrink(int64_t memory);
  // Deletes its files in the folder and turns itself off, when a damaged record makes all of them useless.
  void Discard();
  // Keeps nothing from now on, and frees its memory.
  void TurnOff(std::string why);
  // Returns whether all rows offered before are on the disk, if there is a folder.
  bool Flush() { return log_ == nullptr || log_->Flush(); }
  bool OnDisk(uint64_t key) const { return log_ != nullptr && log_->Find(key).has_value(); }

  int64_t memory_limit() const { return memory_limit_.load(std::memory_order_relaxed); }
  int64_t memory_bytes() const { return memory_bytes_.load(); }
  CacheReport report() const;

 private:
  using Record = KeptRows::Record;

  // The bytes that rows may have at the moment.
  int64_t MemoryNow() const { return room_ ? std::min(memory_limit(), room_()) : memory_limit(); }
  Record FindInMemory(uint64_t key) const;
  bool ReadFromDisk(uint64_t key, std::vector<Tensor>& row);
  bool Keep(uint64_t key, absl::Span<const Tensor> row);
  // Counts the size of one of the first rows, and settles the share once there are enough.
  void Measure(size_t bytes);
  void Settle(double mean_bytes);
  class Reservation;
  void DropMemory(uint64_t above);
  KeptRows TakeMemory();
  void WriteKept();

  const std::string name_;
  const bool by_key_;
  const Limits limits_;
  MemoryAccount* account_ = nullptr;
  bool open_ = false;
  uint64_t rows_ = 0;
  std::atomic<int64_t> memory_limit_{0};
  int64_t disk_limit_ = 0;
  std::string folder_;
  std::unique_ptr<RecordLog> log_;
  RowMemory memory_;
  KeptRows kept_;  // its counters are set when it is handed on
  mutable std::array<std::mutex, KeptRows::kParts> part_mutexes_;
  std::atomic<int64_t> memory_bytes_{0};
  CacheShelf* shelf_ = nullptr;
  int64_t budget_ = 0;
  std::function<bool(absl::Span<const Tensor>)> fits_;
  std::function<int64_t()> room_;
  std::string content_;
  std::atomic<bool> off_{false};
  std::atomic<bool> settled_{false};
  // Rows are kept if their hash is not above: the full range keeps all.
  std::atomic<uint64_t> memory_share_;
  std::atomic<uint64_t> disk_share_;
  mutable std::mutex mutex_;
  std::string why_off_;
  uint64_t measured_ = 0;
  uint64_t measured_bytes_ = 0;
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> made_{0};
  std::atomic<uint64_t> made_ns_{0};
};

// kData: the cache of this name, which gives rows in their order, cannot give the next one. The pipeline may go on from
// its position if it is made again without that cache; the caller checks with DamagedCacheOf.
absl::Status DamagedCacheError(std::string_view cache);
// The cache's name; nullopt: another error.
std::optional<std::string> DamagedCacheOf(const absl::Status& error);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_ROW_CACHE_H_

// Keeps rows by their 64-bit keys, in memory and in a folder, so that they need not be made again. It evicts nothing:
// which share of the rows fits is settled once, from the bytes of the first rows, and a row is kept where a hash of its
// key is below that share. So the same rows are kept whatever the order in which they come, and what does not fit is
// made anew each time. Memory counts against the pipeline's budget; the folder serves later runs, too.
// Thread contract: Open and Close from one thread, the others from any; no lock is held while a row's bytes move.
#ifndef HEADRACE_ENGINE_CACHE_ROW_CACHE_H_
#define HEADRACE_ENGINE_CACHE_ROW_CACHE_H_

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
#include "core/tensor.h"
#include "engine/cache/row_memory.h"
#include "io/records/record_log.h"

namespace headrace {

// Rows in memory by key. A row's buffer counts no bytes: whoever keeps the rows has them on an account of its own.
struct KeptRows {
  struct Record {
    BufferRef buffer;
    size_t bytes = 0;
  };
  static constexpr size_t kParts = 16;

  std::array<std::unordered_map<uint64_t, Record>, kParts> parts;
  int64_t charge = 0;  // bytes of all
  // The rows from which their mean was told.
  uint64_t measured = 0;
  uint64_t measured_bytes = 0;
};

// Where the rows of a cache wait in memory from one iterator of a data set to the next, under the name of what they
// are. Safe from any thread.
class CacheShelf {
 public:
  // In place of what was kept under the name before, where it is more.
  void Put(const std::string& content, KeptRows rows);
  // Takes them off the shelf; none where there are none.
  KeptRows Take(const std::string& content);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, KeptRows> kept_;
};

struct CacheReport {
  std::string name;    // "cache[2]"
  std::string folder;  // of its files; empty: memory alone
  bool by_key = true;  // else by number
  std::string off;     // why it keeps nothing; empty: it does
  uint64_t rows = 0;   // that it may be asked for; 0: not known
  uint64_t kept = 0;
  int64_t memory_bytes = 0, memory_limit = 0;
  int64_t disk_bytes = 0, disk_limit = 0;
  uint64_t hits = 0, made = 0;
  double saved_s = 0;  // what the rows found would have cost, as those that were made did
  // Of one that the engine put into a map by itself.
  bool automatic = false;
  std::string point;       // where in the map: "after Decode"; empty: not chosen
  std::string most_point;  // the last one that could be chosen
  std::string why;         // what it was chosen for
  std::string no_folder;   // why nothing goes to the folder that the user named
};

class RowCache {
 public:
  // As the user wished; nullopt: the engine chooses.
  struct Limits {
    std::optional<int64_t> memory;  // bytes
    std::string folder;             // empty: memory alone
    std::optional<int64_t> disk;    // bytes
  };
  struct Use {
    MemoryAccount* account = nullptr;
    int64_t budget = 0;           // of the pipeline, in bytes
    std::string content;          // names what the rows are: other contents are never mixed up in the folder
    uint64_t rows = 0;            // that may be asked for by their keys
    CacheShelf* shelf = nullptr;  // where rows wait before and after; outlives the cache
    // What is no row of this kind is not given out, whoever wrote it into the folder.
    std::function<bool(absl::Span<const Tensor>)> fits = nullptr;
  };

  // `by_key`: any share of the rows is of use; else they are rows by number, of which it keeps all or none.
  RowCache(std::string name, bool by_key, Limits limits)
      : name_(std::move(name)), by_key_(by_key), limits_(std::move(limits)) {}
  ~RowCache() { Close(); }
  RowCache(const RowCache&) = delete;

  absl::Status Open(const Use& use);
  // Has a folder, where rows may outlive the run.
  bool lasting() const { return !limits_.folder.empty(); }
  // Opened, and not turned off.
  bool on() const { return open_ && !off_.load(std::memory_order_relaxed); }
  // Ends the files and gives all memory back, or to the shelf; what it gave out stays valid.
  void Close();

  // Fills in the row's tensors.
  bool Find(uint64_t key, std::vector<Tensor>& row);
  // A row with this key would be kept, if it were offered.
  bool Wants(uint64_t key) const;
  // Parts of all rows that fit, were they of so many bytes each; 0 to 1.
  double ShareInMemory(double bytes) const;
  double ShareOnDisk(double bytes) const;
  // The row, which took so long to make. Returns whether it is kept now.
  bool Offer(uint64_t key, absl::Span<const Tensor> row, uint64_t cost_ns);
  // Keeps in memory no more than so many bytes from now on.
  void Shrink(int64_t memory);
  // Deletes what it has in the folder, where something was found damaged that all of it is of no use without, and
  // turns itself off.
  void Discard();
  // Keeps nothing from now on, and forgets what it has in memory.
  void TurnOff(std::string why);
  // What was offered before is safe on the disk, where there is a folder.
  bool Flush() { return log_ == nullptr || log_->Flush(); }
  bool OnDisk(uint64_t key) const { return log_ != nullptr && log_->Find(key).has_value(); }

  int64_t memory_limit() const { return memory_limit_.load(std::memory_order_relaxed); }
  int64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  CacheReport report() const;

 private:
  using Record = KeptRows::Record;

  Record FindInMemory(uint64_t key) const;
  bool ReadFromDisk(uint64_t key, std::vector<Tensor>& row);
  bool Keep(uint64_t key, absl::Span<const Tensor> row);
  // Counts a row of the first ones, and settles the share once there are enough.
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
  KeptRows kept_;  // its numbers are filled in when it is handed on
  mutable std::array<std::mutex, KeptRows::kParts> part_mutexes_;
  std::atomic<int64_t> memory_bytes_{0};
  CacheShelf* shelf_ = nullptr;
  int64_t budget_ = 0;
  std::function<bool(absl::Span<const Tensor>)> fits_;
  std::string content_;
  std::atomic<bool> off_{false};
  std::atomic<bool> settled_{false};
  // Rows are kept whose hash is not above: the whole range keeps all.
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

// kData: the cache of this name, which gives rows in their order, cannot give the next one. The pipeline may go on
// where it stands once it is made anew without that cache; whoever runs it asks DamagedCacheOf.
absl::Status DamagedCacheError(std::string_view cache);
// The cache's name; nullopt: another error.
std::optional<std::string> DamagedCacheOf(const absl::Status& error);

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_ROW_CACHE_H_

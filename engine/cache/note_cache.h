// `NoteCache` keeps the notes that kernels leave of rows (core/row_notes.h): in memory, and in a folder for later runs.
// A longer note replaces an earlier one of the same key, and any note a wrong one. Nothing is evicted: where there is
// no room left, new ones are not kept. The folder is opened when a kernel first asks for a note, or leaves one. Notes
// that came with the files of rows are read where they are, and never kept.
// Threads: Open and Close from one thread, the others from any.
#ifndef HEADRACE_ENGINE_CACHE_NOTE_CACHE_H_
#define HEADRACE_ENGINE_CACHE_NOTE_CACHE_H_

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

#include "core/buffer.h"
#include "core/row_notes.h"
#include "core/seeded_hash.h"
#include "engine/cache/given_notes.h"
#include "io/records/record_log.h"

namespace headrace {

class NoteCache : public NoteStore {
 public:
  struct Use {
    MemoryAccount* account = nullptr;
    int64_t memory = 0;                      // bytes that notes may take
    std::function<int64_t()> taken = {};     // bytes of that memory that others hold; no function: they hold none
    std::string folder = {};                 // empty: only memory
    std::string content = {};                // names the content of the rows
    std::shared_ptr<GivenNotes> given = {};  // that came with the rows' files; null: none did
  };
  struct Report {
    uint64_t notes = 0;  // in memory
    int64_t memory_bytes = 0;
    int64_t disk_bytes = 0;
    uint64_t given = 0;  // that came with the rows' files
    uint64_t uses = 0;
  };

  NoteCache() = default;
  ~NoteCache() override { Close(); }
  NoteCache(const NoteCache&) = delete;

  void Open(const Use& use);
  // Closes the files and returns all memory.
  void Close();

  bool Find(uint64_t key, std::string& bytes) override;
  void Leave(uint64_t key, std::string_view bytes, EarlierNote earlier = EarlierNote::kRightOrNone) override;
  void CountUse() override { uses_.fetch_add(1, std::memory_order_relaxed); }

  bool has_given() const override { return given_ != nullptr && given_->notes() > 0; }
  bool FindGiven(uint64_t key, std::string& bytes) override;

  // From now on keeps at most so many bytes in memory.
  void Shrink(int64_t memory);
  int64_t memory_bytes() const { return memory_bytes_.load(); }
  Report report() const;

 private:
  static constexpr size_t kParts = 16;

  // The records that are written for a note, each for a longer one than the one before, or in place of a wrong one.
  struct OnDisk {
    uint32_t records = 0;
    uint32_t length = 0;  // of the last
  };
  struct Kept {
    std::string bytes;
    std::optional<OnDisk> on_disk = {};  // nullopt: not looked up
  };

  void OpenFolder();
  // Null: there is none, or it cannot be used.
  RecordLog* Log();
  bool FindInMemory(uint64_t key, std::string& bytes) const;
  bool ReadFromDisk(uint64_t key, std::string& bytes);
  void Keep(uint64_t key, std::string_view bytes, EarlierNote earlier);
  // What one more note, or a longer one, takes; false: there is no room.
  bool Reserve(int64_t bytes);
  void Append(uint64_t key, std::string_view bytes, EarlierNote earlier);
  OnDisk FindOnDisk(RecordLog& log, uint64_t key) const;
  void SetOnDisk(uint64_t key, const OnDisk& on_disk);
  void DropDownTo(int64_t bytes);

  MemoryAccount* account_ = nullptr;
  bool open_ = false;
  std::function<int64_t()> taken_;
  std::string folder_;
  std::string content_;
  std::shared_ptr<GivenNotes> given_;
  std::once_flag log_tried_;
  std::unique_ptr<RecordLog> log_;
  std::atomic<RecordLog*> opened_{nullptr};  // log_, once it is there
  std::atomic<int64_t> limit_{0};
  std::atomic<int64_t> memory_bytes_{0};
  std::atomic<uint64_t> uses_{0};
  std::array<std::unordered_map<uint64_t, Kept, SeededHash>, kParts> parts_;
  mutable std::array<std::mutex, kParts> part_mutexes_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_NOTE_CACHE_H_

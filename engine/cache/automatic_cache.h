// `AutomaticCache` chooses a cache point of a map, and keeps rows there for later epochs. A point is a number of steps:
// a row at point p has gone through the first p. The first rows are made in two parts, up to a point and from there on,
// for each point in turn. Their times, and the bytes at each point, determine which point saves the most of an epoch's
// work, or that none is worth its memory. A kept row records its point, so that rows kept earlier can be used whatever
// is chosen later. No result depends on the choice. It also keeps the notes that kernels leave of rows, whatever point
// it chooses, or none: they take so little that the notes of all rows come before the rows of some. Where it may keep
// no rows, because the user's own cache does, or one epoch is run, it may be opened for notes alone.
// Threads: Open, Decline and Close from one thread, the others from any.
#ifndef HEADRACE_ENGINE_CACHE_AUTOMATIC_CACHE_H_
#define HEADRACE_ENGINE_CACHE_AUTOMATIC_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "engine/cache/note_cache.h"
#include "engine/cache/row_cache.h"
#include "engine/operator/operator_properties.h"
#include "ir/type.h"

namespace headrace {

// Chooses among `points` once, when the cache is opened; nullopt, or no function: the first rows show which one pays.
using CachePointChoice = std::function<std::optional<int>(absl::Span<const CachePoint> points)>;

class AutomaticCache {
 public:
  static constexpr int kNoPoint = -1;

  struct Use {
    RowCache::Use rows;
    RowCache::Limits limits;
    // The number of concurrent reads, and of workers.
    double readers = 1;
    double workers = 1;
    CachePointChoice choose_point;
    std::shared_ptr<GivenNotes> notes = {};  // that came with the rows' files; null: none did
  };

  // `name`: of the map, "map[1]".
  AutomaticCache(std::string name, std::vector<CachePoint> points)
      : name_(std::move(name)), points_(std::move(points)) {}

  // Before Open it keeps nothing.
  absl::Status Open(const Use& use);
  // Keeps notes, and no rows. `memory`: bytes for them.
  void OpenForNotes(const Use& use, int64_t memory);
  void Close();
  // Leaves room for so many bytes of the pipeline's budget that operators hold. Safe from any thread.
  void MakeRoom(int64_t held);
  // The reason, for reports, why it is not opened.
  void Decline(std::string why);
  // The reason, for reports, why the folder that the user named is not used; empty: it is used, or none was named.
  void LeaveFolder(std::string why) { no_folder_ = std::move(why); }
  // Null until it is opened, and where only notes are kept.
  const std::shared_ptr<RowCache>& rows() const { return rows_; }
  // Null until it is opened.
  NoteStore* notes() const { return notes_.get(); }
  // Bytes that rows and notes may have together.
  int64_t memory_limit() const { return memory_; }
  const std::vector<CachePoint>& points() const { return points_; }

  // What to do with a row that is not cached.
  struct Turn {
    int point = kNoPoint;   // where to stop on the way; kNoPoint: nowhere
    bool measured = false;  // Add must be called
    bool kept = false;      // offer the row to the cache
  };
  Turn TurnOf(uint64_t key);
  struct Sample {
    uint64_t below_ns = 0;  // cost of the row before the map
    uint64_t rest_ns = 0;   // cost from the point on
    size_t bytes = 0;       // at the point
  };
  // Nullopt: the row failed.
  void Add(int point, const std::optional<Sample>& sample);
  void Offer(uint64_t key, int point, std::vector<Tensor> row, uint64_t cost_ns);
  // The point of a cached row, whose columns alone are left in `row`; kNoPoint: it is no such row.
  int PointOfFound(std::vector<Tensor>& row);

  CacheReport report() const;

 private:
  enum class State { kMeasuring, kChosen, kNone };
  // The cost of a row that is kept at a point: the medians of the samples.
  struct Cost {
    double below_ns = 0, rest_ns = 0, bytes = 0;
  };

  Cost CostAt(size_t point) const;
  // The fraction of an epoch's work that a cache there would save.
  double SavedAt(const Cost& none, const Cost& here) const;
  // Whether it is a row at a point, with that point.
  bool Fits(absl::Span<const Tensor> row) const;
  int PointIn(absl::Span<const Tensor> row) const;
  double WorkOf(const Cost& cost) const { return cost.below_ns / use_.readers + cost.rest_ns / use_.workers; }
  // Leaves room for the notes of all rows, as many and as large as those of the rows seen so far.
  void MakeRoomForNotes();
  // Counts a row, and makes room for notes as more of them are seen.
  void CountSeen();
  void Choose();
  void ChooseNone(std::string why);

  const std::string name_;
  const std::vector<CachePoint> points_;
  Use use_;
  std::string no_folder_;
  std::shared_ptr<RowCache> rows_;
  std::unique_ptr<NoteCache> notes_;
  std::atomic<int64_t> memory_{0};
  std::atomic<State> state_{State::kNone};
  std::atomic<int> chosen_{kNoPoint};
  std::atomic<uint64_t> turns_{0};
  std::atomic<uint64_t> seen_{0};  // rows of all epochs, made and found
  uint64_t wanted_ = 0;            // samples of all points
  mutable std::mutex mutex_;
  std::vector<std::vector<Sample>> samples_;
  uint64_t received_ = 0;
  std::string why_;
  double saved_ns_each_ = 0;  // per cached row
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_AUTOMATIC_CACHE_H_

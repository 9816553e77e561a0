// Chooses by itself where in a map rows are kept for later epochs, and keeps them there. A point is a number of steps:
// a row at point p has gone through the first p. The first rows are made in two goes, up to a point and from there on,
// the points in turn. From what that took and from the bytes at each point follows which point saves the most of an
// epoch's work, or that none is worth its memory. A kept row says at which point it is, so that rows kept earlier serve
// whatever is chosen now. No result depends on the choice.
// Thread contract: Open, Decline and Close from one thread, the others from any.
#ifndef HEADRACE_ENGINE_CACHE_AUTOMATIC_CACHE_H_
#define HEADRACE_ENGINE_CACHE_AUTOMATIC_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/tensor.h"
#include "engine/cache/row_cache.h"
#include "ir/type.h"

namespace headrace {

class AutomaticCache {
 public:
  static constexpr int kNoPoint = -1;

  struct Point {
    std::string after;    // the step before it: "Decode"; "the source"
    std::string columns;  // that a row has there: "0 image, 1 label"
    ir::Schema types = {};
  };
  struct Use {
    RowCache::Use rows;
    RowCache::Limits limits;
    // Rows that are read, and made, at once.
    double readers = 1;
    double workers = 1;
    int forced = kNoPoint;  // keeps rows there and measures nothing
  };

  // `name`: of the map, "map[1]".
  AutomaticCache(std::string name, std::vector<Point> points) : name_(std::move(name)), points_(std::move(points)) {}

  // Until then, it keeps nothing.
  absl::Status Open(const Use& use);
  void Close();
  // Operators hold so many bytes of the pipeline's budget: leaves them room. Safe from any thread.
  void MakeRoom(int64_t held);
  // Says in reports why it is not opened.
  void Decline(std::string why);
  // Says in reports why nothing goes to the folder that the user named; empty: it does, or none was.
  void LeaveFolder(std::string why) { no_folder_ = std::move(why); }
  // Null until it is opened.
  const std::shared_ptr<RowCache>& rows() const { return rows_; }
  const std::vector<Point>& points() const { return points_; }

  // What to do with a row that was not found.
  struct Turn {
    int point = kNoPoint;   // where to stop on the way; kNoPoint: nowhere
    bool measured = false;  // Add is owed
    bool kept = false;      // to be offered
  };
  Turn TurnOf(uint64_t key);
  struct Sample {
    uint64_t below_ns = 0;  // until the row came to the map
    uint64_t rest_ns = 0;   // from the point on
    size_t bytes = 0;       // at the point
  };
  // Nullopt: the row failed.
  void Add(int point, const std::optional<Sample>& sample);
  void Offer(uint64_t key, int point, std::vector<Tensor> row, uint64_t cost_ns);
  // The point of a row that was found, and nothing but its columns in `row`; kNoPoint: it is no such row.
  int PointOfFound(std::vector<Tensor>& row);

  CacheReport report() const;

 private:
  enum class State { kMeasuring, kChosen, kNone };
  // What a row costs where it is kept at a point: the medians of the samples.
  struct Cost {
    double below_ns = 0, rest_ns = 0, bytes = 0;
  };

  Cost CostAt(size_t point) const;
  // Parts of an epoch's work that a cache there would save.
  double SavedAt(const Cost& none, const Cost& here) const;
  // A row of a point, and that point.
  bool Fits(absl::Span<const Tensor> row) const;
  int PointIn(absl::Span<const Tensor> row) const;
  double WorkOf(const Cost& cost) const { return cost.below_ns / use_.readers + cost.rest_ns / use_.workers; }
  void Choose();
  void ChooseNone(std::string why);

  const std::string name_;
  const std::vector<Point> points_;
  Use use_;
  std::string no_folder_;
  std::shared_ptr<RowCache> rows_;
  std::atomic<State> state_{State::kNone};
  std::atomic<int> chosen_{kNoPoint};
  std::atomic<uint64_t> turns_{0};
  uint64_t wanted_ = 0;  // samples of all points
  mutable std::mutex mutex_;
  std::vector<std::vector<Sample>> samples_;
  uint64_t received_ = 0;
  std::string why_;
  double saved_ns_each_ = 0;  // by a row found
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_CACHE_AUTOMATIC_CACHE_H_

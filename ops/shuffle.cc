#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "core/text.h"
#include "engine/operator.h"

namespace headrace {
namespace {

// Sends rows in the order of their keys p + u(p)·window, u drawn from the position p. The buffer is a function of
// positions, so it is never saved: a restart begins at the first position not yet given out and reads at most
// `window` rows again.
class ShuffleOperator : public StreamOperator {
 public:
  explicit ShuffleOperator(const OpArguments& arguments)
      : window_(static_cast<uint64_t>(arguments.attributes.Int("window"))),
        seed_(arguments.seed),
        salt_(arguments.salt),
        cycle_(arguments.epoch_cycle) {}

  // Of the stamps below: rows used of the message after them. Then the position of the row after that, and how many
  // rows were given out.
  int stamp_words() const override { return 3; }

  void Start(uint64_t epoch, absl::Span<const uint64_t> words, const Stamps& inputs) override {
    epoch_ = epoch;
    origin_ = {inputs, words[0]};
    skip_input_ = words[0];
    first_ = position_ = words[1];
    given_ = words[2];
    // What stood before the first position kept is given out; so are this many of those that come now.
    skip_output_ = given_ - first_;
    before_ = {inputs, 0};
  }

  void Receive(int /*input*/, Message message, Outbox& out) override {
    if (ended_ || message->epoch < epoch_) return;
    epoch_ = std::max(epoch_, message->epoch);
    for (int row = 0; row < message->rows(); ++row) {
      Resume before = Before(row);
      if (skip_input_ > 0) {
        --skip_input_;
        continue;
      }
      // Moves a message of one row as it is: the usual case.
      const bool whole = message->rows() == 1 && message->end == End::kNone;
      if (whole) {
        Stamps after = message->stamps;
        Keep(std::move(message), std::move(before));
        before_ = {std::move(after), 0};
        if (owes()) Continue(out);
        return;
      }
      Keep(TakeRow(*message, row), std::move(before));
    }
    if (message->end == End::kError) {
      Keep(MakeErrorMessage(message->epoch, message->stamps, std::move(message->error)), Before(message->rows()));
    }
    before_ = {message->stamps, 0};
    if (message->end == End::kEpoch) {
      ended_ = true;
      end_epoch_ = message->epoch;
    }
    // One row came, so one may go: more is owed only when the epoch ends.
    if (owes()) Continue(out);
  }

  bool owes() const override {
    return ended_ || (!heap_.empty() && heap_.front().key < static_cast<double>(position_));
  }

  void Continue(Outbox& out) override {
    if (heap_.empty()) {
      EndEpoch(out);
      return;
    }
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    Place& place = places_[heap_.back().position - first_];
    heap_.pop_back();
    held_bytes_ -= place.bytes;
    Message message = std::move(place.message);
    DropGone();
    if (skip_output_ > 0) {
      --skip_output_;
      return;
    }
    ++given_;
    message->epoch = epoch_;
    message->stamps = StampsNow();
    out.Give(std::move(message));
  }

  void Finish(uint64_t epoch) override {
    if (epoch_ <= epoch) Clear();
  }
  size_t held_bytes() const override { return held_bytes_; }

 private:
  // Where reading goes on to see a row again: stamps below, and rows to skip of the message after them.
  struct Resume {
    Stamps stamps;
    uint64_t used = 0;
  };
  struct Kept {
    double key;
    uint64_t position;
  };
  struct Place {
    Message message;  // null: gone
    size_t bytes = 0;
    Resume before;
  };

  // The smallest key comes first; equal keys (rounding) go by position.
  static bool Later(const Kept& a, const Kept& b) { return a.key != b.key ? a.key > b.key : a.position > b.position; }

  Resume Before(int row) const { return {before_.stamps, static_cast<uint64_t>(row)}; }

  void Keep(Message message, Resume before) {
    RowRandom random(seed_, salt_, {RowEpochOf(epoch_, cycle_), position_});
    const double key = static_cast<double>(position_) + random.Uniform() * static_cast<double>(window_);
    const size_t bytes = message->footprint();
    held_bytes_ += bytes;
    places_.push_back({std::move(message), bytes, std::move(before)});
    heap_.push_back({key, position_});
    std::push_heap(heap_.begin(), heap_.end(), Later);
    ++position_;
  }

  // Moves the place of resuming up to the first row still kept.
  void DropGone() {
    if (places_.front().message) return;
    while (!places_.empty() && !places_.front().message) {
      places_.pop_front();
      ++first_;
    }
    origin_ = places_.empty() ? before_ : places_.front().before;
  }

  Stamps StampsNow() const {
    Stamps stamps = origin_.stamps;
    stamps.push_back(origin_.used);
    stamps.push_back(first_);
    stamps.push_back(given_);
    return stamps;
  }

  void Clear() {
    heap_.clear();
    places_.clear();
    held_bytes_ = 0;
    first_ = position_;
    skip_output_ = 0;
  }

  void EndEpoch(Outbox& out) {
    out.Give(MakeMark(end_epoch_, StampsNow()));
    Clear();
    ended_ = false;
    epoch_ = end_epoch_ + 1;
    first_ = position_ = given_ = 0;
    before_ = {Stamps(before_.stamps.size(), 0), 0};
    origin_ = before_;
  }

  const uint64_t window_;
  const uint64_t seed_;
  const uint64_t salt_;
  const uint64_t cycle_;
  std::vector<Kept> heap_;
  std::deque<Place> places_;  // of positions first_ … position_ - 1
  uint64_t first_ = 0;
  uint64_t position_ = 0;  // of the next row
  uint64_t given_ = 0;
  uint64_t skip_input_ = 0;
  uint64_t skip_output_ = 0;
  uint64_t epoch_ = 0;
  uint64_t end_epoch_ = 0;
  bool ended_ = false;
  size_t held_bytes_ = 0;
  Resume before_;  // stamps of the last message
  Resume origin_;  // of the first row still kept
};

const OpRegistration registration(
    {
        .name = "shuffle",
        .role = ir::Role::kStream,
        .summary = "Mixes the order of rows within a window.",
        .doc =
            "The row at position p of the epoch gets the key p + u·window with u drawn uniformly from [0, 1), and "
            "rows leave in the order of their keys; at most `window` rows are held. A restart reads at most `window` "
            "rows again. Where a source has an attribute `shuffle` of its own, that one is better: it mixes the "
            "whole epoch and holds nothing.",
        .attributes = {{.name = "window", .doc = "How far a row may move, in rows.", .minimum = 1, .maximum = 1e12}},
        .traits = {.random = true, .one_to_one = true, .by_position = true},
        .python_module = "dataset",
        .example = "ds.shuffle(1000)",
        .infer = ir::PassesSchema(),
        .reads = ir::PassesColumns(),
    },
    {.stream = [](const OpArguments& arguments) -> absl::StatusOr<std::unique_ptr<StreamOperator>> {
      return std::make_unique<ShuffleOperator>(arguments);
    }});

}  // namespace
}  // namespace headrace

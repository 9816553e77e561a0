#include "engine/cache/automatic_cache.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.h"
#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/cache/lower_to.h"
#include "engine/cache/row_record.h"

namespace headrace {
namespace {

// Samples of each point: enough for a median, few beside an epoch.
constexpr uint64_t kMostSamples = 16;
constexpr uint64_t kFewestSamples = 2;
// The part of an epoch's work that a cache must save.
constexpr double kWorthwhile = 0.1;
// What is made as fast as this is not worth looking up.
constexpr double kLightNs = 20'000;
constexpr double kFindNs = 2'000;
constexpr double kReadNsPerByte = 0.25;  // from a file in the page cache
// Notes of later epochs are longer than the first ones by about this factor.
constexpr double kNotesGrow = 1.5;
// Before fewer rows nobody knows how many leave notes.
constexpr uint64_t kFewestRowsSeen = 64;
// The part of the memory that is left for notes at most: the first rows may be uncommon ones.
constexpr double kMostForNotes = 0.875;

template <typename Of>
double Median(const std::vector<AutomaticCache::Sample>& samples, Of of) {
  if (samples.empty()) return 0;
  std::vector<double> values;
  for (const AutomaticCache::Sample& sample : samples) values.push_back(static_cast<double>(of(sample)));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string Percent(double share) { return Cat(std::llround(100 * share), "%"); }

std::string TimeText(double ns) { return SecondsText(ns * 1e-9); }

}  // namespace

absl::Status AutomaticCache::Open(const Use& use) {
  use_ = use;
  rows_ = std::make_shared<RowCache>(name_, true, use.limits);
  notes_ = std::make_unique<NoteCache>();
  use_.rows.fits = [this](absl::Span<const Tensor> row) { return Fits(row); };
  use_.rows.room = [this] { return memory_limit() - notes_->memory_bytes(); };
  HEADRACE_RETURN_IF_ERROR(rows_->Open(use_.rows));
  memory_ = rows_->memory_limit();
  notes_->Open({.account = use_.rows.account,
                .memory = memory_,
                .taken = [rows = rows_] { return rows->memory_bytes(); },
                .folder = use_.limits.folder,
                .content = use_.rows.content,
                .given = use_.notes});
  samples_.resize(points_.size());
  const uint64_t each = std::clamp(use.rows.rows / (4 * points_.size()), kFewestSamples, kMostSamples);
  wanted_ = each * points_.size();
  state_ = State::kMeasuring;
  const std::optional<int> chosen = use.choose_point ? use.choose_point(points_) : std::nullopt;
  if (!chosen.has_value()) return absl::OkStatus();
  chosen_ = std::clamp(*chosen, 0, static_cast<int>(points_.size()) - 1);
  state_ = State::kChosen;
  return absl::OkStatus();
}

void AutomaticCache::OpenForNotes(const Use& use, int64_t memory) {
  use_ = use;
  memory_ = memory;
  notes_ = std::make_unique<NoteCache>();
  notes_->Open({.account = use_.rows.account,
                .memory = memory,
                .folder = use_.limits.folder,
                .content = use_.rows.content,
                .given = use_.notes});
}

void AutomaticCache::Close() {
  if (rows_ != nullptr) rows_->Close();
  if (notes_ != nullptr) notes_->Close();
}

void AutomaticCache::MakeRoom(int64_t held) {
  if (notes_ == nullptr) return;
  const int64_t memory = std::max<int64_t>(0, (use_.rows.budget - held) / 2);
  LowerTo(memory_, memory);
  if (rows_ != nullptr && rows_->on()) rows_->Shrink(memory - notes_->memory_bytes());
  notes_->Shrink(memory);
}

void AutomaticCache::MakeRoomForNotes() {
  const int64_t left = notes_->memory_bytes();
  const uint64_t seen = std::min(seen_.load(std::memory_order_relaxed), use_.rows.rows);
  if (left == 0 || seen == 0 || !rows_->on()) return;
  const double all = kNotesGrow * static_cast<double>(left) * static_cast<double>(use_.rows.rows) / seen;
  const auto memory = static_cast<double>(memory_);
  rows_->Shrink(memory_ - static_cast<int64_t>(std::min(all, kMostForNotes * memory)));
}

void AutomaticCache::CountSeen() {
  const uint64_t seen = seen_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (seen > use_.rows.rows) return;
  const bool doubled = seen >= kFewestRowsSeen && std::has_single_bit(seen);
  if (doubled || seen == use_.rows.rows) MakeRoomForNotes();
}

void AutomaticCache::Decline(std::string why) { why_ = std::move(why); }

AutomaticCache::Turn AutomaticCache::TurnOf(uint64_t key) {
  CountSeen();
  switch (state_.load(std::memory_order_acquire)) {
    case State::kMeasuring: {
      const uint64_t turn = turns_.fetch_add(1, std::memory_order_relaxed);
      if (turn >= wanted_) return {};
      return {.point = static_cast<int>(turn % points_.size()), .measured = true};
    }
    case State::kChosen:
      if (!rows_->Wants(key)) return {};
      return {.point = chosen_.load(std::memory_order_relaxed), .kept = true};
    default:
      return {};
  }
}

void AutomaticCache::Add(int point, const std::optional<Sample>& sample) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sample.has_value()) samples_[static_cast<size_t>(point)].push_back(*sample);
  if (++received_ == wanted_ && state_ == State::kMeasuring) Choose();
}

AutomaticCache::Cost AutomaticCache::CostAt(size_t point) const {
  const std::vector<Sample>& samples = samples_[point];
  return {Median(samples, [](const Sample& sample) { return sample.below_ns; }),
          Median(samples, [](const Sample& sample) { return sample.rest_ns; }),
          Median(samples, [](const Sample& sample) { return sample.bytes; })};
}

double AutomaticCache::SavedAt(const Cost& none, const Cost& here) const {
  const double all = WorkOf(none);
  const double in_memory = rows_->ShareInMemory(here.bytes);
  const double in_files = std::max(0.0, rows_->ShareOnDisk(here.bytes) - in_memory);
  const double saved = all - (here.rest_ns + kFindNs) / use_.workers;
  const double saved_from_file = saved - here.bytes * kReadNsPerByte / use_.workers;
  return (in_memory * saved + in_files * std::max(0.0, saved_from_file)) / all;
}

void AutomaticCache::Choose() {
  const bool all_measured =
      std::none_of(samples_.begin(), samples_.end(), [](const auto& each) { return each.empty(); });
  if (!all_measured) return ChooseNone("as rows failed before their cost was known");
  MakeRoomForNotes();
  const Cost none = CostAt(0);
  const double each_ns = none.below_ns + none.rest_ns;
  if (each_ns < kLightNs) return ChooseNone(Cat("as a row takes only ", TimeText(each_ns), " to make"));
  std::vector<double> saved;
  for (size_t point = 0; point < points_.size(); ++point) saved.push_back(SavedAt(none, CostAt(point)));
  const double most = *std::max_element(saved.begin(), saved.end());
  // Takes the fewest bytes among those that save about as much.
  size_t best = points_.size();
  for (size_t point = 0; point < points_.size(); ++point) {
    if (saved[point] < 0.95 * most) continue;
    if (best == points_.size() || CostAt(point).bytes < CostAt(best).bytes) best = point;
  }
  const Cost here = best < points_.size() ? CostAt(best) : Cost();
  if (most < kWorthwhile) {
    const size_t point = static_cast<size_t>(std::max_element(saved.begin(), saved.end()) - saved.begin());
    return ChooseNone(Cat("as the best point, after ", points_[point].after, ", would save ",
                          Percent(std::max(0.0, most)), " of an epoch's work (a row takes ", TimeText(each_ns),
                          " to make, ", TimeText(CostAt(point).rest_ns), " from there, and ",
                          BytesText(static_cast<int64_t>(CostAt(point).bytes)), " to keep)"));
  }
  why_ = Cat("a row takes ", TimeText(each_ns), " to make, ", TimeText(here.rest_ns), " from here, and ",
             BytesText(static_cast<int64_t>(here.bytes)), " to keep, which saves ", Percent(saved[best]),
             " of an epoch's work");
  saved_ns_each_ = each_ns - here.rest_ns;
  chosen_ = static_cast<int>(best);
  state_.store(State::kChosen, std::memory_order_release);
}

void AutomaticCache::ChooseNone(std::string why) {
  state_.store(State::kNone, std::memory_order_release);
  rows_->TurnOff(std::move(why));
}

void AutomaticCache::Offer(uint64_t key, int point, std::vector<Tensor> row, uint64_t cost_ns) {
  absl::StatusOr<Tensor> at = Tensor::Scalar(static_cast<int64_t>(point));
  if (!at.ok()) return;
  row.push_back(*std::move(at));
  rows_->Offer(key, row, cost_ns);
}

bool AutomaticCache::Fits(absl::Span<const Tensor> row) const {
  const int point = PointIn(row);
  return point != kNoPoint && ir::FitsSchema(points_[static_cast<size_t>(point)].types, row.first(row.size() - 1));
}

int AutomaticCache::PointIn(absl::Span<const Tensor> row) const {
  if (row.empty() || row.back().dtype() != DType::kInt64 || row.back().rank() != 0) return kNoPoint;
  const int64_t point = row.back().value<int64_t>();
  return point < 0 || point >= static_cast<int64_t>(points_.size()) ? kNoPoint : static_cast<int>(point);
}

int AutomaticCache::PointOfFound(std::vector<Tensor>& row) {
  const int point = PointIn(row);
  if (point == kNoPoint) return kNoPoint;
  CountSeen();
  row.pop_back();
  // Rows from before the start settle the point: what was found good then is.
  if (state_.load(std::memory_order_acquire) == State::kMeasuring) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kMeasuring) {
      chosen_ = point;
      why_ = "rows from before are kept there";
      state_.store(State::kChosen, std::memory_order_release);
    }
  }
  return point;
}

CacheReport AutomaticCache::report() const {
  CacheReport report;
  if (rows_ != nullptr) report = rows_->report();
  report.name = name_;
  report.automatic = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  report.point = chosen_ == kNoPoint ? "" : Cat("after ", points_[static_cast<size_t>(chosen_.load())].after);
  report.most_point = Cat("after ", points_.back().after);
  if (rows_ == nullptr) report.off = why_;
  report.why = why_;
  if (notes_ != nullptr) report.notes = notes_->report();
  report.no_folder = no_folder_;
  if (saved_ns_each_ > 0) report.saved_s = saved_ns_each_ * 1e-9 * static_cast<double>(report.hits);
  return report;
}

}  // namespace headrace

#include "engine/exec/read_ahead.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/clock.h"

namespace headrace {
namespace {

// A round lasts at least so long, and until each permitted read was made this many times.
constexpr uint64_t kRoundNs = 25'000'000;
constexpr int kTurns = 4;
// The share of the permitted reads that counts as all of them.
constexpr double kAll = 0.75;
// The share of the cores above which they have no time to spare.
constexpr double kCpuFull = 0.97;
// The speed-up that makes a step up worth it.
constexpr double kGain = 1.1;
// The share of the permitted reads below which a step down is worth it.
constexpr double kLittle = 0.25;
constexpr int kFirstPause = 8;
constexpr int kFirstPatience = 2;
constexpr int kLongest = 1024;
constexpr size_t kMostChanges = 256;

int Doubled(int rounds) { return std::min(2 * rounds, kLongest); }

}  // namespace

ReadAhead::Cpu ReadAhead::ProcessCpu() {
  return {ProcessCpuNs, std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
}

ReadAhead::ReadAhead(int first, int most, Cpu cpu)
    : first_(first),
      most_(most),
      cpu_(std::move(cpu)),
      limit_(first),
      unsettled_(first),
      next_pause_(kFirstPause),
      patience_(kFirstPatience) {}

void ReadAhead::Begin(uint64_t now_ns) {
  round_ = {};
  round_.begin_ns = now_ns;
  round_.last_ns = now_ns;
  round_.begin_cpu_ns = cpu_.used_ns();
}

void ReadAhead::Ended(uint64_t now_ns, uint64_t elapsed_ns, int reads, bool starved) {
  if (unsettled_ > 0) {
    unsettled_ -= reads;
    if (unsettled_ <= 0) Begin(now_ns);
    return;
  }
  round_.reads += reads;
  round_.busy_ns += elapsed_ns;
  // Weights by time, because reads that began together end together.
  if (now_ns > round_.last_ns) {
    if (starved) round_.starved_ns += now_ns - round_.last_ns;
    round_.last_ns = now_ns;
  }
  // Threads report the ends of reads slightly out of order.
  if (round_.reads < kTurns * limit() || now_ns < round_.begin_ns + kRoundNs) return;
  const double wall_ns = static_cast<double>(now_ns - round_.begin_ns);
  Seen seen;
  seen.per_second = static_cast<double>(round_.reads) * 1e9 / wall_ns;
  seen.outstanding = static_cast<double>(round_.busy_ns) / wall_ns;
  seen.cpu = static_cast<double>(cpu_.used_ns() - round_.begin_cpu_ns) / wall_ns / cpu_.cores;
  seen.starved = 2 * static_cast<double>(round_.starved_ns) >= wall_ns;
  seen.all = seen.outstanding >= kAll * limit();
  if (seen.all && seen.starved) short_ns_ += now_ns - round_.begin_ns;
  Begin(now_ns);
  if (Judge(seen, now_ns)) Decide(seen, now_ns);
}

bool ReadAhead::Judge(const Seen& seen, uint64_t now_ns) {
  if (tried_from_ == 0) return true;
  const int from = std::exchange(tried_from_, 0);
  if (!seen.starved || seen.per_second >= kGain * tried_rate_) {
    // The new limit is used for a while before the next step.
    pause_ = 2;
    return true;
  }
  pause_ = next_pause_;
  next_pause_ = Doubled(next_pause_);
  Set(from, seen, now_ns);
  return false;
}

void ReadAhead::Decide(const Seen& seen, uint64_t now_ns) {
  if (pause_ > 0) --pause_;
  if (seen.starved && seen.all) {
    low_rounds_ = 0;
    if (limit() == most_ || pause_ > 0 || seen.cpu >= kCpuFull) return;
    if (std::exchange(came_down_, false)) patience_ = Doubled(patience_);
    tried_from_ = limit();
    tried_rate_ = seen.per_second;
    Set(std::min(2 * limit(), most_), seen, now_ns);
    return;
  }
  low_rounds_ = seen.outstanding < kLittle * limit() ? low_rounds_ + 1 : 0;
  if (limit() == first_ || low_rounds_ < patience_) return;
  low_rounds_ = 0;
  came_down_ = true;
  Set(std::max(limit() / 2, first_), seen, now_ns);
}

void ReadAhead::Set(int limit, const Seen& seen, uint64_t now_ns) {
  unsettled_ = std::max(limit, this->limit());
  limit_.store(limit, std::memory_order_relaxed);
  if (changes_.size() < kMostChanges) changes_.push_back({now_ns, limit, seen.per_second});
}

}  // namespace headrace

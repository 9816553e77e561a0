// The method against a simulated disk and a simulated stage above: no threads, and no time that passes.
#include "engine/exec/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <queue>

namespace headrace {
namespace {

constexpr int kFirst = 8;
constexpr int kMost = 64;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int kWindow = 128;

struct Machine {
  double read_s = 0.01;         // of one read
  double disk_rate = 1e9;       // reads a second that the disk gives at most
  double consumer_rate = 1400;  // rows a second that the stage above takes
  double cpu = 0.6;             // share of the cores in use
};

// Reads as many as the limit and the window allow; the stage above takes them at its pace.
class Simulated : public ::testing::Test {
 protected:
  // Rows a second that the stage above got.
  double Run(const Machine& machine, double seconds) {
    machine_ = machine;
    const uint64_t until = now_ + static_cast<uint64_t>(seconds * kSecond);
    const int64_t before = taken_;
    next_take_ = now_;
    while (now_ < until) {
      while (static_cast<int>(ends_.size()) < read_ahead_.limit() &&
             static_cast<int>(ends_.size()) + queued_ < kWindow) {
        BeginRead();
      }
      const uint64_t end = ends_.empty() ? until : ends_.top().first;
      if (queued_ > 0 && next_take_ <= end) {
        Advance(std::max(now_, next_take_));
        next_take_ = now_ + static_cast<uint64_t>(kSecond / machine.consumer_rate);
        --queued_;
        ++taken_;
        continue;
      }
      if (ends_.empty()) break;
      Advance(end);
      EndRead();
    }
    return static_cast<double>(taken_ - before) / seconds;
  }
  int limit() const { return read_ahead_.limit(); }
  size_t changes() const { return read_ahead_.changes().size(); }
  double short_s() const { return static_cast<double>(read_ahead_.short_ns()) / kSecond; }

 private:
  void Advance(uint64_t to) {
    cpu_ns_ += static_cast<uint64_t>(static_cast<double>(to - now_) * machine_.cpu * 2);
    now_ = to;
  }
  void BeginRead() {
    const auto in = [](double seconds) { return static_cast<uint64_t>(seconds * kSecond); };
    last_end_ = std::max(now_ + in(machine_.read_s), last_end_ + in(1 / machine_.disk_rate));
    ends_.push({last_end_, now_});
  }
  void EndRead() {
    const uint64_t elapsed = now_ - ends_.top().second;
    ends_.pop();
    ++queued_;
    read_ahead_.Ended(now_, elapsed, 1, queued_ <= kWindow / 16);
  }

  Machine machine_;
  uint64_t now_ = kSecond;
  uint64_t cpu_ns_ = 0;
  ReadAhead read_ahead_{kFirst, kMost, {[this] { return cpu_ns_; }, 2}};
  using Read = std::pair<uint64_t, uint64_t>;  // end, begin
  std::priority_queue<Read, std::vector<Read>, std::greater<>> ends_;
  uint64_t last_end_ = 0;
  uint64_t next_take_ = 0;
  int queued_ = 0;
  int64_t taken_ = 0;
};

TEST_F(Simulated, FewReadsAreEnoughForTheWarmPageCache) {
  Run({.read_s = 50e-6}, 60);
  EXPECT_EQ(limit(), kFirst);
  EXPECT_EQ(changes(), 0u);
}

TEST_F(Simulated, AsManyAsTheStageAboveNeedsOfASlowDisk) {
  Run({.read_s = 0.01}, 1);
  EXPECT_GT(Run({.read_s = 0.01}, 10), 1390);
  EXPECT_EQ(limit(), 16);
  EXPECT_EQ(changes(), 1u);
  EXPECT_LT(short_s(), 0.2);
}

TEST_F(Simulated, NeverMoreThanTheMost) {
  Run({.read_s = 0.2}, 60);
  EXPECT_EQ(limit(), kMost);
  EXPECT_EQ(changes(), 3u);
  EXPECT_GT(short_s(), 50);
}

TEST_F(Simulated, AStepThatDoesNotHelpIsTakenBackAndTriedEverMoreSeldom) {
  const Machine machine = {.read_s = 0.01, .disk_rate = 500};
  EXPECT_GT(Run(machine, 60), 490);
  EXPECT_EQ(limit(), kFirst);
  const size_t minute = changes();
  EXPECT_GE(minute, 4u);
  Run(machine, 540);
  EXPECT_EQ(limit(), kFirst);
  EXPECT_LT(changes(), 3 * minute);
}

TEST_F(Simulated, NoneIsTriedWhereTheCoresAreBusy) {
  Run({.read_s = 0.01, .cpu = 1}, 60);
  EXPECT_EQ(changes(), 0u);
}

TEST_F(Simulated, FewAgainWhenTheDiskIsQuickAgain) {
  Run({.read_s = 0.1}, 20);
  ASSERT_EQ(limit(), kMost);
  Run({.read_s = 50e-6}, 20);
  EXPECT_EQ(limit(), kFirst);
}

TEST_F(Simulated, APauseOfTheLoopChangesNothing) {
  Run({.read_s = 0.03}, 20);
  ASSERT_EQ(limit(), kMost);
  const size_t before = changes();
  Run({.read_s = 0.03, .consumer_rate = 0.1}, 10);
  Run({.read_s = 0.03}, 2);
  EXPECT_EQ(changes(), before);
}

TEST_F(Simulated, ADiskThatChangesAllTheTimeIsFollowedEverMoreSeldom) {
  size_t first = 0;
  for (int phase = 0; phase < 400; ++phase) {
    Run({.read_s = phase % 2 == 0 ? 0.04 : 0.001}, 1);
    if (phase == 99) first = changes();
  }
  EXPECT_LT(changes() - first, first);
}

}  // namespace
}  // namespace headrace

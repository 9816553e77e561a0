// `ReadAhead` chooses how many reads of a source may be outstanding, while it runs: as many as keep the stage above
// supplied, and no more than help. A thread that waits for a disk costs little, but threads that compete for a core
// cost much.
//
// The limit rises by doubling. Reads are counted in rounds. If all permitted reads were outstanding in a round, the
// rows read ahead were used up and the cores had time to spare, the limit is doubled. The next round decides whether
// the step is kept: reads must be at least a tenth faster, or no longer the bottleneck. Otherwise the step is reverted,
// and each such failure doubles the number of rounds until the next try. If rounds need less than a quarter of the
// permitted reads, the limit is halved; the number of rounds that this takes rises each time the limit has to rise
// again. So steps become ever rarer, and the limit settles. It changes when rows arrive, never which rows.
//
// Threads: Ended and changes under a lock of the caller's; limit from any thread.
#ifndef HEADRACE_ENGINE_EXEC_READ_AHEAD_H_
#define HEADRACE_ENGINE_EXEC_READ_AHEAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace headrace {

class ReadAhead {
 public:
  // CPU time of the process so far, and the cores that it may use.
  struct Cpu {
    std::function<uint64_t()> used_ns;
    int cores = 1;
  };
  // The processor time of this process.
  static Cpu ProcessCpu();

  // The limit is from `first` to `most`; if they are equal, this only measures.
  ReadAhead(int first, int most, Cpu cpu = ProcessCpu());

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  int most() const { return most_; }
  // `reads` consecutive reads ended, which took `elapsed_ns` together. `starved`: even with them, few of the rows read
  // ahead are left.
  void Ended(uint64_t now_ns, uint64_t elapsed_ns, int reads, bool starved);

  struct Change {
    uint64_t at_ns;
    int limit;          // from now on
    double per_second;  // reads a second in the round before
  };
  // The first changes, up to a few hundred.
  const std::vector<Change>& changes() const { return changes_; }
  // How long all permitted reads were outstanding and the rows read ahead were used up: reads were too slow.
  uint64_t short_ns() const { return short_ns_; }

 private:
  struct Round {
    uint64_t begin_ns = 0;
    uint64_t begin_cpu_ns = 0;
    uint64_t busy_ns = 0;
    int64_t reads = 0;
    uint64_t last_ns = 0;  // end of its last read
    uint64_t starved_ns = 0;
  };
  // The result of a round.
  struct Seen {
    double per_second;
    double outstanding;  // mean
    double cpu;          // share of all cores
    bool starved;
    bool all;  // all permitted reads were outstanding
  };

  void Begin(uint64_t now_ns);
  void Decide(const Seen& seen, uint64_t now_ns);
  // Whether the step that was tried stays.
  bool Judge(const Seen& seen, uint64_t now_ns);
  void Set(int limit, const Seen& seen, uint64_t now_ns);

  const int first_;
  const int most_;
  const Cpu cpu_;
  std::atomic<int> limit_;
  Round round_;
  int64_t unsettled_;      // reads that are not counted: begun under another limit, or before there was a pace
  int tried_from_ = 0;     // the limit before the step on trial; 0: none is on trial
  double tried_rate_ = 0;  // reads a second before it
  int pause_ = 0;          // rounds until the next step up
  int next_pause_;
  int low_rounds_ = 0;  // consecutive ones that needed far fewer reads
  int patience_;        // low rounds required before a step down
  bool came_down_ = false;
  uint64_t short_ns_ = 0;
  std::vector<Change> changes_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_READ_AHEAD_H_

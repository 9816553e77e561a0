// How many reads of a source may be outstanding, chosen while it runs: as many as keep the stage above supplied, and
// no more than help, for a thread that waits for a disk costs little, but threads that fight for a core cost much.
//
// The method climbs by doubling. Reads are counted in rounds. A round in which every permitted read was outstanding,
// what was read ahead was used up and cores had time to spare asks for twice as many; the next round shows whether
// that was worth it: reads came at least a tenth faster, or are the limit no longer. If not, the step is taken back,
// and each such failure doubles the rounds until the next try. Where rounds need less than a quarter of what is
// permitted, it is halved, after more rounds each time it has to climb again. So steps become ever rarer: it settles.
// The results do not depend on it, only when they are there.
//
// Thread contract: Ended and changes under a lock of the caller's; limit from any thread.
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
  // This process's.
  static Cpu ProcessCpu();

  // From `first` to `most`; where they are equal, it only measures.
  ReadAhead(int first, int most, Cpu cpu = ProcessCpu());

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  int most() const { return most_; }
  // `reads` made one after the other ended; they took `elapsed_ns` together. `starved`: with them, little is there that
  // was read ahead.
  void Ended(uint64_t now_ns, uint64_t elapsed_ns, int reads, bool starved);

  struct Change {
    uint64_t at_ns;
    int limit;          // from now on
    double per_second;  // reads in the round before
  };
  // The first ones, up to a few hundred.
  const std::vector<Change>& changes() const { return changes_; }
  // How long all permitted reads were outstanding and what was read ahead was used up: reads were too slow.
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
  // What a round came to.
  struct Seen {
    double per_second;
    double outstanding;  // mean
    double cpu;          // part of all cores
    bool starved;
    bool all;  // permitted reads were outstanding
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
  int64_t unsettled_;      // reads begun under another limit, or before there was a pace: not counted
  int tried_from_ = 0;     // the limit before the step that is on trial; 0: none is
  double tried_rate_ = 0;  // reads a second before it
  int pause_ = 0;          // rounds until the next step up
  int next_pause_;
  int low_rounds_ = 0;  // in which much less was needed
  int patience_;        // such rounds until a step down
  bool came_down_ = false;
  uint64_t short_ns_ = 0;
  std::vector<Change> changes_;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_READ_AHEAD_H_

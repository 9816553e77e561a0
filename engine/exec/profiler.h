// `Profiler` records when every task ran, and how full the connectors and the memory were when it ended. Each thread
// has a buffer of its own with a fixed bound: what does not fit is left out and counted, so memory is bounded however
// long a run is.
// Threads: TaskEnded and LoopWaited from any thread; without a lock, except for the first note of a thread, or if one
// thread serves several profiled pipelines in turn. Take when no thread works for the pipeline any more.
#ifndef HEADRACE_ENGINE_EXEC_PROFILER_H_
#define HEADRACE_ENGINE_EXEC_PROFILER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace headrace {

class MemoryAccount;
class Stage;

// Times are nanoseconds since the profiler was made.
struct TaskEvent {
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t first;  // number of its first message; kNoNumber if the stage takes numbers while it runs
  uint32_t stage;  // index in Profile::stages; stages.size(): it waited for data, as the user's loop does
  uint32_t count;  // messages
};

struct LevelSample {
  uint64_t ns;
  int64_t level;   // messages, or bytes of memory
  uint32_t stage;  // the connector's stage; stages.size(): the memory that the pipeline holds
};

// A batch on its way over a device, in order; kNever: not within the run.
struct DeviceBatchTimes {
  static constexpr uint64_t kNever = ~uint64_t{0};

  uint64_t copy_ns;               // its copy was started
  uint64_t copied_ns = kNever;    // and seen to be done
  uint64_t filled_ns = kNever;    // and what the device does after it, too
  uint64_t given_ns = kNever;     // handed over to the loop
  uint64_t released_ns = kNever;  // nobody holds it any more
};

// The profile of one run, for reports.
struct Profile {
  struct Thread {
    std::string name;  // "worker 1", "file reader 3", "Python thread 1", "device thread 1", "user's loop"
    std::vector<TaskEvent> tasks;
    std::vector<LevelSample> levels;
  };
  std::vector<std::string> stages;  // the user's end first, as in Report
  std::vector<Thread> threads;
  std::string device;  // that batches were sent to; empty: none
  std::vector<DeviceBatchTimes> batches;
  uint64_t start_ns = 0;  // the moment 0, as NowNs has it
  uint64_t wall_ns = 0;   // from the making of the profiler until Take
  uint64_t dropped_tasks = 0;
  uint64_t dropped_levels = 0;
  uint64_t dropped_batches = 0;

  bool IsLoop(const TaskEvent& task) const { return task.stage == stages.size(); }
  bool IsMemory(const LevelSample& sample) const { return sample.stage == stages.size(); }
};

class Profiler {
 public:
  static constexpr uint64_t kNoNumber = ~uint64_t{0};

  // The shortest time between two samples of a level by a thread, because levels change too fast to record them all.
  static constexpr uint64_t kLevelsEveryNs = 20'000;

  // `tasks`: the most tasks that the buffer of a thread holds, and the most levels.
  Profiler(std::vector<const Stage*> stages, const MemoryAccount* account, int64_t tasks);
  ~Profiler();
  Profiler(const Profiler&) = delete;

  // Called by the thread that ran the task. Times are those of NowNs.
  void TaskEnded(Stage& stage, uint64_t first, int count, uint64_t start_ns, uint64_t end_ns);
  // Called by the user's thread, or that of a device's queue, which was in Next for so long, and may have popped from
  // the connector of `result`.
  void LoopWaited(Stage& result, uint64_t start_ns, uint64_t end_ns);

  Profile Take() const;

 private:
  struct Lane;
  Lane& MyLane();
  Lane& RegisterLane();
  uint32_t NumberOf(const Stage* stage) const;
  void NoteTask(Lane& lane, const TaskEvent& task) const;
  void NoteLevel(Lane& lane, Stage& stage, uint64_t ns) const;
  void NoteMemory(Lane& lane, uint64_t ns) const;
  void NoteSample(Lane& lane, const LevelSample& sample) const;
  // Whether the time for the next sample has come.
  bool Due(Lane& lane, uint32_t series, uint64_t ns) const;

  const std::vector<const Stage*> stages_;
  const MemoryAccount* const account_;
  const size_t most_tasks_;
  const uint64_t serial_;  // distinguishes it from earlier profilers at the same address
  const uint64_t start_ns_;
  mutable std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<Lane>> lanes_;
  std::vector<const Lane*> order_;  // in order of their first note
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_PROFILER_H_

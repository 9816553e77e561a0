#include "engine/exec/profiler.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <string_view>

#include "core/clock.h"
#include "core/text.h"
#include "engine/exec/stage.h"

namespace headrace {
namespace {

std::atomic<uint64_t> last_serial{0};

// The role of this thread, from the name that its pool gave it.
std::string_view RoleOfThisThread() {
  char name[32] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  const std::string_view pool(name);
  if (pool == "headrace-cpu") return "worker";
  if (pool == "headrace-io") return "file reader";
  if (pool == "headrace-python") return "Python thread";
  if (pool == "headrace-device") return "device thread";
  return "user's loop";
}

// Grows by whole pages and never moves items, so that no note takes longer than another.
template <typename T>
class Pages {
 public:
  void Add(const T& item) {
    if (pages_.empty() || pages_.back().size() == kPage) pages_.emplace_back().reserve(kPage);
    pages_.back().push_back(item);
    ++size_;
  }
  size_t size() const { return size_; }
  std::vector<T> Joined() const {
    std::vector<T> joined;
    joined.reserve(size_);
    for (const std::vector<T>& page : pages_) joined.insert(joined.end(), page.begin(), page.end());
    return joined;
  }

 private:
  static constexpr size_t kPage = 512;
  std::vector<std::vector<T>> pages_;
  size_t size_ = 0;
};

}  // namespace

struct Profiler::Lane {
  std::string_view role;
  Pages<TaskEvent> tasks;
  Pages<LevelSample> levels;
  std::vector<uint64_t> due_ns;  // when each level is sampled next
  uint64_t dropped_tasks = 0;
  uint64_t dropped_levels = 0;
};

Profiler::Profiler(std::vector<const Stage*> stages, const MemoryAccount* account, int64_t tasks)
    : stages_(std::move(stages)),
      account_(account),
      most_tasks_(static_cast<size_t>(std::max<int64_t>(1, tasks))),
      serial_(last_serial.fetch_add(1, std::memory_order_relaxed) + 1),
      start_ns_(NowNs()) {}

Profiler::~Profiler() = default;

Profiler::Lane& Profiler::MyLane() {
  struct Last {
    uint64_t serial = 0;
    Lane* lane = nullptr;
  };
  thread_local Last last;
  if (last.serial != serial_) last = {serial_, &RegisterLane()};
  return *last.lane;
}

Profiler::Lane& Profiler::RegisterLane() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Lane>& lane = lanes_[std::this_thread::get_id()];
  if (!lane) {
    lane = std::make_unique<Lane>();
    lane->role = RoleOfThisThread();
    lane->due_ns.assign(stages_.size() + 1, 0);
    order_.push_back(lane.get());
  }
  return *lane;
}

uint32_t Profiler::NumberOf(const Stage* stage) const {
  return static_cast<uint32_t>(std::find(stages_.begin(), stages_.end(), stage) - stages_.begin());
}

void Profiler::NoteTask(Lane& lane, const TaskEvent& task) const {
  if (lane.tasks.size() < most_tasks_) {
    lane.tasks.Add(task);
  } else {
    ++lane.dropped_tasks;
  }
}

bool Profiler::Due(Lane& lane, uint32_t series, uint64_t ns) const {
  if (ns < lane.due_ns[series]) return false;
  lane.due_ns[series] = ns + kLevelsEveryNs;
  return true;
}

void Profiler::NoteSample(Lane& lane, const LevelSample& sample) const {
  if (lane.levels.size() < most_tasks_) {
    lane.levels.Add(sample);
  } else {
    ++lane.dropped_levels;
  }
}

void Profiler::NoteLevel(Lane& lane, Stage& stage, uint64_t ns) const {
  const uint32_t number = NumberOf(&stage);
  if (Due(lane, number, ns)) NoteSample(lane, {ns, stage.output().queued(), number});
}

void Profiler::NoteMemory(Lane& lane, uint64_t ns) const {
  const uint32_t number = static_cast<uint32_t>(stages_.size());
  if (Due(lane, number, ns)) NoteSample(lane, {ns, account_->held(), number});
}

void Profiler::TaskEnded(Stage& stage, uint64_t first, int count, uint64_t start_ns, uint64_t end_ns) {
  Lane& lane = MyLane();
  const uint64_t end = end_ns - start_ns_;
  NoteTask(lane, {start_ns - start_ns_, end, first, NumberOf(&stage), static_cast<uint32_t>(count)});
  NoteLevel(lane, stage, end);
  for (Stage* input : stage.inputs()) NoteLevel(lane, *input, end);
  NoteMemory(lane, end);
}

void Profiler::LoopWaited(Stage& result, uint64_t start_ns, uint64_t end_ns) {
  Lane& lane = MyLane();
  const uint64_t end = end_ns - start_ns_;
  NoteTask(lane, {start_ns - start_ns_, end, kNoNumber, static_cast<uint32_t>(stages_.size()), 0});
  NoteLevel(lane, result, end);
}

Profile Profiler::Take() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Profile profile;
  profile.start_ns = start_ns_;
  profile.wall_ns = NowNs() - start_ns_;
  for (const Stage* stage : stages_) profile.stages.push_back(stage->plan().name);
  std::map<std::string_view, int> seen;
  for (const Lane* lane : order_) {
    Profile::Thread thread;
    const int number = ++seen[lane->role];
    thread.name = lane->role == "user's loop" && number == 1 ? std::string(lane->role) : Cat(lane->role, " ", number);
    thread.tasks = lane->tasks.Joined();
    thread.levels = lane->levels.Joined();
    profile.threads.push_back(std::move(thread));
    profile.dropped_tasks += lane->dropped_tasks;
    profile.dropped_levels += lane->dropped_levels;
  }
  std::sort(profile.threads.begin(), profile.threads.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.name.size(), a.name) < std::make_pair(b.name.size(), b.name);
  });
  return profile;
}

}  // namespace headrace

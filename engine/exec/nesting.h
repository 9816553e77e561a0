// `Nesting` tracks which pipelines a thread works for, so that Close does not wait for its own thread: those whose
// tasks the thread runs (several, if a Python function iterates over another pipeline), and those within whose tasks
// these pipelines were made.
// Threads: all methods from any thread; a TaskOf belongs to the thread that made it.
#ifndef HEADRACE_ENGINE_EXEC_NESTING_H_
#define HEADRACE_ENGINE_EXEC_NESTING_H_

#include <atomic>
#include <memory>
#include <utility>

namespace headrace {

// The position of one pipeline among nested ones.
class Nesting {
 public:
  // Within the task that the calling thread runs, if any.
  Nesting() : level_(std::make_shared<Level>()) {
    if (innermost_ != nullptr) level_->within = innermost_->nesting_.level_;
  }
  Nesting(const Nesting&) = delete;

  // Exists while the thread runs a task of the pipeline.
  class TaskOf {
   public:
    explicit TaskOf(const Nesting& nesting) : nesting_(nesting), outer_(std::exchange(innermost_, this)) {}
    ~TaskOf() { innermost_ = outer_; }
    TaskOf(const TaskOf&) = delete;

   private:
    friend class Nesting;
    const Nesting& nesting_;
    const TaskOf* const outer_;
  };

  // Between SetEnding and SetOver, a thread may be waiting for the pipeline's tasks.
  void SetEnding() { level_->ending.store(true); }
  void SetOver() { level_->ending.store(false); }
  // Whether the calling thread works for this pipeline.
  bool WorksHere() const {
    return AnyHere([this](const Level& level) { return &level == level_.get(); });
  }
  // Whether the calling thread runs a task of a pipeline that is closing. If several pipelines end each other from
  // within, the last one that called SetEnding sees this, and does not wait.
  static bool WorksForEnding() {
    return AnyHere([](const Level& level) { return level.ending.load(); });
  }

 private:
  struct Level {
    std::atomic<bool> ending{false};
    std::shared_ptr<const Level> within;
  };

  template <typename Is>
  static bool AnyHere(Is is) {
    for (const TaskOf* task = innermost_; task != nullptr; task = task->outer_) {
      for (const Level* level = task->nesting_.level_.get(); level != nullptr; level = level->within.get()) {
        if (is(*level)) return true;
      }
    }
    return false;
  }

  const std::shared_ptr<Level> level_;
  static inline thread_local const TaskOf* innermost_ = nullptr;
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_NESTING_H_

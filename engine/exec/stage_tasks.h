// `StageTasks` owns the tasks of a stage, running and unused, and describes the running ones. Use it to claim a task,
// and to say what a stalled pipeline works on.
// Threads: under the stage's lock.
#ifndef HEADRACE_ENGINE_EXEC_STAGE_TASKS_H_
#define HEADRACE_ENGINE_EXEC_STAGE_TASKS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/exec/task.h"

namespace headrace {

class StageTasks {
 public:
  // The task that runs next; made by `make` if all run.
  Task& Next(const std::function<std::unique_ptr<Task>()>& make);
  // The task that Next returned runs from now on.
  void Began(Task& task);
  void Ended(Task& task);
  // What runs and since when, one line each; empty: nothing. `stage` names the stage.
  std::vector<std::string> DescribeRunning(std::string_view stage) const;

 private:
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Task*> free_;  // has room for all of tasks_
};

}  // namespace headrace

#endif  // HEADRACE_ENGINE_EXEC_STAGE_TASKS_H_

#include "engine/exec/stage_tasks.h"

#include <utility>

#include "core/clock.h"
#include "core/printable.h"
#include "core/text.h"

namespace headrace {
namespace {

std::string DescribeTask(std::string_view stage, const Task& task) {
  const double seconds = static_cast<double>(NowNs() - task.since_ns) * 1e-9;
  std::string line = Cat(stage, " has worked for ", seconds, " s");
  const WorkedRows& worked = task.worked;
  if (worked.known == WorkedRows::Known::kRow) Append(line, " on the row ", DescribeRowId(worked.id));
  if (worked.known == WorkedRows::Known::kPosition) {
    Append(line, " on position ", worked.id.key, " of epoch ", worked.id.epoch);
  }
  if (worked.more > 0) Append(line, " or one of the ", worked.more, " after it");
  const std::string provenance = Printable(DescribeProvenance(worked.provenance));
  if (!provenance.empty()) Append(line, " (", provenance, ")");
  return line;
}

}  // namespace

Task& StageTasks::Next(const std::function<std::unique_ptr<Task>()>& make) {
  if (free_.empty()) {
    free_.reserve(tasks_.size() + 1);
    tasks_.push_back(make());
    free_.push_back(tasks_.back().get());
  }
  return *free_.back();
}

void StageTasks::Began(Task& task) {
  free_.pop_back();
  task.running = true;
  task.since_ns = NowNs();
}

void StageTasks::Ended(Task& task) {
  task.running = false;
  task.worked = {};
  free_.push_back(&task);
}

std::vector<std::string> StageTasks::DescribeRunning(std::string_view stage) const {
  std::vector<std::string> lines;
  for (const auto& task : tasks_) {
    if (task->running) lines.push_back(DescribeTask(stage, *task));
  }
  return lines;
}

}  // namespace headrace

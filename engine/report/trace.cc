#include "engine/report/trace.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/printable.h"
#include "core/text.h"
#include "engine/report/decimal.h"

namespace headrace {
namespace {

constexpr int kThreads = 1;
constexpr int kConnectors = 2;
constexpr int kDevice = 3;

std::string Microseconds(uint64_t ns) { return Decimal(static_cast<double>(ns) * 1e-3, 3); }

std::string Quoted(std::string_view text) { return JsonText(Printable(text)); }

class TraceWriter {
 public:
  void Name(std::string_view kind, int process, size_t thread, std::string_view name) {
    Begin();
    Append(text_, R"({"ph":"M","name":")", kind, R"(","pid":)", process, R"(,"tid":)", thread, R"(,"args":{"name":)",
           Quoted(name), "}}");
  }
  void Order(size_t thread) {
    Begin();
    Append(text_, R"({"ph":"M","name":"thread_sort_index","pid":)", kThreads, R"(,"tid":)", thread,
           R"(,"args":{"sort_index":)", thread, "}}");
  }
  void Task(std::string_view name, size_t thread, const TaskEvent& task, bool wait) {
    Begin();
    Append(text_, R"({"ph":"X","name":)", Quoted(name), R"(,"cat":")", wait ? "wait" : "task", R"(","pid":)", kThreads,
           R"(,"tid":)", thread, R"(,"ts":)", Microseconds(task.start_ns), R"(,"dur":)",
           Microseconds(task.end_ns - task.start_ns));
    if (!wait) {
      Append(text_, R"(,"args":{"messages":)", task.count);
      if (task.first != Profiler::kNoNumber) Append(text_, R"(,"first":)", task.first);
      text_ += '}';
    }
    text_ += '}';
  }
  void Level(std::string_view name, int process, uint64_t ns, std::string_view unit, int64_t value) {
    Begin();
    Append(text_, R"({"ph":"C","name":)", Quoted(name), R"(,"pid":)", process, R"(,"tid":0,"ts":)", Microseconds(ns),
           R"(,"args":{")", unit, R"(":)", value, "}}");
  }
  // A part of the way of a batch. Those of different batches overlap, so each batch has a line of its own.
  void Part(std::string_view name, size_t batch, uint64_t start_ns, uint64_t end_ns) {
    for (const auto& [kind, ns] : {std::pair('b', start_ns), std::pair('e', end_ns)}) {
      Begin();
      Append(text_, R"({"ph":")", std::string(1, kind), R"(","cat":"batches","name":")", name, R"(","id":)", batch,
             R"(,"pid":)", kDevice, R"(,"tid":0,"ts":)", Microseconds(ns), "}");
    }
  }
  std::string Finish(const Profile& profile) {
    return Cat(R"({"traceEvents":[)", text_, "\n", R"(],"displayTimeUnit":"ms","otherData":{"wall_us":)",
               Microseconds(profile.wall_ns), R"(,"dropped_tasks":)", profile.dropped_tasks, R"(,"dropped_levels":)",
               profile.dropped_levels, R"(,"dropped_batches":)", profile.dropped_batches, "}}\n");
  }

 private:
  void Begin() { text_ += text_.empty() ? "\n" : ",\n"; }
  std::string text_;
};

void WriteThreads(const Profile& profile, TraceWriter& writer) {
  writer.Name("process_name", kThreads, 0, "threads");
  for (size_t i = 0; i < profile.threads.size(); ++i) {
    const Profile::Thread& thread = profile.threads[i];
    writer.Name("thread_name", kThreads, i + 1, thread.name);
    writer.Order(i + 1);
    for (const TaskEvent& task : thread.tasks) {
      const bool wait = profile.IsLoop(task);
      writer.Task(wait ? "waits for data" : std::string_view(profile.stages[task.stage]), i + 1, task, wait);
    }
  }
}

void WriteLevels(const Profile& profile, TraceWriter& writer) {
  writer.Name("process_name", kConnectors, 0, "connectors");
  std::vector<std::string> names;
  for (const std::string& stage : profile.stages) names.push_back(Cat("queue after ", stage));
  for (const std::string& name : names) writer.Level(name, kConnectors, 0, "messages", 0);
  for (const Profile::Thread& thread : profile.threads) {
    for (const LevelSample& sample : thread.levels) {
      if (profile.IsMemory(sample)) {
        writer.Level("memory held", kConnectors, sample.ns, "bytes", sample.level);
      } else {
        writer.Level(names[sample.stage], kConnectors, sample.ns, "messages", sample.level);
      }
    }
  }
}

void WriteDevice(const Profile& profile, TraceWriter& writer) {
  if (profile.device.empty()) return;
  writer.Name("process_name", kDevice, 0, Cat("batches on ", profile.device));
  for (size_t i = 0; i < profile.batches.size(); ++i) {
    const DeviceBatchTimes& batch = profile.batches[i];
    // What did not end lasts until the end of the run.
    const uint64_t released = std::min(batch.released_ns, profile.wall_ns);
    const uint64_t given = std::min(batch.given_ns, released);
    writer.Part("copy", i, batch.copy_ns, std::min(batch.copied_ns, released));
    const uint64_t filled = std::min(batch.filled_ns, released);
    if (batch.copied_ns < filled) writer.Part("steps", i, batch.copied_ns, filled);
    // A loop may take a batch before it is seen to be filled.
    if (batch.filled_ns < given) writer.Part("ready", i, batch.filled_ns, given);
    if (batch.given_ns < released) writer.Part("with the loop", i, batch.given_ns, released);
  }
}

}  // namespace

std::string ChromeTrace(const Profile& profile) {
  TraceWriter writer;
  WriteThreads(profile, writer);
  WriteLevels(profile, writer);
  WriteDevice(profile, writer);
  return writer.Finish(profile);
}

}  // namespace headrace

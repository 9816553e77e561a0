#include "engine/report/trace.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/text.h"

namespace headrace {
namespace {

constexpr int kThreads = 1;
constexpr int kConnectors = 2;

double Microseconds(uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

class TraceWriter {
 public:
  void Name(std::string_view kind, int process, size_t thread, std::string_view name) {
    Begin();
    absl::StrAppendFormat(&text_, R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}})", ToAbsl(kind),
                          process, thread, Quoted(name));
  }
  void Order(size_t thread) {
    Begin();
    absl::StrAppendFormat(&text_, R"({"ph":"M","name":"thread_sort_index","pid":%d,"tid":%d,"args":{"sort_index":%d}})",
                          kThreads, thread, thread);
  }
  void Task(std::string_view name, size_t thread, const TaskEvent& task, bool wait) {
    Begin();
    absl::StrAppendFormat(&text_, R"({"ph":"X","name":%s,"cat":"%s","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f)",
                          Quoted(name), wait ? "wait" : "task", kThreads, thread, Microseconds(task.start_ns),
                          Microseconds(task.end_ns - task.start_ns));
    if (!wait) {
      absl::StrAppendFormat(&text_, R"(,"args":{"messages":%d)", task.count);
      if (task.first != Profiler::kNoNumber) absl::StrAppendFormat(&text_, R"(,"first":%d)", task.first);
      text_ += '}';
    }
    text_ += '}';
  }
  void Level(std::string_view name, int process, uint64_t ns, std::string_view unit, int64_t value) {
    Begin();
    absl::StrAppendFormat(&text_, R"({"ph":"C","name":%s,"pid":%d,"tid":0,"ts":%.3f,"args":{"%s":%d}})", Quoted(name),
                          process, Microseconds(ns), ToAbsl(unit), value);
  }
  std::string Finish(const Profile& profile) {
    return absl::StrFormat(
        "{\"traceEvents\":[%s\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"wall_us\":%.3f,\"dropped_tasks\":%d,"
        "\"dropped_levels\":%d}}\n",
        text_, Microseconds(profile.wall_ns), profile.dropped_tasks, profile.dropped_levels);
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

}  // namespace

std::string ChromeTrace(const Profile& profile) {
  TraceWriter writer;
  WriteThreads(profile, writer);
  WriteLevels(profile, writer);
  return writer.Finish(profile);
}

}  // namespace headrace

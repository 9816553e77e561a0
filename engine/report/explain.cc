#include "engine/report/explain.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "core/error.h"
#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/report/advice.h"

namespace headrace {
namespace {

// Draws one stage a line, each below its consumer and indented by its depth.
std::string TreeName(const StageReport& stage) {
  std::string name;
  for (int i = 0; i < stage.depth; ++i) name += i + 1 == stage.depth ? "└─ " : "   ";
  return name + stage.name;
}

// Pads to a width in characters, where "└" and "─" take three bytes each.
std::string Padded(const std::string& text, size_t width) {
  const size_t characters =
      static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return characters < width ? text + std::string(width - characters, ' ') : text;
}

size_t NameWidth(const Report& report) {
  size_t width = 20;
  for (const StageReport& stage : report.stages) width = std::max(width, stage.name.size() + 3 * stage.depth + 2);
  return width;
}

std::string Runs(const StageReport& stage, int workers) {
  if (stage.most_cap > stage.cap) return Cat(stage.lane, " × ", stage.cap, " to ", stage.most_cap);
  const int tasks = std::min(stage.cap, stage.lane == "workers" ? workers : stage.cap);
  if (tasks == 1) return stage.lane == "workers" ? "in order" : Cat(stage.lane, ", in order");
  return Cat(stage.lane, " × ", tasks);
}

// Memory that full connectors would take, as far as the schema tells.
std::string Estimate(const Report& report) {
  int64_t known = 0;
  bool all = true;
  for (const StageReport& stage : report.stages) {
    if (stage.row_bytes < 0) all = false;
    known += std::max<int64_t>(0, stage.row_bytes) * stage.window;
  }
  known = std::min(known, report.budget_bytes);
  return Cat("memory: ", all ? "at most " : "", BytesText(known),
             all ? "" : " where shapes are known, the rest as it comes", "; budget ", BytesText(report.budget_bytes));
}

std::string NameOf(const CacheReport& cache) {
  if (!cache.automatic) return cache.name;
  return Cat("cache in ", cache.name,
             cache.point.empty() ? ", at a point that is being measured" : Cat(" ", cache.point));
}

std::string NotInFolder(const CacheReport& cache) {
  return cache.no_folder.empty() ? "" : Cat(", not in the folder, ", cache.no_folder);
}

// What is known of a cache before anything runs.
std::string Planned(const CacheReport& cache) {
  const std::string where = cache.folder.empty() ? "memory" : Cat("memory and ", cache.folder);
  if (!cache.automatic) {
    return Cat(cache.name, cache.by_key ? ": rows by key" : ": the whole epoch, in order", ", in ", where);
  }
  if (!cache.off.empty()) return Cat(cache.name, ": no cache by itself, ", cache.off);
  return Cat("cache in ", cache.name, ": by itself, if the first rows show that it pays, at the latest ",
             cache.most_point, ", in ", where, NotInFolder(cache));
}

// Where a cache keeps its rows, how many of them, and what that was good for.
std::string Cached(const CacheReport& cache) {
  if (!cache.off.empty()) return Cat(cache.name, cache.automatic ? ": no cache by itself, " : ": off, ", cache.off);
  std::string text = Cat(NameOf(cache), ": ", cache.kept);
  if (cache.rows > 0) {
    const double share = 100.0 * static_cast<double>(cache.kept) / static_cast<double>(cache.rows);
    Append(text, " of ", cache.rows, absl::StrFormat(" rows (%.0f%%)", std::min(100.0, share)));
  } else {
    text += " rows";
  }
  Append(text, " kept; memory ", BytesText(cache.memory_bytes), " of ", BytesText(cache.memory_limit),
         NotInFolder(cache));
  if (!cache.folder.empty()) {
    Append(text, ", ", BytesText(cache.disk_bytes), " of ", BytesText(cache.disk_limit), " in ", cache.folder);
  }
  Append(text, "; ", cache.hits, " found, ", cache.made, " made, saved ", SecondsText(cache.saved_s), " of work");
  if (cache.automatic && !cache.why.empty()) Append(text, "\n      kept there by itself: ", cache.why);
  return text;
}

// How many reads were outstanding, and what each took.
std::string Reading(const Report& report, const StageReport& stage) {
  const double wall = std::max(report.wall_s, 1e-9);
  return Cat(stage.name, ": ", absl::StrFormat("%.1f reads outstanding on average", stage.busy_s / wall), ", at most ",
             stage.cap, stage.caps.empty() ? "" : " (chosen while it ran)", "; ", ReadText(report, stage));
}

// How many rows came with a warning, and which.
std::string Warned(const WarningReport& warnings) {
  std::string text = Cat(warnings.name, ": ", warnings.rows, warnings.rows == 1 ? " row" : " rows", " with a warning");
  for (const std::string& row : warnings.first) Append(text, "\n      ", row);
  if (warnings.rows > warnings.first.size()) text += "\n      …";
  return text;
}

bool IsSource(const StageReport& stage) { return stage.kind == "indexed source" || stage.kind == "stream source"; }

std::string ShardText(const ShardAssignment& shard) {
  if (shard.world == 1) return "  <- shards are sharded here";
  return Cat("  <- sharded here: shard ", shard.rank, " of ", shard.world);
}

}  // namespace

std::string ExplainPlan(const Report& report) {
  const size_t width = NameWidth(report);
  std::string text = "Plan, from the user down (one line a stage; each fills a connector of the window given):\n";
  for (const StageReport& stage : report.stages) {
    Append(text, "  ", Padded(TreeName(stage), width), Padded(Runs(stage, report.workers), 24), "window ",
           stage.window);
    if (stage.row_bytes >= 0) Append(text, ", ", BytesText(stage.row_bytes), " a row");
    if (IsSource(stage)) Append(text, ShardText(report.shard));
    text += "\n";
  }
  for (const CacheReport& cache : report.caches) {
    Append(text, "  ", Planned(cache), "\n");
  }
  Append(text, "  ", Estimate(report), "\n");
  return text;
}

std::string ExplainRun(const Report& report) {
  const size_t width = NameWidth(report);
  std::string text = absl::StrFormat("Run: %d delivered in %s; the loop waited %s for data\n", report.delivered,
                                     SecondsText(report.wall_s), SecondsText(report.user_wait_s));
  Append(text, "  ", Padded("stage", width),
         absl::StrFormat("%10s %10s %8s %10s %10s %10s %8s\n", "rows", "busy", "at once", "no input", "no slot",
                         "no memory", "queued"));
  for (const StageReport& stage : report.stages) {
    Append(text, "  ", Padded(TreeName(stage), width),
           absl::StrFormat("%10d %s %8d %s %s %s %4d/%-3d\n", stage.rows,
                           absl::StrFormat("%10s", SecondsText(stage.busy_s)), stage.widest,
                           absl::StrFormat("%10s", SecondsText(stage.input_wait_s)),
                           absl::StrFormat("%10s", SecondsText(stage.output_wait_s)),
                           absl::StrFormat("%10s", SecondsText(stage.memory_wait_s)), stage.queued, stage.window));
  }
  for (const StageReport& stage : report.stages) {
    if (stage.most_cap > 0 && stage.rows > 0) Append(text, "  ", Reading(report, stage), "\n");
    if (IsSource(stage) && stage.rows >= 2 * std::max<uint64_t>(1, stage.messages)) {
      Append(text, "  ", stage.name, ": rows travel in groups, ", stage.rows / stage.messages,
             " a message on average\n");
    }
  }
  for (const CacheReport& cache : report.caches) Append(text, "  ", Cached(cache), "\n");
  for (const WarningReport& warnings : report.warnings) {
    if (warnings.rows > 0) Append(text, "  ", Warned(warnings), "\n");
  }
  Append(text, "  memory: ", BytesText(report.held_bytes), " held, ", BytesText(report.peak_bytes), " at most, budget ",
         BytesText(report.budget_bytes), "\n  ", FindLimit(report).sentence, "\n");
  return text;
}

absl::StatusOr<std::string> ExplainGraph(const ir::proto::Graph& user_graph, const IterateOptions& options,
                                         bool passes) {
  HEADRACE_ASSIGN_OR_RETURN(const PlannedRun planned, PlanRun(user_graph, options));
  return Cat(passes ? ExplainPasses(planned.optimized) : "", ExplainPlan(planned.report));
}

std::string ExplainPasses(const ir::Optimized& optimized) {
  std::string text;
  for (const ir::PassTrace& trace : optimized.trace) {
    if (!trace.problem.empty()) {
      Append(text, "Pass ", trace.name, ": not taken, ", trace.problem, "\n");
    } else if (!trace.changed) {
      Append(text, "Pass ", trace.name, trace.off ? ": off\n" : ": nothing to do\n");
    } else {
      Append(text, "Pass ", trace.name, ", before:\n", trace.before_text, "after:\n", trace.after_text);
    }
  }
  return text;
}

}  // namespace headrace

#include "engine/report/explain.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/printable.h"
#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/plan/plan_text.h"
#include "engine/report/advice.h"
#include "engine/report/named_rows.h"
#include "engine/report/store_lines.h"
#include "engine/report/wait_text.h"
#include "ir/graph.pb.h"

namespace headrace {
namespace {

std::string NameOf(const CacheReport& cache) {
  if (!cache.automatic) return cache.name;
  return Cat("automatic cache in ", cache.name,
             cache.point.empty() ? ", at a point that is being measured" : Cat(" ", cache.point));
}

std::string NotInFolder(const CacheReport& cache) {
  return cache.no_folder.empty() ? "" : Cat(", not in the folder, ", cache.no_folder);
}

// What kernels noted of rows, and what that was good for.
std::string Noted(const NoteCache::Report& notes) {
  if (notes.notes == 0 && notes.disk_bytes == 0 && notes.given == 0) return "";
  std::string text = Cat("\n      ", notes.notes, " notes of rows, ", BytesText(notes.memory_bytes), " in memory");
  if (notes.disk_bytes > 0) Append(text, " and ", BytesText(notes.disk_bytes), " in the folder");
  if (notes.given > 0) Append(text, " and ", notes.given, " beside the files");
  return Cat(text, "; ", notes.uses, " rows were made faster by theirs");
}

// Where a cache keeps its rows, how many of them, and what that was good for.
std::string Cached(const CacheReport& cache) {
  if (!cache.off.empty()) {
    return Cat(cache.name, cache.automatic ? ": no automatic cache, " : ": off, ", cache.off, Noted(cache.notes));
  }
  std::string text = Cat(NameOf(cache), ": ", cache.kept);
  if (cache.rows > 0) {
    const double share = 100.0 * static_cast<double>(cache.kept) / static_cast<double>(cache.rows);
    Append(text, " of ", cache.rows, " rows (", Decimal(std::min(100.0, share), 0), "%)");
  } else {
    text += " rows";
  }
  Append(text, " kept; memory ", BytesText(cache.memory_bytes), " of ", BytesText(cache.memory_limit),
         NotInFolder(cache));
  if (!cache.folder.empty()) {
    Append(text, ", ", BytesText(cache.disk_bytes), " of ", BytesText(cache.disk_limit), " in ",
           Printable(cache.folder));
  }
  Append(text, "; ", cache.hits, " found, ", cache.made, " made, saved ", SecondsText(cache.saved_s), " of work");
  if (cache.automatic && !cache.why.empty()) Append(text, "\n      kept there because ", cache.why);
  return text + Noted(cache.notes);
}

// How many reads were outstanding, and what each took.
std::string Reading(const Report& report, const StageReport& stage) {
  const double wall = std::max(report.wall_s, 1e-9);
  return Cat(stage.name, ": ", Decimal(stage.busy_s / wall, 1), " reads outstanding on average, at most ", stage.cap,
             stage.caps.empty() ? "" : " (chosen while it ran)", "; ", ReadText(report, stage));
}

// What the run asked a far store for, and what that cost.
std::string Requested(const StoreReport& store) {
  std::string text;
  for (const std::string& line : StoreLines(store)) Append(text, text.empty() ? "" : "\n      ", line);
  return text;
}

// What went to the device, and who waited there.
std::string Sent(const Report& report, const DeviceReport& device) {
  std::string text = Cat("device ", device.name, ": ", device.batches, " batches sent, ",
                         BytesText(static_cast<int64_t>(device.bytes)), "; ", device.ready, " of ", device.depth,
                         " ready; ", device.buffers, " buffers, ", BytesText(device.buffer_bytes), " of ",
                         BytesText(device.budget_bytes), "; the loop waited ", WaitText(report));
  Append(text, "\n      its thread copied for ", SecondsText(device.copy_s), ", and waited ",
         SecondsText(device.input_wait_s), " for batches, ", SecondsText(device.room_wait_s),
         " for the loop to take one, ", SecondsText(device.buffer_wait_s), " for a buffer");
  if (!device.steps.empty()) Append(text, "\n      after the copy it does ", device.steps);
  if (device.staged_bytes > 0) {
    Append(text, "\n      ", BytesText(static_cast<int64_t>(device.staged_bytes)),
           " were copied once more, from memory that is not page-locked");
  }
  return text;
}

// How many rows of an operator came with a warning, or failed, and which.
std::string Listed(const NamedRows& rows) {
  std::string text = rows.sentence;
  for (const std::string& row : rows.first) Append(text, "\n      ", row);
  if (rows.more) text += "\n      …";
  return text;
}

// "map[1]: 980 JPEGs by Headrace's decoder, 20 JPEGs by libjpeg-turbo"
std::string Counted(const WorkReport& work) {
  std::string text = Cat(work.name, ":");
  for (const WorkCounts::Count& count : work.counts) {
    Append(text, text.back() == ':' ? " " : ", ", count.number, " ", count.name);
  }
  return text;
}

// "   3/8  "
std::string QueueText(const StageReport& stage) {
  std::string window = Cat(stage.window);
  if (window.size() < 3) window.resize(3, ' ');
  return Cat(Right(Cat(stage.queued), 4), "/", window);
}

// A line of the table of stages, after their names.
std::string Columns(const std::array<std::string, 7>& cells) {
  constexpr size_t kWidths[] = {10, 10, 8, 10, 10, 10, 8};
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) Append(line, i == 0 ? "" : " ", Right(cells[i], kWidths[i]));
  return line;
}

}  // namespace

std::string ExplainRun(const Report& report) {
  const size_t width = NameWidth(report.stages);
  std::string text = Cat("Run: ", report.delivered, " delivered in ", SecondsText(report.wall_s), "; the loop waited ",
                         WaitText(report), " for data\n");
  Append(text, "  ", Padded("stage", width),
         Columns({"rows", "busy", "at once", "no input", "no slot", "no memory", "queued"}), "\n");
  for (const StageReport& stage : report.stages) {
    Append(text, "  ", Padded(TreeName(stage.name, stage.depth), width),
           Columns({Cat(stage.rows), SecondsText(stage.busy_s), Cat(stage.widest), SecondsText(stage.input_wait_s),
                    SecondsText(stage.output_wait_s), SecondsText(stage.memory_wait_s), QueueText(stage)}),
           "\n");
  }
  for (const StageReport& stage : report.stages) {
    if (stage.most_cap > 0 && stage.rows > 0) Append(text, "  ", Reading(report, stage), "\n");
    if (stage.is_source() && stage.rows >= 2 * std::max<uint64_t>(1, stage.messages)) {
      Append(text, "  ", stage.name, ": rows travel in groups, ", stage.rows / stage.messages,
             " a message on average\n");
    }
  }
  for (const StageReport& stage : report.stages) {
    if (!stage.limits.of.empty()) {
      Append(text, "  ", stage.name, ": ", LimitsText(stage.limits, report.workers), "\n");
    }
    if (stage.set_cap > 0) {
      Append(text, "  ", stage.name, ": at most ", stage.set_cap, " at once, by set_workers\n");
    }
  }
  for (const WorkReport& work : report.work) {
    if (!work.counts.empty()) Append(text, "  ", Counted(work), "\n");
  }
  for (const CacheReport& cache : report.caches) Append(text, "  ", Cached(cache), "\n");
  for (const StoreReport& store : report.stores) Append(text, "  ", Requested(store), "\n");
  if (report.device.has_value()) Append(text, "  ", Sent(report, *report.device), "\n");
  for (const NamedRows& rows : RowsToName(report)) Append(text, "  ", Listed(rows), "\n");
  Append(text, "  memory: ", BytesText(report.held_bytes), " held, ", BytesText(report.peak_bytes), " at most, budget ",
         BytesText(report.budget_bytes), "\n  ", FindLimit(report).sentence, "\n");
  return text;
}

absl::StatusOr<std::string> ExplainGraph(const ir::proto::Graph& user_graph, const IterateOptions& options,
                                         bool passes) {
  HEADRACE_ASSIGN_OR_RETURN(const PlannedRun planned, PlanRun(user_graph, options));
  return Cat(passes ? ExplainPasses(planned.optimized) : "", PlanText(planned.plan));
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

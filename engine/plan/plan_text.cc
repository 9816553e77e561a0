#include "engine/plan/plan_text.h"

#include <algorithm>

#include "core/printable.h"
#include "core/quantity_text.h"
#include "core/text.h"

namespace headrace {
namespace {

constexpr size_t kRunsWidth = 24;

int ProcessesOf(const PhysicalPlan& plan, const PlannedStage& stage) {
  int processes = 0;
  for (const int op : stage.operators) {
    processes = std::max(processes, plan.operators[static_cast<size_t>(op)].properties.processes);
  }
  return processes;
}

std::string RunsText(const PhysicalPlan& plan, const PlannedStage& stage) {
  if (const int processes = ProcessesOf(plan, stage); processes > 0) return Cat("processes × ", processes);
  const std::string_view lane = LaneName(stage.lane);
  if (stage.first_cap.has_value() && *stage.first_cap < stage.cap) {
    return Cat(lane, " × ", *stage.first_cap, " to ", stage.cap);
  }
  const int cap = PlannedStage::InOrder(stage.kind) ? 1
                  : stage.lane == Lane::kCpu        ? std::min(stage.cap, plan.workers)
                                                    : stage.cap;
  if (cap > 1) return Cat(lane, " × ", cap);
  return stage.lane == Lane::kCpu ? "in order" : Cat(lane, ", in order");
}

std::string ShardText(const ShardAssignment& shard, const OperatorProperties& source) {
  std::string text = "  <- rows are sharded here";
  if (source.run_length > 1) Append(text, " in groups of ", source.uneven_runs ? "up to " : "", source.run_length);
  if (shard.world > 1) Append(text, ": shard ", shard.rank, " of ", shard.world);
  return text;
}

std::string NotesText(PlannedCache::Notes notes, std::string_view where) {
  if (notes == PlannedCache::Notes::kNone) return "";
  const bool given = notes == PlannedCache::Notes::kGiven;
  return Cat("; notes of its rows ", given ? "from beside the files" : "in ", given ? "" : where);
}

std::string CacheText(const PhysicalPlan& plan, const PlannedCache& cache) {
  const PlannedOperator& op = plan.operators[static_cast<size_t>(cache.op)];
  const std::string where = cache.folder.empty() ? "memory" : Cat("memory and ", Printable(cache.folder));
  if (cache.kind != PlannedCache::Kind::kAutomatic) {
    const bool by_key = cache.kind == PlannedCache::Kind::kByKey;
    return Cat(op.name, by_key ? ": rows by key" : ": the whole epoch, in order", ", in ", where);
  }
  if (!cache.declined.empty()) {
    return Cat(op.name, ": no automatic cache, ", cache.declined, NotesText(cache.notes, where));
  }
  return Cat("automatic cache in ", op.name, ": if the first rows show that it pays, at the latest after ",
             op.properties.cache_points.back().after, ", in ", where,
             cache.no_folder.empty() ? std::string() : Cat(", not in the folder, ", cache.no_folder));
}

std::string DeviceText(const PhysicalPlan& plan) {
  const PlannedDevice& device = *plan.device;
  // Nothing is sent there.
  if (device.depth == 0) return Cat("result: in page-locked memory of ", device.name);
  const std::string_view from = device.sends_from == MemoryKind::kPageLocked ? "page-locked" : "plain";
  const std::string when = plan.pull ? "one at a time" : Cat("up to ", device.depth, " batches ahead");
  std::string text = Cat("device: ", device.name, ", ", when, ", sent from ", from, " memory");
  if (device.memory > 0) Append(text, "; at most ", BytesText(device.memory), " there");
  return text;
}

std::string MemoryText(const PhysicalPlan& plan) {
  const ExpectedMemory expected = ExpectedMemoryOf(plan);
  return Cat("memory: ", expected.all_known ? "at most " : "", BytesText(expected.bytes),
             expected.all_known ? "" : " where shapes are known, the rest as it comes", "; budget ",
             BytesText(plan.memory));
}

}  // namespace

std::string TreeName(std::string_view name, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += i + 1 == depth ? "└─ " : "   ";
  return Cat(text, name);
}

std::string Padded(const std::string& text, size_t width) {
  const size_t characters =
      static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return characters < width ? text + std::string(width - characters, ' ') : text;
}

std::string LimitsText(const PlannedLimits& limits, int workers) {
  if (limits.of.empty()) return "";
  std::string text = "fixed by ";
  for (size_t i = 0; i < limits.of.size(); ++i) Append(text, i == 0 ? "" : " and ", limits.of[i]);
  if (limits.of.size() > 1) text += ", the smaller number holds";
  const StageLimits& fixed = limits.fixed;
  if (fixed.workers > 0) {
    Append(text, ": workers=", fixed.workers, " (", std::min(limits.without.workers, workers), " without it)");
  }
  if (fixed.window > 0) {
    Append(text, fixed.workers > 0 ? ", window=" : ": window=", fixed.window, " (", limits.without.window,
           " without it)");
  }
  return text;
}

std::string_view LaneName(Lane lane) {
  switch (lane) {
    case Lane::kIo:
      return "reads files";
    case Lane::kPython:
      return "Python thread";
    default:
      return "workers";
  }
}

std::string_view KindName(PlannedStage::Kind kind) {
  switch (kind) {
    case PlannedStage::Kind::kIndexedSource:
      return "indexed source";
    case PlannedStage::Kind::kStreamSource:
      return "stream source";
    case PlannedStage::Kind::kRow:
      return "row";
    default:
      return "stream";
  }
}

std::string PlanText(const PhysicalPlan& plan) {
  const size_t width = NameWidth(plan.stages);
  std::string text = "Plan, from the user down (one line a stage; each fills a connector of the window given):\n";
  for (const PlannedStage& stage : plan.stages) {
    Append(text, "  ", Padded(TreeName(stage.name, stage.depth), width), Padded(RunsText(plan, stage), kRunsWidth),
           "window ", stage.window);
    if (stage.row_bytes >= 0) Append(text, ", ", BytesText(stage.row_bytes), " a row");
    if (stage.memory == MemoryKind::kPageLocked) text += ", page-locked";
    if (!stage.limits.of.empty()) Append(text, ", ", LimitsText(stage.limits, plan.workers));
    if (stage.inputs.empty()) {
      const PlannedOperator& source = plan.operators[static_cast<size_t>(stage.operators[0])];
      text += ShardText(plan.shard, source.properties);
    }
    text += "\n";
  }
  for (const PlannedOperator& op : plan.operators) {
    if (!op.steps.empty()) Append(text, "  ", op.name, " does ", op.steps, "\n");
  }
  for (const PlannedCache& cache : plan.caches) {
    if (!cache.light) Append(text, "  ", CacheText(plan, cache), "\n");
  }
  if (plan.max_errors.has_value()) {
    Append(text, "  rows that fail are left out, at most ", *plan.max_errors, " an epoch\n");
  }
  if (plan.device.has_value()) Append(text, "  ", DeviceText(plan), "\n");
  Append(text, "  ", MemoryText(plan), "\n");
  return text;
}

}  // namespace headrace

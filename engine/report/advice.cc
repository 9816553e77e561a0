#include "engine/report/advice.h"

#include <algorithm>

#include "core/quantity_text.h"
#include "core/text.h"
#include "engine/report/store_lines.h"

namespace headrace {
namespace {

// A loop that waits less than this part of the time is served well enough.
constexpr double kServed = 0.1;
// What is busy for this part of the time sets the pace.
constexpr double kBusy = 0.6;
// The cores had no time to spare.
constexpr double kAllCores = 0.9;
// Waiting that costs something.
constexpr double kMuch = 0.3;

double PartOf(const Report& report, double seconds) { return seconds / report.wall_s; }

int Percent(double part) { return static_cast<int>(100 * std::clamp(part, 0.0, 1.0) + 0.5); }

// Tasks that the stage could have at once.
int Capacity(const Report& report, const StageReport& stage) {
  return std::max(1, stage.lane == Lane::kCpu ? std::min(stage.cap, report.workers) : stage.cap);
}

// How busy it was, of what it could be.
double Load(const Report& report, const StageReport& stage) {
  return PartOf(report, stage.busy_s) / Capacity(report, stage);
}

double WorkersLoad(const Report& report) {
  double busy = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.lane == Lane::kCpu) busy += stage.busy_s;
  }
  return PartOf(report, busy) / std::max(1, report.workers);
}

// Of all cores, with the time that reading files took on them.
double CoresLoad(const Report& report) {
  double reading = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.lane == Lane::kIo) reading += stage.cpu_s;
  }
  return WorkersLoad(report) + PartOf(report, reading) / std::max(1, report.workers);
}

// The stage of which `of` is the highest, among those that `fits`; null: none fits.
template <typename Fits, typename Of>
const StageReport* Highest(const Report& report, Fits fits, Of of) {
  const StageReport* highest = nullptr;
  for (const StageReport& stage : report.stages) {
    if (fits(stage) && (highest == nullptr || of(stage) > of(*highest))) highest = &stage;
  }
  return highest;
}

std::string Busy(const Report& report, const StageReport& stage) {
  return Cat(stage.name, " is the bottleneck: it was busy ", Percent(Load(report, stage)), "% of the time");
}

// Reads that waited for the disk, all that may be outstanding, while what was read ahead was used up.
const StageReport* SlowReads(const Report& report) {
  if (CoresLoad(report) >= kAllCores) return nullptr;
  const auto is_short = [&report](const StageReport& stage) { return PartOf(report, stage.reads_short_s) >= kMuch; };
  return Highest(report, is_short, [](const StageReport& stage) { return stage.reads_short_s; });
}

// The far store that most of the stage's bytes came from; null: they came from the disk.
const StoreReport* StoreOf(const Report& report, const StageReport& stage) {
  const StoreReport* most = nullptr;
  int64_t received = 0;
  for (const StoreReport& store : report.stores) {
    received += store.counters.received;
    if (most == nullptr || store.counters.received > most->counters.received) most = &store;
  }
  const auto read = static_cast<int64_t>(stage.bytes - std::min(stage.bytes, stage.found_bytes));
  return received > 0 && received >= read / 2 ? most : nullptr;
}

// Whether requests waited for replies, or for leave to be sent, longer than for the bytes.
bool WaitsForStore(const StoreCounters& counters) {
  return IsThrottled(counters) || counters.waiting_ns + counters.paused_ns > counters.transfer_ns;
}

// What limits a stage that reads: `how` says how that is seen.
Limit ReadLimit(const Report& report, const StageReport& stage, const std::string& how) {
  const StoreReport* const store = StoreOf(report, stage);
  if (store == nullptr) return {LimitKind::kDisk, stage.name, Cat("The disk is the bottleneck: ", how, ".")};
  const bool waits = WaitsForStore(store->counters);
  return {waits ? LimitKind::kStore : LimitKind::kNetwork, stage.name,
          Cat(waits ? Cat("The store ", store->name) : "The network", " is the bottleneck: ", how, "; ",
              RequestTimeText(*store), ".")};
}

Limit SlowReadsLimit(const Report& report, const StageReport& stage) {
  return ReadLimit(report, stage,
                   Cat("for ", Percent(PartOf(report, stage.reads_short_s)), "% of the time all reads that ",
                       stage.name, " may have outstanding (", stage.cap,
                       ") were, and what was read ahead was used up; ", ReadText(report, stage)));
}

// Reading from memory costs time of the cores, too.
Limit CpuLimit(const Report& report, double load) {
  const auto busy = [](const StageReport& stage) {
    return stage.lane == Lane::kCpu ? stage.busy_s : stage.lane == Lane::kIo ? stage.cpu_s : 0;
  };
  const StageReport* most = Highest(report, [](const StageReport&) { return true; }, busy);
  return {LimitKind::kCpu, most->name,
          Cat("The CPU is the bottleneck: the workers (", report.workers, ") were busy ", Percent(load),
              "% of the time, most of it with ", most->name, ".")};
}

// What fixed how many tasks of the stage run at once.
std::string_view WorkersOption(const StageReport& stage) {
  if (stage.set_cap > 0) return "set_workers(…)";
  return stage.limits.fixed.workers > 0 ? "map(…, workers=…)" : "iterate(workers=…)";
}

// Of a stage with threads or an order of its own that was busy nearly all the time.
Limit OwnLimit(const Report& report, const StageReport& stage) {
  if (stage.lane == Lane::kIo) {
    return ReadLimit(report, stage,
                     Cat(stage.name, " was reading for ", Percent(Load(report, stage)), "% of the time, with at most ",
                         Capacity(report, stage), " reads outstanding; ", ReadText(report, stage)));
  }
  if (stage.lane != Lane::kCpu) {
    return {LimitKind::kPython, stage.name, Cat(Busy(report, stage), ", in Python, where one thread runs at a time.")};
  }
  if (stage.cap == 1 && PlannedStage::InOrder(stage.kind)) {
    return {LimitKind::kOrder, stage.name, Cat(Busy(report, stage), ", and takes its rows one after the other.")};
  }
  return {LimitKind::kWorkers, stage.name,
          Cat(Busy(report, stage), " with the ", Capacity(report, stage), " tasks at once that ", WorkersOption(stage),
              " allows.")};
}

// A stage stood still for want of a slot while the one above stood still for want of rows.
const StageReport* HeldByItsWindow(const Report& report) {
  const auto waits = [&report](const StageReport& stage) {
    return stage.depth > 0 && PartOf(report, stage.output_wait_s) > kMuch &&
           stage.window < 4 * std::max(1, report.workers);
  };
  return Highest(report, waits, [](const StageReport& stage) { return stage.output_wait_s; });
}

Limit NoneAlone(const Report& report) {
  const auto load = [&report](const StageReport& stage) { return Load(report, stage); };
  const StageReport* busiest = Highest(report, [](const StageReport&) { return true; }, load);
  return {LimitKind::kNoneAlone, busiest->name,
          Cat("No part is the bottleneck alone: the busiest, ", busiest->name, ", worked ", Percent(load(*busiest)),
              "% of the time, all workers ", Percent(WorkersLoad(report)), "%, and the loop waited ",
              Percent(PartOf(report, report.user_wait_s)), "%.")};
}

std::string Remedy(const Report& report, const Limit& limit) {
  switch (limit.kind) {
    case LimitKind::kConsumer:
      return "Batches are ready before they are asked for: a faster pipeline would change nothing.";
    case LimitKind::kMemory:
      return Cat("Give iterate(memory=…) more than ", BytesText(report.budget_bytes),
                 ", or let the pipeline hold less: smaller windows of shuffle, smaller batches.");
    case LimitKind::kPython:
      return "Put kernels in the place of the function where there are any; map(…, ordered=False) lets several threads "
             "call it, which helps where it lets go of Python's lock.";
    case LimitKind::kCpu:
      return "Only cheaper work or more cores help: decode smaller images, crop before what is costly, leave out "
             "what "
             "the model does not need.";
    case LimitKind::kWorkers:
      return "Give it more workers, or leave their number to the engine.";
    case LimitKind::kOrder:
      return "What can be done row by row should stand in a map below or above it, which all workers share.";
    case LimitKind::kDisk:
      return "Files that are larger and fewer, or a faster disk, help; a second epoch is faster where the data fit "
             "into "
             "the machine's memory.";
    case LimitKind::kNetwork:
      return "Fewer bytes help: smaller or better compressed files. So does a copy on this machine's disk for the "
             "epochs "
             "after the first: object_cache= in storage=.";
    case LimitKind::kStore:
      return "Larger and fewer files help (headrace pack), and names under several prefixes where the store limits "
             "requests by prefix. So does a copy on this machine's disk for the epochs after the first: object_cache= "
             "in storage=.";
    case LimitKind::kWindow:
      return "Give iterate(window=…), or the window that the stage has of its own, more, or leave it to the engine.";
    case LimitKind::kNoneAlone:
      return "A longer run may show more: the first rows wait for everything once.";
    case LimitKind::kNotRun:
      break;
  }
  return "";
}

// Where the workers' time went, when it is worth a word.
std::string WorkersShare(const Report& report) {
  const auto busy = [](const StageReport& stage) { return stage.busy_s; };
  const StageReport* most = Highest(report, [](const StageReport& stage) { return stage.lane == Lane::kCpu; }, busy);
  const double all = WorkersLoad(report) * report.wall_s * std::max(1, report.workers);
  if (most == nullptr || all <= 0) return "";
  return Cat(most->name, " took ", Percent(most->busy_s / all), "% of the workers' time, ",
             SecondsText(most->busy_s / static_cast<double>(std::max<uint64_t>(1, most->rows))), " a row.");
}

}  // namespace

std::string ReadText(const Report& report, const StageReport& stage) {
  // Bounds what was counted while it ran.
  const uint64_t reads = stage.rows - std::min(stage.rows, stage.found_rows);
  const uint64_t bytes = stage.bytes - std::min(stage.bytes, stage.found_bytes);
  if (reads == 0) return "nothing was read";
  const double each_s = (stage.read_s > 0 ? stage.read_s : stage.busy_s) / static_cast<double>(reads);
  return Cat("a read took ", SecondsText(each_s), " (", BytesText(static_cast<int64_t>(bytes / reads)), "), ",
             BytesText(static_cast<int64_t>(static_cast<double>(bytes) / report.wall_s)), "/s");
}

Limit FindLimit(const Report& report) {
  if (report.wall_s <= 0 || report.delivered == 0) return {LimitKind::kNotRun, "", "Nothing has run yet."};
  const double waited = PartOf(report, report.user_wait_s);
  if (waited < kServed) {
    return {LimitKind::kConsumer, "",
            Cat("The training loop is the bottleneck: it waited for data ", Percent(waited), "% of the time.")};
  }
  const auto memory_wait = [](const StageReport& stage) { return stage.memory_wait_s; };
  const StageReport* starved = Highest(report, [](const StageReport&) { return true; }, memory_wait);
  if (PartOf(report, starved->memory_wait_s) > kMuch) {
    return {LimitKind::kMemory, starved->name,
            Cat("Memory is the bottleneck: ", starved->name, " waited for it ",
                Percent(PartOf(report, starved->memory_wait_s)), "% of the time.")};
  }
  if (const StageReport* slow = SlowReads(report); slow != nullptr) return SlowReadsLimit(report, *slow);
  if (const double load = CoresLoad(report); load >= kBusy) {
    return CpuLimit(report, load);
  }
  const auto load = [&report](const StageReport& stage) { return Load(report, stage); };
  const StageReport* busiest =
      Highest(report, [&load](const StageReport& stage) { return load(stage) >= kBusy; }, load);
  if (busiest != nullptr) return OwnLimit(report, *busiest);
  if (const StageReport* held = HeldByItsWindow(report); held != nullptr) {
    return {LimitKind::kWindow, held->name,
            Cat("The window is the bottleneck: ", held->name, " waited ", Percent(PartOf(report, held->output_wait_s)),
                "% of the time for a slot among the ", held->window, " that may wait above it.")};
  }
  return NoneAlone(report);
}

std::string_view LimitName(LimitKind kind) {
  switch (kind) {
    case LimitKind::kNotRun:
      return "not run";
    case LimitKind::kConsumer:
      return "consumer";
    case LimitKind::kMemory:
      return "memory";
    case LimitKind::kPython:
      return "python";
    case LimitKind::kCpu:
      return "cpu";
    case LimitKind::kWorkers:
      return "workers";
    case LimitKind::kOrder:
      return "order";
    case LimitKind::kDisk:
      return "disk";
    case LimitKind::kNetwork:
      return "network";
    case LimitKind::kStore:
      return "store";
    case LimitKind::kWindow:
      return "window";
    case LimitKind::kNoneAlone:
      return "none alone";
  }
  return "";
}

std::vector<std::string> Advice(const Report& report) {
  const Limit limit = FindLimit(report);
  std::vector<std::string> sentences = {limit.sentence};
  const auto add = [&sentences](std::string sentence) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  };
  add(Remedy(report, limit));
  if (limit.kind == LimitKind::kNotRun) return sentences;
  if (limit.kind != LimitKind::kConsumer) add(WorkersShare(report));
  if (limit.kind != LimitKind::kMemory && report.peak_bytes > report.budget_bytes / 10 * 9) {
    add(Cat("The memory budget of ", BytesText(report.budget_bytes),
            " was nearly used up: ", BytesText(report.peak_bytes), " were held at most."));
  }
  return sentences;
}

}  // namespace headrace

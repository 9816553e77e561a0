#include "engine/front/run_report.h"

#include <utility>

#include "engine/plan/plan_text.h"
#include "engine/report/advice.h"

namespace headrace {
namespace {

ReportValue Integer(int64_t value) { return {value}; }
ReportValue Count(uint64_t value) { return {value}; }
ReportValue Text(std::string_view text) { return {std::string(text)}; }

ReportValue Texts(const std::vector<std::string>& texts) {
  std::vector<ReportValue> values;
  for (const std::string& text : texts) values.push_back(Text(text));
  return {std::move(values)};
}

// (seconds after the start, the cap from then on, rows a second before).
ReportValue CapChanges(const std::vector<StageReport::CapChange>& changes) {
  std::vector<ReportValue> values;
  for (const StageReport::CapChange& change : changes) {
    values.push_back({ReportTuple{{{change.at_s}, Integer(change.cap), {change.per_second}}}});
  }
  return {std::move(values)};
}

ReportValue StageFields(const StageReport& stage) {
  return {std::vector<ReportField>{{"name", Text(stage.name)},
                                   {"kind", Text(KindName(stage.kind))},
                                   {"rows", Count(stage.rows)},
                                   {"messages", Count(stage.messages)},
                                   {"tasks", Count(stage.tasks)},
                                   {"widest", Count(stage.widest)},
                                   {"busy_s", {stage.busy_s}},
                                   {"input_wait_s", {stage.input_wait_s}},
                                   {"output_wait_s", {stage.output_wait_s}},
                                   {"memory_wait_s", {stage.memory_wait_s}},
                                   {"window", Integer(stage.window)},
                                   {"shards", {stage.shards}},
                                   {"lane", Text(LaneName(stage.lane))},
                                   {"bytes", Count(stage.bytes)},
                                   {"found_rows", Count(stage.found_rows)},
                                   {"found_bytes", Count(stage.found_bytes)},
                                   {"read_s", {stage.read_s}},
                                   {"cpu_s", {stage.cpu_s}},
                                   {"cap", Integer(stage.cap)},
                                   {"caps", CapChanges(stage.caps)},
                                   {"depth", Integer(stage.depth)}}};
}

ReportValue DeviceFields(const DeviceReport& device) {
  return {std::vector<ReportField>{{"name", Text(device.name)},
                                   {"steps", Text(device.steps)},
                                   {"batches", Count(device.batches)},
                                   {"bytes", Count(device.bytes)},
                                   {"staged_bytes", Count(device.staged_bytes)},
                                   {"depth", Integer(device.depth)},
                                   {"ready", Integer(device.ready)},
                                   {"buffers", Integer(device.buffers)},
                                   {"buffer_bytes", Integer(device.buffer_bytes)},
                                   {"budget_bytes", Integer(device.budget_bytes)},
                                   {"copy_s", {device.copy_s}},
                                   {"input_wait_s", {device.input_wait_s}},
                                   {"room_wait_s", {device.room_wait_s}},
                                   {"buffer_wait_s", {device.buffer_wait_s}}}};
}

ReportValue StoreFields(const StoreReport& store) {
  const StoreCounters& counters = store.counters;
  const auto seconds = [](int64_t ns) { return ReportValue{static_cast<double>(ns) * 1e-9}; };
  std::vector<ReportField> fields{{"name", Text(store.name)},
                                  {"reads", Integer(counters.reads)},
                                  {"lists", Integer(counters.lists)},
                                  {"writes", Integer(counters.writes)},
                                  {"received", Integer(counters.received)},
                                  {"sent", Integer(counters.sent)},
                                  {"retries", Integer(counters.retries)},
                                  {"throttled", Integer(counters.throttled)},
                                  {"hedges", Integer(counters.hedges)},
                                  {"connections", Integer(counters.connections)},
                                  {"waiting_s", seconds(counters.waiting_ns)},
                                  {"transfer_s", seconds(counters.transfer_ns)},
                                  {"paused_s", seconds(counters.paused_ns)},
                                  {"cached", Integer(counters.cached)},
                                  {"cached_bytes", Integer(counters.cached_bytes)}};
  if (store.price >= 0) fields.push_back({"price", {store.price}});
  if (!store.warning.empty()) fields.push_back({"warning", Text(store.warning)});
  return {std::move(fields)};
}

// Of operators that have any: their "name", how many "rows", and the "first" of them by name.
ReportValue RowsByOperator(const std::vector<WarningReport>& reports) {
  std::vector<ReportValue> operators;
  for (const WarningReport& report : reports) {
    if (report.rows == 0) continue;
    operators.push_back({std::vector<ReportField>{
        {"name", Text(report.name)}, {"rows", Count(report.rows)}, {"first", Texts(report.first)}}});
  }
  return {std::move(operators)};
}

// Of operators that counted something: their "name", and as "counts" what and how often.
ReportValue WorkByOperator(const std::vector<WorkReport>& reports) {
  std::vector<ReportValue> operators;
  for (const WorkReport& report : reports) {
    if (report.counts.empty()) continue;
    std::vector<ReportField> counts;
    for (const WorkCounts::Count& count : report.counts) counts.push_back({count.name, Count(count.number)});
    operators.push_back({std::vector<ReportField>{{"name", Text(report.name)}, {"counts", {std::move(counts)}}}});
  }
  return {std::move(operators)};
}

}  // namespace

std::vector<ReportField> ReportFields(const Report& report) {
  std::vector<ReportValue> stages;
  for (const StageReport& stage : report.stages) stages.push_back(StageFields(stage));
  std::vector<ReportField> fields{{"stages", {std::move(stages)}},
                                  {"warnings", RowsByOperator(report.warnings)},
                                  {"work", WorkByOperator(report.work)},
                                  {"skipped", RowsByOperator(report.skipped)},
                                  {"wall_s", {report.wall_s}},
                                  {"user_wait_s", {report.user_wait_s}},
                                  {"delivered", Count(report.delivered)},
                                  {"held_bytes", Integer(report.held_bytes)},
                                  {"peak_bytes", Integer(report.peak_bytes)},
                                  {"budget_bytes", Integer(report.budget_bytes)},
                                  {"workers", Integer(report.workers)},
                                  {"limit", Text(LimitName(FindLimit(report).kind))},
                                  {"advice", Texts(Advice(report))}};
  if (!report.stores.empty()) {
    std::vector<ReportValue> stores;
    for (const StoreReport& store : report.stores) stores.push_back(StoreFields(store));
    fields.push_back({"stores", {std::move(stores)}});
  }
  if (report.device.has_value()) fields.push_back({"device", DeviceFields(*report.device)});
  return fields;
}

}  // namespace headrace
